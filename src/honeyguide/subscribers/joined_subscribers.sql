-- name: joined
-- The newest first. Reads at most :most_read rows of the index `subscriber_list`, imported ones included.
SELECT j.id, j.created_ms, j.referral_status AS status, COALESCE(j.referral_reason, '') AS reason,
       CASE WHEN j.referrer_code IS NULL THEN 0 ELSE 1 END AS is_referred, j.partner_campaign_id,
       CASE WHEN r.erased_ms IS NULL THEN r.id END AS referrer_id, r.name AS referrer_name,
           r.email AS referrer_email, r.referrer_id AS above_id,
       r.partner_campaign_id AS above_partner_id
FROM (
    SELECT id, created_ms, origin, referral_status, referral_reason, referrer_code, referrer_id,
           partner_campaign_id
    FROM subscriber WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND account_id = :account_id
      AND created_ms >= :since_ms AND created_ms < :until_ms
    ORDER BY created_ms DESC, id DESC
    LIMIT :most_read
) AS j LEFT JOIN subscriber AS r ON r.id = j.referrer_id AND r.account_id = :account_id
WHERE j.origin <> 'import'
ORDER BY j.created_ms DESC, j.id DESC
LIMIT :most;

-- name: newest
-- When the newest subscriber joined.
SELECT created_ms FROM subscriber
WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND account_id = :account_id
ORDER BY created_ms DESC, id DESC
LIMIT 1;
