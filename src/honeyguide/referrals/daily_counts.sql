-- name: days
-- Days as they were last summed up, and the changes since.
SELECT day_ms, CAST(SUM(signups) AS BIGINT) AS signups, CAST(SUM(verified) AS BIGINT) AS verified,
       CAST(SUM(pending) AS BIGINT) AS pending, CAST(SUM(rejected) AS BIGINT) AS rejected
FROM (
    SELECT day_ms, signups, verified, pending, rejected FROM campaign_day
    WHERE account_id = :account_id AND campaign_id = :campaign_id
    UNION ALL
    SELECT created_ms - created_ms % 86400000, n_all, verified, pending, rejected FROM count_note
    WHERE account_id = :account_id AND owner_id = :campaign_id
) AS d WHERE day_ms >= :since_ms AND day_ms < :until_ms GROUP BY day_ms ORDER BY day_ms;

-- name: ever
SELECT CAST(0 AS BIGINT) AS day_ms, CAST(COALESCE(SUM(signups), 0) AS BIGINT) AS signups,
       CAST(COALESCE(SUM(verified), 0) AS BIGINT) AS verified, CAST(COALESCE(SUM(pending), 0) AS BIGINT) AS pending,
       CAST(COALESCE(SUM(rejected), 0) AS BIGINT) AS rejected
FROM (
    SELECT signups, verified, pending, rejected FROM campaign_day WHERE account_id = :account_id AND campaign_id = :campaign_id
    UNION ALL
    SELECT n_all, verified, pending, rejected FROM count_note WHERE account_id = :account_id AND owner_id = :campaign_id
) AS d;

-- name: clicks
-- The row with an empty code is the campaign's total.
SELECT day_ms, n FROM click_day
WHERE account_id = :account_id AND target_id = :campaign_id AND code = '' AND day_ms >= :since_ms AND day_ms < :until_ms;

-- name: suspected
SELECT COUNT(*) AS n FROM (
    SELECT 1 AS one FROM subscriber WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND referral_status = 'pending'
      AND referral_reason IN ('same_network', 'many_from_one_network', 'burst') ORDER BY received_ms DESC, id DESC LIMIT :most
) AS w;

-- name: top
SELECT s.id, s.email, s.name, s.referrals_verified, s.referrals_pending
FROM advocate AS a JOIN subscriber AS s ON s.id = a.subscriber_id
WHERE a.campaign_id = :campaign_id AND a.verified > 0 ORDER BY a.verified DESC, a.subscriber_id DESC LIMIT :most;
