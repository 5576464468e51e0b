-- Over all accounts; each row found has its account.

-- name: next_backfill (sqlite)
-- Rewards that some advocates have reached and do not have yet.
SELECT account_id, campaign_id, id, referrals, walk_ms, walk_id FROM reward
WHERE walk_ms IS NOT NULL
  AND deleted_ms IS NULL
  AND account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
  AND (CAST(:only AS TEXT) = '' OR id = :only)
ORDER BY walk_ms
LIMIT :most;

-- name: next_backfill (postgres)
-- Waits for signups that were in flight when the reward was created, because they may not have seen it. A
-- transaction that this server has not begun yet is from another server: the database was restored from a
-- backup, and nothing is in flight.
SELECT account_id, campaign_id, id, referrals, walk_ms, walk_id FROM reward
WHERE walk_ms IS NOT NULL
  AND deleted_ms IS NULL
  AND account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
  AND (CAST(:only AS TEXT) = '' OR id = :only)
  AND (walk_after < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)
    OR walk_after >= CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT))
  ORDER BY walk_ms
  LIMIT :most;

-- name: advocates
-- And those with an adjustment, who need not be advocates.
SELECT id, created_ms, referrals_verified, adjustments FROM (
    SELECT * FROM (
        SELECT id, created_ms, referrals_verified, adjustments FROM subscriber
        WHERE account_id = :account_id
          AND campaign_id = :campaign_id
          AND erased_ms IS NULL
          AND is_advocate = 1
          AND (created_ms, id) < (:below_ms, :below_id) ORDER BY created_ms DESC, id DESC LIMIT :batch
    ) AS advocates
    UNION
    SELECT s.id, s.created_ms, s.referrals_verified, s.adjustments FROM (
        SELECT DISTINCT subscriber_created_ms, subscriber_id FROM adjustment
        WHERE account_id = :account_id AND campaign_id = :campaign_id
          AND (subscriber_created_ms, subscriber_id) < (:below_ms, :below_id)
        ORDER BY subscriber_created_ms DESC, subscriber_id DESC LIMIT :batch
    ) AS adjusted JOIN subscriber AS s ON s.id = adjusted.subscriber_id
) AS found ORDER BY created_ms DESC, id DESC
LIMIT :batch;

-- name: lock
-- Locks the subscribers, so that an erasure waits and then finds what is stored here.
SELECT s.id FROM subscriber AS s
WHERE s.id {in :ids}
  AND s.account_id = :account_id
  AND s.campaign_id = :campaign_id
  AND COALESCE(s.erased_ms, 0) = 0
ORDER BY s.id DESC;

-- name: move_backfill
-- Not if the backfill was started again meanwhile.
UPDATE reward SET {assign walk_ms, walk_id}
WHERE account_id = :account_id AND id = :id AND walk_ms = :from_ms AND walk_id = :from_id;

-- name: next_restocked
-- Rewards with new codes for which advocates wait.
SELECT account_id, campaign_id, id FROM reward
WHERE waiting > 0
  AND codes_left > 0
  AND account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
  AND (CAST(:only AS TEXT) = '' OR id = :only)
ORDER BY id
LIMIT :most;
