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

-- name: top
-- Advocates with most referrals.
SELECT s.id, s.email, s.name, s.referrals_verified, s.referrals_pending
FROM advocate AS a JOIN subscriber AS s ON s.id = a.subscriber_id
WHERE a.campaign_id = :campaign_id AND a.verified > 0
ORDER BY a.verified DESC, a.subscriber_id DESC
LIMIT :most;
