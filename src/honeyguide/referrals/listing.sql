-- Page N of a list without OFFSET's cost: totals, runs of about a thousand rows, and notes not yet folded into them.

-- name: total
SELECT COALESCE((SELECT n FROM listing WHERE list = :list), 0)
     + CAST(COALESCE((SELECT SUM(n) FROM listing_delta WHERE list = :list), 0) AS BIGINT) AS n;

-- name: anchor
-- The deepest run that begins at or above the wanted place: rows above its lower bound = runs above + notes above.
SELECT lo_ms, lo_id, CAST(above AS BIGINT) AS above FROM (
    SELECT lo_ms, lo_id, is_run, SUM(n) OVER (ORDER BY lo_ms DESC, lo_id DESC) AS above FROM (
        SELECT lo_ms, lo_id, n, 1 AS is_run FROM listing_run WHERE list = :list
        UNION ALL
        SELECT created_ms, subscriber_id, n, 0 FROM listing_delta WHERE list = :list
    ) AS parts
) AS heights
WHERE is_run = 1 AND above <= :skip ORDER BY lo_ms, lo_id LIMIT 1;

-- name: take_notes
DELETE FROM listing_delta WHERE seq IN (SELECT seq FROM listing_delta ORDER BY seq LIMIT :batch)
RETURNING account_id, list, created_ms, subscriber_id, n;

-- name: open_notes
SELECT COUNT(*) AS n FROM (SELECT 1 AS one FROM listing_delta WHERE list = :list LIMIT 1) AS waiting;

-- name: runs
SELECT lo_ms, lo_id, n FROM listing_run WHERE list = :list ORDER BY lo_ms, lo_id;

-- name: has_total
SELECT n FROM listing WHERE list = :list;

-- name: brought_by
SELECT referrals_verified + referrals_pending + referrals_rejected AS n FROM subscriber
WHERE account_id = :account_id AND id = :subscriber_id;

-- name: keep_total
INSERT INTO listing (list, account_id, n) VALUES (:list, :account_id, :n) ON CONFLICT (list) DO UPDATE SET n = excluded.n;

-- name: keep_run
INSERT INTO listing_run (list, account_id, lo_ms, lo_id, n) VALUES (:list, :account_id, :lo_ms, :lo_id, :n)
ON CONFLICT (list, lo_ms, lo_id) DO UPDATE SET n = excluded.n;

-- name: cuts_all
SELECT created_ms, id FROM (
    SELECT created_ms, id, ROW_NUMBER() OVER (ORDER BY created_ms DESC, id DESC) AS place FROM subscriber
    WHERE campaign_id = :owner_id AND erased_ms IS NULL
      AND (created_ms, id) >= (:lo_ms, :lo_id) AND (created_ms, id) < (:hi_ms, :hi_id)
) AS ranked WHERE place % :run = 0 ORDER BY created_ms, id;

-- name: cuts_referrals
SELECT created_ms, id FROM (
    SELECT created_ms, id, ROW_NUMBER() OVER (ORDER BY created_ms DESC, id DESC) AS place FROM subscriber
    WHERE campaign_id = :owner_id AND erased_ms IS NULL AND referrer_code IS NOT NULL
      AND (created_ms, id) >= (:lo_ms, :lo_id) AND (created_ms, id) < (:hi_ms, :hi_id)
) AS ranked WHERE place % :run = 0 ORDER BY created_ms, id;

-- name: cuts_advocates
SELECT created_ms, id FROM (
    SELECT created_ms, id, ROW_NUMBER() OVER (ORDER BY created_ms DESC, id DESC) AS place FROM subscriber
    WHERE campaign_id = :owner_id AND erased_ms IS NULL AND is_advocate = 1
      AND (created_ms, id) >= (:lo_ms, :lo_id) AND (created_ms, id) < (:hi_ms, :hi_id)
) AS ranked WHERE place % :run = 0 ORDER BY created_ms, id;

-- name: cuts_brought
SELECT created_ms, id FROM (
    SELECT created_ms, id, ROW_NUMBER() OVER (ORDER BY created_ms DESC, id DESC) AS place FROM subscriber
    WHERE referrer_id = :owner_id AND erased_ms IS NULL AND referrer_id IS NOT NULL
      AND (created_ms, id) >= (:lo_ms, :lo_id) AND (created_ms, id) < (:hi_ms, :hi_id)
) AS ranked WHERE place % :run = 0 ORDER BY created_ms, id;
