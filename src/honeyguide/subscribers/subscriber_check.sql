-- Each statement counts errors over all accounts, among the rows whose key is after :after and up to :until.
-- Zero everywhere means that counts, states and the page index agree with the subscribers. A stored count
-- includes the changes that are not applied yet.

-- fragment: subscribers_of_campaigns
-- CROSS JOIN and the bound on created_ms make SQLite read the index of the list, which is in the order of the
-- rows.
FROM campaign AS c CROSS JOIN subscriber AS s
WHERE c.id > :after
  AND c.id <= :until
  AND s.campaign_id = c.id
  AND s.created_ms >= -4611686018427387904
  AND s.erased_ms IS NULL

-- fragment: changes_of_campaigns
FROM count_note WHERE owner_id > :after AND owner_id <= :until

-- fragment: blocks
-- Each with where the next one begins.
FROM (
    SELECT list, SUBSTR(list, 1, 36) AS owner_id, n, lo_ms, lo_id,
        LEAD(lo_ms, 1, 4611686018427387904) OVER in_order AS hi_ms, LEAD(lo_id, 1, '~') OVER in_order AS hi_id
    FROM listing_run
    WHERE list > :after AND list <= :until
    WINDOW in_order AS (PARTITION BY list ORDER BY lo_ms, lo_id)
) AS b

-- fragment: changes_of_block
FROM count_note AS t WHERE t.owner_id = b.owner_id
    AND (t.created_ms, t.subscriber_id) >= (b.lo_ms, b.lo_id)
    AND (t.created_ms, t.subscriber_id) < (b.hi_ms, b.hi_id)

-- fragment: is_in_block
s.erased_ms IS NULL
  AND (s.created_ms, s.id) >= (b.lo_ms, b.lo_id)
  AND (s.created_ms, s.id) < (b.hi_ms, b.hi_id)

-- fragment: is_after_day
-- The key of a day is its campaign, a slash, and when it began.
(d.campaign_id, d.day_ms) > (SUBSTR(:after, 1, 36),
    CAST(COALESCE(NULLIF(SUBSTR(:after, 38), ''), '0') AS BIGINT))

-- fragment: is_on_day
-- The range is for the index. It begins a day early because % of a date before 1970 is negative.
created_ms > d.day_ms - 86400000
  AND created_ms < d.day_ms + 86400000
  AND created_ms - created_ms % 86400000 = d.day_ms

-- name: subscriber_slice
-- The last key of a slice, nothing if it is the last slice; the same in the next three.
SELECT id FROM subscriber WHERE id > :after ORDER BY id LIMIT 1 OFFSET :rows;

-- name: campaign_slice
-- Each campaign counts as a row too, so the end is among the next :rows campaigns; the same in the next two.
SELECT id FROM (
    SELECT id, SUM(1 + n) OVER (ORDER BY id) AS up_to_here FROM (
        SELECT c.id, COALESCE(l.n, 0) AS n FROM campaign AS c
        LEFT JOIN listing AS l ON l.list = c.id || '/all'
        WHERE c.id > :after ORDER BY c.id LIMIT :rows
    ) AS next_campaigns
) AS summed WHERE up_to_here >= :rows
ORDER BY id
LIMIT 1;

-- name: day_slice
-- Where the next slice of days ends.
SELECT campaign_id || '/' || day_ms AS day_key FROM (
    SELECT campaign_id, day_ms, SUM(1 + signups) OVER (ORDER BY campaign_id, day_ms) AS up_to_here FROM (
        SELECT d.campaign_id, d.day_ms, d.signups FROM campaign_day AS d
        WHERE {is_after_day}
        ORDER BY d.campaign_id, d.day_ms
        LIMIT :rows
    ) AS next_days
) AS summed WHERE up_to_here >= :rows
ORDER BY campaign_id, day_ms
LIMIT 1;

-- name: list_slice
-- Where the next slice of lists ends.
SELECT list FROM (
    SELECT list, SUM(1 + n) OVER (ORDER BY list) AS up_to_here FROM (
        SELECT list, n FROM listing WHERE list > :after ORDER BY list LIMIT :rows
    ) AS next_lists
) AS summed WHERE up_to_here >= :rows
ORDER BY list
LIMIT 1;

-- name: subscribers_astray
-- None of these columns has a foreign key: see the table.
SELECT COUNT(*) AS n FROM subscriber AS s LEFT JOIN campaign AS c ON c.id = s.campaign_id
LEFT JOIN subscriber AS r ON r.id = s.referrer_id
LEFT JOIN partner_campaign AS j ON j.id = s.partner_campaign_id
WHERE s.id > :after AND s.id <= :until AND (c.id IS NULL OR c.account_id <> s.account_id
   OR s.referrer_id IS NOT NULL AND (r.id IS NULL OR r.campaign_id <> s.campaign_id)
   OR s.partner_campaign_id IS NOT NULL AND (j.id IS NULL OR j.owner_account_id <> s.account_id));

-- name: states_off
-- Subscribers whose states contradict each other.
SELECT COUNT(*) AS n FROM subscriber WHERE id > :after AND id <= :until
  AND (status NOT IN ('active', 'unsubscribed', 'confirmed')
   OR referral_status NOT IN ('verified', 'pending', 'rejected')
   OR must_confirm NOT IN (0, 1) OR must_confirm = 1 AND status = 'confirmed'
   OR referrer_code IS NULL
  AND (referrer_id IS NOT NULL OR partner_campaign_id IS NOT NULL OR referral_status <> 'verified'));

-- name: counts_off
-- Advocates whose counts are not those of their referrals.
SELECT COUNT(*) AS n FROM (
    SELECT id FROM (
        SELECT id, referrals_verified AS verified, referrals_pending AS pending,
               referrals_rejected AS rejected
        FROM subscriber
        WHERE id > :after AND id <= :until
        UNION ALL SELECT referrer_id, CASE WHEN referral_status = 'verified' THEN -1 ELSE 0 END,
            CASE WHEN referral_status = 'pending' THEN -1 ELSE 0 END,
                CASE WHEN referral_status = 'rejected' THEN -1 ELSE 0 END
        FROM subscriber WHERE referrer_id > :after AND referrer_id <= :until AND erased_ms IS NULL
    ) AS both_sides GROUP BY id HAVING SUM(verified) <> 0 OR SUM(pending) <> 0 OR SUM(rejected) <> 0
) AS wrong;

-- name: adjustments_off
-- Subscribers whose progress is not the sum of its adjustments.
SELECT COUNT(*) AS n FROM (
    SELECT id FROM (
        SELECT id, adjustments AS amount FROM subscriber
        WHERE id > :after AND id <= :until AND adjustments <> 0
        UNION ALL SELECT subscriber_id, -amount FROM adjustment
        WHERE subscriber_id > :after AND subscriber_id <= :until
    ) AS both_sides GROUP BY id HAVING SUM(amount) <> 0
) AS wrong;

-- name: advocates_off
-- Advocates without their row, and rows without their advocate.
SELECT (SELECT COUNT(*) FROM subscriber WHERE id > :after AND id <= :until
          AND (is_advocate <> CASE WHEN referrals_verified > 0 THEN 1 ELSE 0 END
            OR is_star = 0 AND referrals_verified + referrals_pending + referrals_rejected >= 1000))
     + (SELECT COUNT(*) FROM advocate AS a LEFT JOIN subscriber AS s ON s.id = a.subscriber_id
        WHERE a.subscriber_id > :after AND a.subscriber_id <= :until
          AND (s.id IS NULL
           OR s.erased_ms IS NOT NULL
           OR a.verified <> s.referrals_verified
           OR a.campaign_id <> s.campaign_id
           OR a.account_id <> s.account_id))
     + (SELECT COUNT(*) FROM subscriber AS s LEFT JOIN advocate AS a ON a.subscriber_id = s.id
        WHERE s.id > :after AND s.id <= :until AND s.referrals_verified > 0 AND s.erased_ms IS NULL
          AND a.subscriber_id IS NULL) AS n;

-- name: totals_off
-- Lists whose stored length is wrong.
SELECT COUNT(*) AS n FROM (
    SELECT list FROM (
        SELECT l.list, l.n FROM campaign AS c
        JOIN listing AS l ON l.list IN (c.id || '/all', c.id || '/referrals', c.id || '/advocates')
            WHERE c.id > :after AND c.id <= :until
        UNION ALL SELECT owner_id || '/all', n_all {changes_of_campaigns} AND n_brought = 0
        UNION ALL SELECT owner_id || '/referrals', n_referrals {changes_of_campaigns} AND n_brought = 0
        UNION ALL SELECT owner_id || '/advocates', n_advocates {changes_of_campaigns} AND n_brought = 0
        UNION ALL SELECT c.id || '/all', -COUNT(*) {subscribers_of_campaigns} GROUP BY c.id
        UNION ALL SELECT c.id || '/referrals', -COUNT(*) {subscribers_of_campaigns}
          AND s.referrer_code IS NOT NULL
        GROUP BY c.id
        UNION ALL SELECT c.id || '/advocates', -COUNT(*) {subscribers_of_campaigns} AND s.is_advocate = 1
        GROUP BY c.id
    ) AS both_sides GROUP BY list HAVING SUM(n) <> 0
) AS wrong;

-- name: star_totals_off
-- A list of those whom one subscriber referred.
SELECT COUNT(*) AS n FROM listing AS l LEFT JOIN subscriber AS s ON s.id = SUBSTR(l.list, 1, 36)
WHERE l.list > :after AND l.list <= :until AND l.list LIKE '%/brought'
  AND (s.id IS NULL OR s.referrals_verified + s.referrals_pending + s.referrals_rejected
    <> l.n + COALESCE((SELECT SUM(n_brought) FROM count_note WHERE owner_id = s.id), 0));

-- name: block_sums_off
-- Lists whose blocks do not add up to their length.
SELECT COUNT(*) AS n FROM (
    SELECT list FROM (
        SELECT list, n FROM listing WHERE list > :after AND list <= :until
        UNION ALL SELECT list, -n FROM listing_run WHERE list > :after AND list <= :until
    ) AS both_sides GROUP BY list HAVING SUM(n) <> 0
) AS wrong;

-- name: all_blocks_off
-- Blocks of lists of all subscribers with a wrong length.
SELECT COUNT(*) AS n {blocks}
WHERE b.list LIKE '%/all' AND b.n + (SELECT COALESCE(SUM(t.n_all), 0) {changes_of_block})
    <> (SELECT COUNT(*) FROM subscriber AS s WHERE s.campaign_id = b.owner_id AND {is_in_block});

-- name: referral_blocks_off
-- Blocks of lists of referrals with a wrong length.
SELECT COUNT(*) AS n {blocks}
WHERE b.list LIKE '%/referrals' AND b.n + (SELECT COALESCE(SUM(t.n_referrals), 0) {changes_of_block})
    <> (SELECT COUNT(*)
        FROM subscriber AS s
        WHERE s.campaign_id = b.owner_id AND s.referrer_code IS NOT NULL AND {is_in_block});

-- name: advocate_blocks_off
-- Blocks of lists of advocates with a wrong length.
SELECT COUNT(*) AS n {blocks}
WHERE b.list LIKE '%/advocates' AND b.n + (SELECT COALESCE(SUM(t.n_advocates), 0) {changes_of_block})
    <> (SELECT COUNT(*)
        FROM subscriber AS s
        WHERE s.campaign_id = b.owner_id AND s.is_advocate = 1 AND {is_in_block});

-- name: star_blocks_off
-- Blocks of referrers' lists with a wrong length.
SELECT COUNT(*) AS n {blocks}
WHERE b.list LIKE '%/brought' AND b.n + (SELECT COALESCE(SUM(t.n_brought), 0) {changes_of_block})
    <> (SELECT COUNT(*)
        FROM subscriber AS s
        WHERE s.referrer_id = b.owner_id AND s.referrer_id IS NOT NULL AND {is_in_block});

-- name: day_sums_off
-- Every signup is counted in one of the days, so none is missing.
SELECT COUNT(*) AS n FROM (
    SELECT campaign_id FROM (
        SELECT campaign_id, signups FROM campaign_day WHERE campaign_id > :after AND campaign_id <= :until
        UNION ALL SELECT c.id, -l.n FROM campaign AS c
        JOIN listing AS l ON l.list = c.id || '/all'
        WHERE c.id > :after AND c.id <= :until
    ) AS both_sides GROUP BY campaign_id HAVING SUM(signups) <> 0
) AS wrong;

-- name: days_off
-- Days whose counts are wrong.
SELECT COUNT(*) AS n FROM campaign_day AS d
WHERE {is_after_day}
  AND (d.campaign_id, d.day_ms) <= (SUBSTR(:until, 1, 36),
      CAST(COALESCE(NULLIF(SUBSTR(:until, 38), ''), '0') AS BIGINT))
  AND (d.signups, d.verified, d.pending, d.rejected) <> (
    SELECT COALESCE(SUM(signups), 0), COALESCE(SUM(verified), 0), COALESCE(SUM(pending), 0),
           COALESCE(SUM(rejected), 0)
    FROM (
        SELECT 1 AS signups,
               CASE WHEN s.referral_status = 'verified'
                   AND s.referrer_code IS NOT NULL THEN 1 ELSE 0 END AS verified,
            CASE WHEN s.referral_status = 'pending' THEN 1 ELSE 0 END AS pending,
            CASE WHEN s.referral_status = 'rejected' THEN 1 ELSE 0 END AS rejected
        FROM subscriber AS s WHERE s.campaign_id = d.campaign_id AND s.erased_ms IS NULL
          AND {is_on_day}
        UNION ALL SELECT -t.n_all, -t.verified, -t.pending, -t.rejected
        FROM count_note AS t WHERE t.owner_id = d.campaign_id AND t.n_brought = 0
          AND {is_on_day}
    ) AS parts
  );
