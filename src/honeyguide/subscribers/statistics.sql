-- Stored counts of the days that did not change, and :live, the counts of those that did.

-- fragment: stored
account_id = :account_id
  AND campaign_id = :campaign_id
  AND day >= :first
  AND day <= :last
  AND NOT (day {in :live_days})

-- name: groups
-- Counts of the days of a range.
SELECT kind, day, key, joined, verified, pending, rejected, followed, left_30, left_90
FROM cohort_count WHERE kind = 'group' AND {stored};

-- name: clicks
-- Clicks of each day of a range.
SELECT d.day, CAST(SUM(c.n) AS BIGINT) AS n
FROM {rows :days AS d (day TEXT, since_ms BIGINT, until_ms BIGINT)}
CROSS JOIN click_source AS c
WHERE c.account_id = :account_id AND c.quarter_ms >= d.since_ms AND c.quarter_ms < d.until_ms
GROUP BY d.day;

-- name: ranked
-- Sources of a range, those with most signups first.
SELECT key, CAST(SUM(joined) AS BIGINT) AS joined, CAST(SUM(verified) AS BIGINT) AS verified,
       CAST(SUM(pending) AS BIGINT) AS pending, CAST(SUM(rejected) AS BIGINT) AS rejected
FROM (
    SELECT key, joined, verified, pending, rejected FROM cohort_count WHERE kind = :kind AND {stored}
    UNION ALL
    SELECT l.key, l.joined, l.verified, l.pending, l.rejected
    FROM {rows :live AS l (key TEXT, joined BIGINT, verified BIGINT, pending BIGINT, rejected BIGINT)}
) AS c GROUP BY key
ORDER BY joined DESC, key
LIMIT :most;

-- name: referrer_rows
-- How many referrers a range has, up to a limit.
SELECT COUNT(*) AS n
FROM (SELECT 1 AS one FROM cohort_count WHERE kind = 'referrer' AND {stored} LIMIT :most) AS r;

-- name: referrers
-- How many referrers brought somebody in a range, and how many they brought.
SELECT COUNT(CASE WHEN key <> '(other)' THEN 1 END) AS n,
       CAST(COALESCE(SUM(joined), 0) AS BIGINT) AS referrals,
       COUNT(CASE WHEN key = '(other)' THEN 1 END) AS has_others
FROM (
    SELECT key, SUM(joined) AS joined FROM (
        SELECT key, joined FROM cohort_count WHERE kind = 'referrer' AND {stored}
        UNION ALL
        SELECT l.key, l.joined FROM {rows :live AS l (key TEXT, joined BIGINT)}
    ) AS c GROUP BY key
) AS k;

-- name: advocates
-- Advocates who brought most in a range.
SELECT s.id, s.email, s.name, s.referrals_verified AS referrals_ever, s.adjustments, r.verified,
       r.pending, r.rejected
FROM (
    SELECT key, CAST(SUM(verified) AS BIGINT) AS verified, CAST(SUM(pending) AS BIGINT) AS pending,
           CAST(SUM(rejected) AS BIGINT) AS rejected
    FROM (
        SELECT key, verified, pending, rejected FROM cohort_count WHERE kind = 'referrer' AND {stored}
        UNION ALL
        SELECT l.key, l.verified, l.pending, l.rejected
        FROM {rows :live AS l (key TEXT, verified BIGINT, pending BIGINT, rejected BIGINT)}
    ) AS c GROUP BY key HAVING SUM(verified) + SUM(pending) > 0
    ORDER BY SUM(verified) DESC, SUM(pending) DESC, key DESC LIMIT :looked_at
) AS r JOIN subscriber AS s ON s.id = r.key AND s.campaign_id = :campaign_id AND COALESCE(s.erased_ms, 0) = 0
ORDER BY r.verified DESC, r.pending DESC, s.id DESC
LIMIT :most;

-- name: hosts
-- Websites from which most clicks came in a range.
SELECT host, CAST(SUM(n) AS BIGINT) AS n FROM click_source
WHERE account_id = :account_id AND quarter_ms >= :since_ms AND quarter_ms < :until_ms
GROUP BY host
ORDER BY SUM(n) DESC, host
LIMIT :most;

-- name: imported
-- Were subscribers imported in the range?
SELECT 1 AS one FROM cohort_count
WHERE account_id = :account_id AND campaign_id = :campaign_id AND kind = 'group' AND key = 'imported'
LIMIT 1;
