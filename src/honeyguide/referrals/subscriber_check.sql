-- Each statement counts errors, in one snapshot, over all accounts. Zero everywhere means that counts, states and the page index
-- agree with the subscribers. A stored count includes the changes that are not applied yet.

-- fragment: is_referral
CASE WHEN referrer_code IS NULL THEN 0 ELSE 1 END

-- name: subscribers_astray
-- None of these columns has a foreign key: see the table.
SELECT COUNT(*) AS n FROM subscriber AS s LEFT JOIN campaign AS c ON c.id = s.campaign_id
LEFT JOIN subscriber AS r ON r.id = s.referrer_id LEFT JOIN partner_campaign AS j ON j.id = s.partner_campaign_id
WHERE c.id IS NULL OR c.account_id <> s.account_id
   OR s.referrer_id IS NOT NULL AND (r.id IS NULL OR r.campaign_id <> s.campaign_id)
   OR s.partner_campaign_id IS NOT NULL AND (j.id IS NULL OR j.owner_account_id <> s.account_id);

-- name: states_off
SELECT COUNT(*) AS n FROM subscriber WHERE status NOT IN ('active', 'unsubscribed', 'confirmed')
   OR referral_status NOT IN ('verified', 'pending', 'rejected')
   OR referrer_code IS NULL AND (referrer_id IS NOT NULL OR partner_campaign_id IS NOT NULL OR referral_status <> 'verified');

-- name: counts_off
SELECT COUNT(*) AS n FROM (
    SELECT id FROM (
        SELECT id, referrals_verified AS verified, referrals_pending AS pending, referrals_rejected AS rejected FROM subscriber
        UNION ALL SELECT referrer_id, CASE WHEN referral_status = 'verified' THEN -1 ELSE 0 END,
            CASE WHEN referral_status = 'pending' THEN -1 ELSE 0 END, CASE WHEN referral_status = 'rejected' THEN -1 ELSE 0 END
        FROM subscriber WHERE referrer_id IS NOT NULL AND erased_ms IS NULL
    ) AS both_sides GROUP BY id HAVING SUM(verified) <> 0 OR SUM(pending) <> 0 OR SUM(rejected) <> 0
) AS wrong;

-- name: advocates_off
SELECT (SELECT COUNT(*) FROM subscriber WHERE is_advocate <> CASE WHEN referrals_verified > 0 THEN 1 ELSE 0 END
            OR is_star = 0 AND referrals_verified + referrals_pending + referrals_rejected >= 1000)
     + (SELECT COUNT(*) FROM advocate AS a LEFT JOIN subscriber AS s ON s.id = a.subscriber_id
        WHERE s.id IS NULL OR s.erased_ms IS NOT NULL OR a.verified <> s.referrals_verified OR a.campaign_id <> s.campaign_id
           OR a.account_id <> s.account_id)
     + (SELECT COUNT(*) FROM subscriber AS s LEFT JOIN advocate AS a ON a.subscriber_id = s.id
        WHERE s.referrals_verified > 0 AND s.erased_ms IS NULL AND a.subscriber_id IS NULL) AS n;

-- name: totals_off
SELECT (SELECT COUNT(*) FROM (
            SELECT list FROM (
                SELECT list, n FROM listing WHERE list NOT LIKE '%/brought'
                UNION ALL SELECT owner_id || '/all', n_all FROM count_note WHERE n_brought = 0
                UNION ALL SELECT owner_id || '/referrals', n_referrals FROM count_note WHERE n_brought = 0
                UNION ALL SELECT owner_id || '/advocates', n_advocates FROM count_note WHERE n_brought = 0
                UNION ALL SELECT campaign_id || '/all', -COUNT(*) FROM subscriber WHERE erased_ms IS NULL GROUP BY campaign_id
                UNION ALL SELECT campaign_id || '/referrals', -COUNT(*) FROM subscriber
                    WHERE erased_ms IS NULL AND referrer_code IS NOT NULL GROUP BY campaign_id
                UNION ALL SELECT campaign_id || '/advocates', -COUNT(*) FROM subscriber
                    WHERE erased_ms IS NULL AND is_advocate = 1 GROUP BY campaign_id
            ) AS both_sides GROUP BY list HAVING SUM(n) <> 0
        ) AS wrong)
     + (SELECT COUNT(*) FROM listing AS l LEFT JOIN subscriber AS s ON s.id = SUBSTR(l.list, 1, LENGTH(l.list) - 8)
        WHERE l.list LIKE '%/brought' AND (s.id IS NULL OR s.referrals_verified + s.referrals_pending + s.referrals_rejected
            <> l.n + COALESCE((SELECT SUM(n_brought) FROM count_note WHERE owner_id = s.id), 0))) AS n;

-- name: blocks_off
-- Blocks, rows and changes in the order of the list: a block has as many rows as it says.
SELECT COUNT(*) AS n FROM (
    SELECT list FROM (
        SELECT list, n, SUM(is_block) OVER (PARTITION BY list ORDER BY at_ms, id) AS block FROM (
            SELECT list, lo_ms AS at_ms, lo_id AS id, n, 1 AS is_block FROM listing_run
            UNION ALL SELECT owner_id || '/all', created_ms, subscriber_id, n_all, 0 FROM count_note WHERE n_all <> 0
            UNION ALL SELECT owner_id || '/referrals', created_ms, subscriber_id, n_referrals, 0 FROM count_note
                WHERE n_referrals <> 0
            UNION ALL SELECT owner_id || '/advocates', created_ms, subscriber_id, n_advocates, 0 FROM count_note
                WHERE n_advocates <> 0
            UNION ALL SELECT owner_id || '/brought', created_ms, subscriber_id, n_brought, 0 FROM count_note
                WHERE owner_id || '/brought' IN (SELECT list FROM listing)
            UNION ALL SELECT campaign_id || '/all', created_ms, id, -1, 0 FROM subscriber WHERE erased_ms IS NULL
            UNION ALL SELECT campaign_id || '/referrals', created_ms, id, -1, 0 FROM subscriber
                WHERE erased_ms IS NULL AND referrer_code IS NOT NULL
            UNION ALL SELECT campaign_id || '/advocates', created_ms, id, -1, 0 FROM subscriber
                WHERE erased_ms IS NULL AND is_advocate = 1
            UNION ALL SELECT referrer_id || '/brought', created_ms, id, -1, 0 FROM subscriber
                WHERE erased_ms IS NULL AND referrer_id || '/brought' IN (SELECT list FROM listing)
        ) AS parts
    ) AS placed GROUP BY list, block HAVING SUM(n) <> 0
) AS wrong;

-- name: days_off
SELECT COUNT(*) AS n FROM (
    SELECT campaign_id FROM (
        SELECT campaign_id, day_ms, signups, verified, pending, rejected FROM campaign_day
        UNION ALL SELECT owner_id, created_ms - created_ms % 86400000, n_all, verified, pending, rejected FROM count_note
            WHERE n_brought = 0
        UNION ALL SELECT campaign_id, created_ms - created_ms % 86400000, -1,
            CASE WHEN referral_status = 'verified' THEN -{is_referral} ELSE 0 END,
            CASE WHEN referral_status = 'pending' THEN -{is_referral} ELSE 0 END,
            CASE WHEN referral_status = 'rejected' THEN -{is_referral} ELSE 0 END
        FROM subscriber WHERE erased_ms IS NULL
    ) AS both_sides GROUP BY campaign_id, day_ms
    HAVING SUM(signups) <> 0 OR SUM(verified) <> 0 OR SUM(pending) <> 0 OR SUM(rejected) <> 0
) AS wrong;
