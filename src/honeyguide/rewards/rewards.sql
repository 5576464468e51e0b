-- name: of_campaign
-- Rewards of the campaign that are not deleted.
SELECT {reward}
FROM reward
WHERE account_id = :account_id AND campaign_id = :campaign_id AND deleted_ms IS NULL
ORDER BY referrals, id;

-- name: by_id
-- One reward.
SELECT {reward}
FROM reward WHERE account_id = :account_id AND campaign_id = :campaign_id AND id = :id;

-- name: lock
-- Lock a reward.
SELECT id FROM reward WHERE account_id = :account_id AND id = :id;

-- name: count
-- How many rewards the campaign has.
SELECT COUNT(*) AS n FROM reward
WHERE account_id = :account_id AND campaign_id = :campaign_id AND deleted_ms IS NULL;

-- name: insert
-- A new reward.
{insert reward: id, account_id, campaign_id, {columns}, walk_ms, walk_id, created_ms = :now_ms};

-- name: update
-- Change a reward, and look for advocates who have reached it if need be.
UPDATE reward SET {assign {changed}},
    walk_ms = CASE WHEN CAST(:needs_backfill AS INTEGER) = 1 THEN CAST(:walk_ms AS BIGINT) ELSE walk_ms END,
    walk_id = CASE WHEN CAST(:needs_backfill AS INTEGER) = 1 THEN CAST(:walk_id AS TEXT) ELSE walk_id END
WHERE account_id = :account_id AND id = :id;

-- name: delete
-- Delete a reward; what was earned stays.
UPDATE reward
SET deleted_ms = :now_ms, walk_ms = NULL, walk_id = NULL
WHERE account_id = :account_id AND id = :id;

-- name: start_backfill
-- Look for advocates who have reached recurring rewards.
UPDATE reward SET {assign walk_ms, walk_id}
WHERE account_id = :account_id AND campaign_id = :campaign_id AND recurring = 1 AND deleted_ms IS NULL;
