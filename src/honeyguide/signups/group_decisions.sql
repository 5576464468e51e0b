-- name: find
-- An email address is looked up by the account's own campaign only, as an id is. Of erased subscribers, those
-- whose fee the owner has to decide.
SELECT s.id, s.email_key, s.referrer_id FROM subscriber AS s
WHERE s.account_id = :account_id
  AND s.campaign_id = :campaign_id
  AND s.id {in :ids}
  AND (COALESCE(s.erased_ms, 0) = 0 OR s.id IN (SELECT r.subscriber_id FROM partner_referral AS r
      WHERE r.account_id = :account_id AND r.team_act IS NOT NULL AND r.decided_ms IS NULL))
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
