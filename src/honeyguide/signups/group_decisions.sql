-- name: find
-- An email address is looked up by the account's own campaign only, as an id is.
SELECT s.id, s.email_key, s.referrer_id FROM subscriber AS s
WHERE s.account_id = :account_id
  AND s.campaign_id = :campaign_id
  AND s.id {in :ids}
  AND COALESCE(s.erased_ms, 0) = 0
UNION
SELECT s.id, s.email_key, s.referrer_id FROM subscriber AS s
WHERE s.account_id = :account_id
  AND s.campaign_id = :campaign_id
  AND s.email_key {in :email_keys}
  AND COALESCE(s.erased_ms, 0) = 0;

-- name: lock
-- Lock the referrals of a group that are decided together.
SELECT s.id FROM subscriber AS s
WHERE s.id {in :ids} AND s.account_id = :account_id AND s.campaign_id = :campaign_id
ORDER BY s.id DESC;
