-- name: by_ours
-- Ours are in lower case. A list, not a join: PostgreSQL would scan all subscribers as long as it does not
-- know how many there are.
SELECT ref_code AS code, id AS subscriber_id FROM subscriber
WHERE ref_code {in :codes}
  AND account_id = :account_id
  AND campaign_id = :campaign_id
  AND COALESCE(erased_ms, 0) = 0;

-- name: by_folded
-- Holders of these codes, upper and lower case aside.
SELECT c.code, c.subscriber_id FROM subscriber_code AS c JOIN subscriber AS s ON s.id = c.subscriber_id
WHERE c.account_id = :account_id
  AND c.campaign_id = :campaign_id
  AND c.folded {in :folded}
  AND COALESCE(s.erased_ms, 0) = 0;

-- name: lock
-- The youngest first, as whoever locks several does.
SELECT id, email_key, ref_code, referrer_code, referrer_id, claimed_code,
       referrals_verified + referrals_pending + referrals_rejected AS referrals,
       referrals_verified AS verified, adjustments
FROM subscriber
WHERE account_id = :account_id AND campaign_id = :campaign_id AND COALESCE(erased_ms, 0) = 0
  AND id {in :ids}
ORDER BY id DESC;

-- name: closes_loop
-- UNION ends also where there is a loop already.
WITH RECURSIVE above (id, referrer_id) AS (
    SELECT s.id, s.referrer_id FROM subscriber AS s
    WHERE s.id = :referrer_id AND s.account_id = :account_id AND s.campaign_id = :campaign_id
    UNION
    SELECT s.id, s.referrer_id FROM subscriber AS s JOIN above AS a ON s.id = a.referrer_id
)
SELECT COUNT(*) AS n FROM above WHERE id = :id;

-- name: judge
-- Set the status of imported referrals.
UPDATE subscriber
SET referral_status = r.status, referral_reason = r.reason, referral_due_ms = r.due_ms, referral_behind = NULL
FROM {rows :rows AS r (id TEXT, status TEXT, reason TEXT, due_ms BIGINT)}
WHERE subscriber.id = r.id AND subscriber.account_id = :account_id AND subscriber.campaign_id = :campaign_id
  AND subscriber.referrer_code IS NULL;

-- name: refer
-- Connect imported subscribers with their referrers.
UPDATE subscriber SET referrer_code = r.referrer_code, referrer_id = r.referrer_id, claimed_code = NULL
FROM {rows :rows AS r (id TEXT, referrer_code TEXT, referrer_id TEXT)}
WHERE subscriber.id = r.id AND subscriber.account_id = :account_id AND subscriber.campaign_id = :campaign_id
  AND subscriber.referrer_code IS NULL;

-- name: claim
-- Remember the codes that imported subscribers came with, whose holders are not known yet.
UPDATE subscriber SET claimed_code = r.code FROM {rows :rows AS r (id TEXT, code TEXT)}
WHERE subscriber.id = r.id AND subscriber.account_id = :account_id AND subscriber.campaign_id = :campaign_id
  AND subscriber.referrer_code IS NULL;
