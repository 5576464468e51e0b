-- name: days (sqlite)
SELECT day_ms, signups, verified, pending, rejected FROM campaign_day
WHERE account_id = :account_id AND campaign_id = :campaign_id AND day_ms >= :since_ms AND day_ms < :until_ms ORDER BY day_ms;

-- name: days (postgres)
SELECT day_ms, CAST(SUM(signups) AS BIGINT) AS signups, CAST(SUM(verified) AS BIGINT) AS verified,
       CAST(SUM(pending) AS BIGINT) AS pending, CAST(SUM(rejected) AS BIGINT) AS rejected
FROM (
    SELECT day_ms, signups, verified, pending, rejected FROM campaign_day
    WHERE account_id = :account_id AND campaign_id = :campaign_id AND day_ms >= :since_ms AND day_ms < :until_ms
    UNION ALL
    SELECT day_ms, signups, verified, pending, rejected FROM campaign_day_delta
    WHERE account_id = :account_id AND campaign_id = :campaign_id AND day_ms >= :since_ms AND day_ms < :until_ms
) AS d GROUP BY day_ms ORDER BY day_ms;

-- name: ever (sqlite)
SELECT 0 AS day_ms, COALESCE(SUM(signups), 0) AS signups, COALESCE(SUM(verified), 0) AS verified,
       COALESCE(SUM(pending), 0) AS pending, COALESCE(SUM(rejected), 0) AS rejected
FROM campaign_day WHERE account_id = :account_id AND campaign_id = :campaign_id;

-- name: ever (postgres)
SELECT CAST(0 AS BIGINT) AS day_ms, CAST(COALESCE(SUM(signups), 0) AS BIGINT) AS signups,
       CAST(COALESCE(SUM(verified), 0) AS BIGINT) AS verified, CAST(COALESCE(SUM(pending), 0) AS BIGINT) AS pending,
       CAST(COALESCE(SUM(rejected), 0) AS BIGINT) AS rejected
FROM (
    SELECT signups, verified, pending, rejected FROM campaign_day WHERE account_id = :account_id AND campaign_id = :campaign_id
    UNION ALL
    SELECT signups, verified, pending, rejected FROM campaign_day_delta
    WHERE account_id = :account_id AND campaign_id = :campaign_id
) AS d;

-- name: clicks
-- The row with an empty code is the campaign's total.
SELECT day_ms, n FROM click_day
WHERE account_id = :account_id AND target_id = :campaign_id AND code = '' AND day_ms >= :since_ms AND day_ms < :until_ms;

-- name: waiting
SELECT COUNT(*) AS n FROM (
    SELECT 1 AS one FROM subscriber
    WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND referrer_code IS NOT NULL AND referral_status <> 'verified'
      -- Said so that the index of what waits fits best; the one on codes would step over everybody who was ever referred.
      AND referral_status = 'pending' AND received_ms >= 0 ORDER BY received_ms DESC, id DESC LIMIT :most
) AS w;

-- name: top
SELECT id, email, name, referrals_verified, referrals_pending FROM subscriber
WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND is_advocate = 1 ORDER BY referrals_verified DESC, id DESC LIMIT :most;

-- name: fold (postgres)
WITH taken AS (
    DELETE FROM campaign_day_delta WHERE seq IN (
        SELECT seq FROM campaign_day_delta ORDER BY seq LIMIT :batch FOR UPDATE SKIP LOCKED
    ) RETURNING campaign_id, day_ms, account_id, signups, verified, pending, rejected
), summed AS (
    INSERT INTO campaign_day AS d (campaign_id, day_ms, account_id, signups, verified, pending, rejected)
    SELECT campaign_id, day_ms, account_id, SUM(signups), SUM(verified), SUM(pending), SUM(rejected) FROM taken
    GROUP BY campaign_id, day_ms, account_id ORDER BY campaign_id, day_ms
    ON CONFLICT (campaign_id, day_ms) DO UPDATE SET signups = d.signups + excluded.signups,
        verified = d.verified + excluded.verified, pending = d.pending + excluded.pending, rejected = d.rejected + excluded.rejected
)
SELECT COUNT(*) AS n FROM taken;
