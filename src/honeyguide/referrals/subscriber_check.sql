-- Each statement counts errors over all accounts, among the rows whose key is after :after and up to :until. Zero everywhere means
-- that counts, states and the page index agree with the subscribers. A stored count includes the changes that are not applied yet.

-- fragment: is_referral
CASE WHEN s.referrer_code IS NULL THEN 0 ELSE 1 END

-- fragment: subscribers_of_campaigns
-- CROSS JOIN and the bound on created_ms make SQLite read the index of the list, which is in the order of the rows.
FROM campaign AS c CROSS JOIN subscriber AS s
WHERE c.id > :after AND c.id <= :until AND s.campaign_id = c.id AND s.created_ms >= -4611686018427387904 AND s.erased_ms IS NULL

-- fragment: changes_of_campaigns
FROM count_note WHERE owner_id > :after AND owner_id <= :until

-- fragment: lists_of_campaigns
FROM campaign AS c JOIN listing AS l ON l.list IN (c.id || '/all', c.id || '/referrals', c.id || '/advocates')

-- fragment: of_stars
l.list > :after AND l.list <= :until AND l.list LIKE '%/brought'

-- name: subscriber_slice
-- The last key of a slice, nothing if it is the last slice; the same in the next two.
SELECT id FROM subscriber WHERE id > :after ORDER BY id LIMIT 1 OFFSET :rows;

-- name: campaign_slice
SELECT id FROM (
    SELECT c.id, SUM(1 + COALESCE(l.n, 0)) OVER (ORDER BY c.id) AS up_to_here
    FROM campaign AS c LEFT JOIN listing AS l ON l.list = c.id || '/all' WHERE c.id > :after
) AS summed WHERE up_to_here >= :rows ORDER BY id LIMIT 1;

-- name: star_slice
SELECT list FROM (
    SELECT list, SUM(1 + n) OVER (ORDER BY list) AS up_to_here FROM listing WHERE list > :after AND list LIKE '%/brought'
) AS summed WHERE up_to_here >= :rows ORDER BY list LIMIT 1;

-- name: subscribers_astray
-- None of these columns has a foreign key: see the table.
SELECT COUNT(*) AS n FROM subscriber AS s LEFT JOIN campaign AS c ON c.id = s.campaign_id
LEFT JOIN subscriber AS r ON r.id = s.referrer_id LEFT JOIN partner_campaign AS j ON j.id = s.partner_campaign_id
WHERE s.id > :after AND s.id <= :until AND (c.id IS NULL OR c.account_id <> s.account_id
   OR s.referrer_id IS NOT NULL AND (r.id IS NULL OR r.campaign_id <> s.campaign_id)
   OR s.partner_campaign_id IS NOT NULL AND (j.id IS NULL OR j.owner_account_id <> s.account_id));

-- name: states_off
SELECT COUNT(*) AS n FROM subscriber WHERE id > :after AND id <= :until
  AND (status NOT IN ('active', 'unsubscribed', 'confirmed') OR referral_status NOT IN ('verified', 'pending', 'rejected')
   OR referrer_code IS NULL AND (referrer_id IS NOT NULL OR partner_campaign_id IS NOT NULL OR referral_status <> 'verified'));

-- name: counts_off
SELECT COUNT(*) AS n FROM (
    SELECT id FROM (
        SELECT id, referrals_verified AS verified, referrals_pending AS pending, referrals_rejected AS rejected FROM subscriber
        WHERE id > :after AND id <= :until
        UNION ALL SELECT referrer_id, CASE WHEN referral_status = 'verified' THEN -1 ELSE 0 END,
            CASE WHEN referral_status = 'pending' THEN -1 ELSE 0 END, CASE WHEN referral_status = 'rejected' THEN -1 ELSE 0 END
        FROM subscriber WHERE referrer_id > :after AND referrer_id <= :until AND erased_ms IS NULL
    ) AS both_sides GROUP BY id HAVING SUM(verified) <> 0 OR SUM(pending) <> 0 OR SUM(rejected) <> 0
) AS wrong;

-- name: advocates_off
SELECT (SELECT COUNT(*) FROM subscriber WHERE id > :after AND id <= :until
          AND (is_advocate <> CASE WHEN referrals_verified > 0 THEN 1 ELSE 0 END
            OR is_star = 0 AND referrals_verified + referrals_pending + referrals_rejected >= 1000))
     + (SELECT COUNT(*) FROM advocate AS a LEFT JOIN subscriber AS s ON s.id = a.subscriber_id
        WHERE a.subscriber_id > :after AND a.subscriber_id <= :until
          AND (s.id IS NULL OR s.erased_ms IS NOT NULL OR a.verified <> s.referrals_verified OR a.campaign_id <> s.campaign_id
           OR a.account_id <> s.account_id))
     + (SELECT COUNT(*) FROM subscriber AS s LEFT JOIN advocate AS a ON a.subscriber_id = s.id
        WHERE s.id > :after AND s.id <= :until AND s.referrals_verified > 0 AND s.erased_ms IS NULL
          AND a.subscriber_id IS NULL) AS n;

-- name: totals_off
SELECT COUNT(*) AS n FROM (
    SELECT list FROM (
        SELECT l.list, l.n {lists_of_campaigns} WHERE c.id > :after AND c.id <= :until
        UNION ALL SELECT owner_id || '/all', n_all {changes_of_campaigns} AND n_brought = 0
        UNION ALL SELECT owner_id || '/referrals', n_referrals {changes_of_campaigns} AND n_brought = 0
        UNION ALL SELECT owner_id || '/advocates', n_advocates {changes_of_campaigns} AND n_brought = 0
        UNION ALL SELECT c.id || '/all', -COUNT(*) {subscribers_of_campaigns} GROUP BY c.id
        UNION ALL SELECT c.id || '/referrals', -COUNT(*) {subscribers_of_campaigns} AND s.referrer_code IS NOT NULL GROUP BY c.id
        UNION ALL SELECT c.id || '/advocates', -COUNT(*) {subscribers_of_campaigns} AND s.is_advocate = 1 GROUP BY c.id
    ) AS both_sides GROUP BY list HAVING SUM(n) <> 0
) AS wrong;

-- name: star_totals_off
SELECT COUNT(*) AS n FROM listing AS l LEFT JOIN subscriber AS s ON s.id = SUBSTR(l.list, 1, 36)
WHERE {of_stars} AND (s.id IS NULL OR s.referrals_verified + s.referrals_pending + s.referrals_rejected
    <> l.n + COALESCE((SELECT SUM(n_brought) FROM count_note WHERE owner_id = s.id), 0));

-- name: blocks_off
-- Blocks, rows and changes in the order of the list: a block has as many rows as it says.
SELECT COUNT(*) AS n FROM (
    SELECT list FROM (
        SELECT list, n, SUM(is_block) OVER (PARTITION BY list ORDER BY at_ms, id) AS block FROM (
            SELECT b.list, b.lo_ms AS at_ms, b.lo_id AS id, b.n, 1 AS is_block {lists_of_campaigns}
                JOIN listing_run AS b ON b.list = l.list WHERE c.id > :after AND c.id <= :until
            UNION ALL SELECT owner_id || '/all', created_ms, subscriber_id, n_all, 0 {changes_of_campaigns} AND n_all <> 0
            UNION ALL SELECT owner_id || '/referrals', created_ms, subscriber_id, n_referrals, 0 {changes_of_campaigns}
                AND n_referrals <> 0
            UNION ALL SELECT owner_id || '/advocates', created_ms, subscriber_id, n_advocates, 0 {changes_of_campaigns}
                AND n_advocates <> 0
            UNION ALL SELECT c.id || '/all', s.created_ms, s.id, -1, 0 {subscribers_of_campaigns}
            UNION ALL SELECT c.id || '/referrals', s.created_ms, s.id, -1, 0 {subscribers_of_campaigns}
                AND s.referrer_code IS NOT NULL
            UNION ALL SELECT c.id || '/advocates', s.created_ms, s.id, -1, 0 {subscribers_of_campaigns} AND s.is_advocate = 1
        ) AS parts
    ) AS placed GROUP BY list, block HAVING SUM(n) <> 0
) AS wrong;

-- name: star_blocks_off
-- The same for those who have so many referrals that their list has an index of its own.
SELECT COUNT(*) AS n FROM (
    SELECT list FROM (
        SELECT list, n, SUM(is_block) OVER (PARTITION BY list ORDER BY at_ms, id) AS block FROM (
            SELECT l.list, b.lo_ms AS at_ms, b.lo_id AS id, b.n, 1 AS is_block FROM listing AS l
                JOIN listing_run AS b ON b.list = l.list WHERE {of_stars}
            UNION ALL SELECT l.list, t.created_ms, t.subscriber_id, t.n_brought, 0 FROM listing AS l
                JOIN count_note AS t ON t.owner_id = SUBSTR(l.list, 1, 36) WHERE {of_stars}
            UNION ALL SELECT l.list, s.created_ms, s.id, -1, 0 FROM listing AS l
                JOIN subscriber AS s ON s.referrer_id = SUBSTR(l.list, 1, 36) WHERE {of_stars} AND s.erased_ms IS NULL
        ) AS parts
    ) AS placed GROUP BY list, block HAVING SUM(n) <> 0
) AS wrong;

-- name: days_off
SELECT COUNT(*) AS n FROM (
    SELECT campaign_id FROM (
        SELECT campaign_id, day_ms, signups, verified, pending, rejected FROM campaign_day
            WHERE campaign_id > :after AND campaign_id <= :until
        UNION ALL SELECT owner_id, created_ms - created_ms % 86400000, n_all, verified, pending, rejected {changes_of_campaigns}
            AND n_brought = 0
        UNION ALL SELECT c.id, s.created_ms - s.created_ms % 86400000, -1,
            CASE WHEN s.referral_status = 'verified' THEN -{is_referral} ELSE 0 END,
            CASE WHEN s.referral_status = 'pending' THEN -{is_referral} ELSE 0 END,
            CASE WHEN s.referral_status = 'rejected' THEN -{is_referral} ELSE 0 END
        {subscribers_of_campaigns}
    ) AS both_sides GROUP BY campaign_id, day_ms
    HAVING SUM(signups) <> 0 OR SUM(verified) <> 0 OR SUM(pending) <> 0 OR SUM(rejected) <> 0
) AS wrong;
