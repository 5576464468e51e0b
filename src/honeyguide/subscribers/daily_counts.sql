-- fragment: suspicious
referral_reason IN ('same_network', 'many_from_one_network', 'burst', 'looks_automated',
      'needs_review')

-- name: ever
-- Signups and referrals of all days.
SELECT CAST(COALESCE(SUM(signups), 0) AS BIGINT) AS signups,
       CAST(COALESCE(SUM(verified), 0) AS BIGINT) AS verified,
       CAST(COALESCE(SUM(pending), 0) AS BIGINT) AS pending,
       CAST(COALESCE(SUM(rejected), 0) AS BIGINT) AS rejected
FROM (
    SELECT signups, verified, pending, rejected FROM campaign_day
    WHERE account_id = :account_id AND campaign_id = :campaign_id
    UNION ALL
    SELECT n_all, verified, pending, rejected FROM count_note
    WHERE account_id = :account_id AND owner_id = :campaign_id
) AS d;

-- name: suspected
-- How many pending referrals have evidence against them, up to a limit.
SELECT COUNT(*) AS n FROM (
    SELECT 1 AS one FROM subscriber
    WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND referral_status = 'pending'
      AND {suspicious} ORDER BY received_ms DESC, id DESC LIMIT :most
) AS w;

-- name: first_suspected
-- Of those that have waited longest, so that a long list is not read to its end.
SELECT w.referral_due_ms AS due_ms, w.referral_reason AS reason FROM (
    SELECT referral_due_ms, referral_reason FROM subscriber
    WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND referral_status = 'pending'
      AND {suspicious} ORDER BY received_ms, id LIMIT 1000
) AS w WHERE w.referral_due_ms IS NOT NULL
ORDER BY w.referral_due_ms
LIMIT 1;

-- name: top
-- Advocates with most referrals.
SELECT s.id, s.email, s.name, s.referrals_verified, s.referrals_pending
FROM advocate AS a JOIN subscriber AS s ON s.id = a.subscriber_id
WHERE a.campaign_id = :campaign_id AND a.verified > 0
ORDER BY a.verified DESC, a.subscriber_id DESC
LIMIT :most;
