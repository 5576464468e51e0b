-- name: of_campaign
SELECT {reward}
FROM reward
WHERE account_id = :account_id AND campaign_id = :campaign_id AND deleted_ms IS NULL
ORDER BY referrals, id;

-- name: by_id
SELECT {reward}
FROM reward WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: lock
SELECT id FROM reward WHERE account_id = :account_id AND id = :id;

-- name: count
SELECT COUNT(*) AS n FROM reward
WHERE account_id = :account_id AND campaign_id = :campaign_id AND deleted_ms IS NULL;

-- name: insert
{insert reward: id, account_id, campaign_id, {columns}, walk_ms, walk_id, created_ms = :now_ms};

-- name: update
UPDATE reward SET {assign {changed}},
    walk_ms = CASE WHEN CAST(:needs_backfill AS INTEGER) = 1 THEN CAST(:walk_ms AS BIGINT) ELSE walk_ms END,
    walk_id = CASE WHEN CAST(:needs_backfill AS INTEGER) = 1 THEN CAST(:walk_id AS TEXT) ELSE walk_id END
WHERE account_id = :account_id AND id = :id;

-- name: delete
UPDATE reward
SET deleted_ms = :now_ms, walk_ms = NULL, walk_id = NULL
WHERE account_id = :account_id AND id = :id;

-- name: start_backfill
UPDATE reward SET {assign walk_ms, walk_id}
WHERE account_id = :account_id AND campaign_id = :campaign_id AND recurring = 1 AND deleted_ms IS NULL;
