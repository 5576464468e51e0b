-- Stored counts of the days that did not change, and :live, the counts of those that did. Several spans are
-- read together, each with its place among them; :ranges has the stored days of each.

-- fragment: stored
FROM {rows :ranges AS p (place BIGINT, first TEXT, last TEXT)} CROSS JOIN cohort_count AS c
WHERE c.account_id = :account_id AND c.campaign_id = :campaign_id AND c.day >= p.first AND c.day <= p.last

-- name: groups
-- Counts of the days of each span.
SELECT p.place, c.kind, c.day, c.key, c.joined, c.verified, c.pending, c.rejected, c.followed, c.left_30,
       c.left_90
{stored} AND c.kind = 'group';

-- name: clicks
-- Clicks of each day of a range.
SELECT d.day, CAST(SUM(c.n) AS BIGINT) AS n
FROM {rows :days AS d (day TEXT, since_ms BIGINT, until_ms BIGINT)}
CROSS JOIN click_source AS c
WHERE c.account_id = :account_id AND c.quarter_ms >= d.since_ms AND c.quarter_ms < d.until_ms
GROUP BY d.day;

-- name: ranked
-- Sources of the first span, those with most signups first, and how many each had in the second.
SELECT r.kind, r.key, r.n, r.n_before
FROM (
    SELECT s.kind, s.key, s.n, s.n_before,
           ROW_NUMBER() OVER (PARTITION BY s.kind ORDER BY s.n DESC, s.key) AS rank
    FROM (
        SELECT u.kind, u.key, CAST(SUM(CASE u.place WHEN 0 THEN u.joined ELSE 0 END) AS BIGINT) AS n,
               CAST(SUM(CASE u.place WHEN 0 THEN 0 ELSE u.joined END) AS BIGINT) AS n_before
        FROM (
            SELECT p.place, c.kind, c.key, c.joined {stored} AND c.kind {in :kinds}
            UNION ALL
            SELECT l.place, l.kind, l.key, l.joined
            FROM {rows :live AS l (place BIGINT, kind TEXT, key TEXT, joined BIGINT)}
        ) AS u GROUP BY u.kind, u.key
    ) AS s WHERE s.n > 0
) AS r WHERE r.rank <= :most
ORDER BY r.kind, r.rank;

-- name: referrer_rows
-- How many referrers each span has, up to a limit.
SELECT x.place, (
    SELECT COUNT(*) FROM (
        SELECT 1 AS one {stored} AND c.kind = 'referrer' AND p.place = x.place LIMIT :most
    ) AS r
) AS n FROM {rows :places AS x (place BIGINT)};

-- name: referrers
-- How many referrers brought somebody in each span, and how many they brought.
SELECT k.place, COUNT(CASE WHEN k.key <> '(other)' THEN 1 END) AS n,
       CAST(SUM(k.joined) AS BIGINT) AS referrals,
       COUNT(CASE WHEN k.key = '(other)' THEN 1 END) AS has_others
FROM (
    SELECT u.place, u.key, SUM(u.joined) AS joined FROM (
        SELECT p.place, c.key, c.joined {stored} AND c.kind = 'referrer'
        UNION ALL
        SELECT l.place, l.key, l.joined FROM {rows :live AS l (place BIGINT, key TEXT, joined BIGINT)}
    ) AS u GROUP BY u.place, u.key
) AS k GROUP BY k.place;

-- name: advocates
-- Advocates who brought most in a range.
SELECT s.id, s.email, s.name, s.referrals_verified AS referrals_ever, s.adjustments, r.verified,
       r.pending, r.rejected
FROM (
    SELECT u.key, CAST(SUM(u.verified) AS BIGINT) AS verified, CAST(SUM(u.pending) AS BIGINT) AS pending,
           CAST(SUM(u.rejected) AS BIGINT) AS rejected
    FROM (
        SELECT c.key, c.verified, c.pending, c.rejected {stored} AND c.kind = 'referrer'
        UNION ALL
        SELECT l.key, l.verified, l.pending, l.rejected
        FROM {rows :live AS l (key TEXT, verified BIGINT, pending BIGINT, rejected BIGINT)}
    ) AS u GROUP BY u.key HAVING SUM(u.verified) + SUM(u.pending) > 0
    ORDER BY SUM(u.verified) DESC, SUM(u.pending) DESC, u.key DESC LIMIT :looked_at
) AS r JOIN subscriber AS s ON s.id = r.key AND s.campaign_id = :campaign_id AND COALESCE(s.erased_ms, 0) = 0
ORDER BY r.verified DESC, r.pending DESC, s.id DESC
LIMIT :most;

-- name: hosts
-- Websites from which most clicks came in the first span, and how many came in the second.
SELECT h.host, h.n, h.n_before FROM (
    SELECT c.host, CAST(SUM(CASE p.place WHEN 0 THEN c.n ELSE 0 END) AS BIGINT) AS n,
           CAST(SUM(CASE p.place WHEN 0 THEN 0 ELSE c.n END) AS BIGINT) AS n_before
    FROM {rows :periods AS p (place BIGINT, since_ms BIGINT, until_ms BIGINT)}
    CROSS JOIN click_source AS c
    WHERE c.account_id = :account_id AND c.quarter_ms >= p.since_ms AND c.quarter_ms < p.until_ms
    GROUP BY c.host
) AS h WHERE h.n > 0
ORDER BY h.n DESC, h.host
LIMIT :most;

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
