-- Page N of a list without OFFSET's cost: totals, blocks of about a thousand rows, and changes not yet
-- applied to them.

-- fragment: change
account_id, owner_id, created_ms, created_ms - created_ms % 86400000 AS day_ms, subscriber_id,
n_all, n_referrals, n_advocates, n_brought, verified, pending, rejected

-- fragment: n_of_kind
CASE CAST(:kind AS TEXT) WHEN 'all' THEN n_all WHEN 'referrals' THEN n_referrals
WHEN 'advocates' THEN n_advocates ELSE n_brought END

-- name: total
-- How long a list is, with changes that are not merged yet.
SELECT COALESCE((SELECT n FROM listing WHERE list = :list), 0) + CAST(COALESCE((
    SELECT SUM({n_of_kind})
    FROM count_note WHERE owner_id = :owner_id
), 0) AS BIGINT) AS n;

-- name: block_above
-- The last block that ends at or above the page's first row. Rows above its lower bound = blocks above +
-- changes above.
SELECT lo_ms, lo_id, CAST(above AS BIGINT) AS above FROM (
    SELECT lo_ms, lo_id, is_block, SUM(n) OVER (ORDER BY lo_ms DESC, lo_id DESC) AS above FROM (
        SELECT lo_ms, lo_id, n, 1 AS is_block FROM listing_run WHERE list = :list
        UNION ALL
        SELECT created_ms, subscriber_id,
               {n_of_kind}, 0
        FROM count_note WHERE owner_id = :owner_id
    ) AS parts
) AS heights
WHERE is_block = 1 AND above <= :skip
ORDER BY lo_ms, lo_id
LIMIT 1;

-- name: take_changes (sqlite)
-- Take changes of a list, to merge them.
DELETE FROM count_note WHERE (owner_id, created_ms, subscriber_id) IN (
    SELECT owner_id, created_ms, subscriber_id FROM count_note WHERE owner_id {in :owners}
    ORDER BY owner_id, created_ms, subscriber_id LIMIT :batch
)
RETURNING {change};

-- name: take_changes (postgres)
-- Take changes of a list, to merge them.
DELETE
FROM count_note
WHERE seq = ANY (ARRAY(SELECT seq FROM count_note WHERE owner_id {in :owners} ORDER BY owner_id LIMIT :batch))
RETURNING {change};

-- name: open_changes
-- Are there changes to merge?
SELECT COUNT(*) AS n FROM (SELECT 1 AS one FROM count_note WHERE owner_id = :owner_id LIMIT 1) AS waiting;

-- name: add_day
-- Add to the counts of a day.
-- touches: changes campaign_day
INSERT INTO campaign_day AS d (campaign_id, day_ms, account_id, signups, verified, pending, rejected)
VALUES (:campaign_id, :day_ms, :account_id, :signups, :verified, :pending, :rejected)
ON CONFLICT (campaign_id, day_ms) DO UPDATE SET signups = d.signups + excluded.signups,
    verified = d.verified + excluded.verified, pending = d.pending + excluded.pending,
    rejected = d.rejected + excluded.rejected;

-- name: blocks
-- Where the blocks of a list begin, and how long each is.
SELECT lo_ms, lo_id, n FROM listing_run WHERE list = :list ORDER BY lo_ms, lo_id;

-- name: long_lists
-- Over all accounts: those with a block to split, and without waiting changes. The ID of their owner has 36
-- characters.
SELECT list, account_id FROM listing AS l WHERE is_long = 1
  AND NOT EXISTS (SELECT 1 FROM count_note AS c WHERE c.owner_id = SUBSTR(l.list, 1, 36))
ORDER BY list
LIMIT :most;

-- name: long_list_of
-- Lists of these owners that need blocks.
SELECT list, account_id FROM listing AS l WHERE is_long = 1 AND SUBSTR(l.list, 1, 36) {in :owners}
  AND NOT EXISTS (SELECT 1 FROM count_note AS c WHERE c.owner_id = SUBSTR(l.list, 1, 36))
ORDER BY list
LIMIT 1;

-- name: set_long
-- Does the list need blocks?
UPDATE listing SET is_long = :is_long WHERE list = :list;

-- name: has_total
-- Is the length of the list stored?
SELECT n FROM listing WHERE list = :list;

-- name: count_referred_by
-- How many subscribers a referrer brought.
SELECT referrals_verified + referrals_pending + referrals_rejected AS n FROM subscriber
WHERE account_id = :account_id AND id = :subscriber_id;

-- name: set_total
-- Store the length of a list.
{insert listing: list, account_id, n, is_long}
ON CONFLICT (list) DO UPDATE SET n = excluded.n, is_long = excluded.is_long;

-- name: set_block
-- Store the length of a block.
{insert listing_run: list, account_id, lo_ms, lo_id, n}
ON CONFLICT (list, lo_ms, lo_id) DO UPDATE SET n = excluded.n;

-- name: splits_all
-- Where to divide the list of all subscribers into blocks.
SELECT created_ms, id FROM (
    SELECT created_ms, id, ROW_NUMBER() OVER (ORDER BY created_ms DESC, id DESC) AS place FROM (
        SELECT created_ms, id FROM subscriber WHERE campaign_id = :owner_id AND erased_ms IS NULL
          AND (created_ms, id) >= (:lo_ms, :lo_id) AND (created_ms, id) < (:hi_ms, :hi_id)
        ORDER BY created_ms DESC, id DESC LIMIT :most
    ) AS top_rows
) AS ranked WHERE place % :rows = 0
ORDER BY created_ms, id;

-- name: splits_referrals
-- Where to divide the list of referrals into blocks.
SELECT created_ms, id FROM (
    SELECT created_ms, id, ROW_NUMBER() OVER (ORDER BY created_ms DESC, id DESC) AS place FROM (
        SELECT created_ms, id FROM subscriber
        WHERE campaign_id = :owner_id AND erased_ms IS NULL AND referrer_code IS NOT NULL
          AND (created_ms, id) >= (:lo_ms, :lo_id) AND (created_ms, id) < (:hi_ms, :hi_id)
        ORDER BY created_ms DESC, id DESC LIMIT :most
    ) AS top_rows
) AS ranked WHERE place % :rows = 0
ORDER BY created_ms, id;

-- name: splits_advocates
-- Where to divide the list of advocates into blocks.
SELECT created_ms, id FROM (
    SELECT created_ms, id, ROW_NUMBER() OVER (ORDER BY created_ms DESC, id DESC) AS place FROM (
        SELECT created_ms, id FROM subscriber
        WHERE campaign_id = :owner_id AND erased_ms IS NULL AND is_advocate = 1
          AND (created_ms, id) >= (:lo_ms, :lo_id) AND (created_ms, id) < (:hi_ms, :hi_id)
        ORDER BY created_ms DESC, id DESC LIMIT :most
    ) AS top_rows
) AS ranked WHERE place % :rows = 0
ORDER BY created_ms, id;

-- name: splits_brought
-- Where to divide a referrer's list into blocks.
SELECT created_ms, id FROM (
    SELECT created_ms, id, ROW_NUMBER() OVER (ORDER BY created_ms DESC, id DESC) AS place FROM (
        SELECT created_ms, id FROM subscriber
        WHERE referrer_id = :owner_id AND erased_ms IS NULL AND referrer_id IS NOT NULL
          AND (created_ms, id) >= (:lo_ms, :lo_id) AND (created_ms, id) < (:hi_ms, :hi_id)
        ORDER BY created_ms DESC, id DESC LIMIT :most
    ) AS top_rows
) AS ranked WHERE place % :rows = 0
ORDER BY created_ms, id;

-- name: changed_owners
-- One step in the index for each owner, however many changes each has.
WITH RECURSIVE o (id) AS (
    SELECT (SELECT owner_id FROM count_note ORDER BY owner_id LIMIT 1)
    UNION ALL
    SELECT (SELECT c.owner_id FROM count_note AS c WHERE c.owner_id > o.id ORDER BY c.owner_id LIMIT 1)
    FROM o
    WHERE o.id IS NOT NULL
)
SELECT id FROM o WHERE id IS NOT NULL
LIMIT :most;
