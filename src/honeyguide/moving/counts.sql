-- name: lock
-- The youngest first, as whoever locks several does.
SELECT id, email_key, created_ms, referrals_verified AS verified, adjustments, referrer_id FROM subscriber
WHERE account_id = :account_id AND campaign_id = :campaign_id AND COALESCE(erased_ms, 0) = 0 AND id {in :ids}
ORDER BY id DESC;
