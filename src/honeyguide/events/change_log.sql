-- fragment: entry
id, account_id, actor_kind, actor_id, action, subject_id, before, after, changed_ms, salt, values_hash

-- name: insert
-- touches: adds change_log, reads month_digest
-- Nothing is added to a month that has its digest, even if the clock was set back.
{insert change_log:
    id, account_id, actor_kind, actor_id, action, subject_id, before, after, salt, values_hash, changed_ms = (
    SELECT MAX(t.ms) FROM (
        SELECT CAST(:now_ms AS BIGINT) AS ms
        UNION ALL SELECT until_ms FROM month_digest
        WHERE account_id = :account_id
    ) AS t
)};

-- name: of_account
-- The newest entries of the change log.
SELECT {entry} FROM change_log WHERE account_id = :account_id
ORDER BY changed_ms DESC, id DESC
LIMIT :most;

-- name: of_month
-- Entries of a month, in the order in which its digest covers them.
SELECT {entry} FROM change_log
WHERE account_id = :account_id AND (changed_ms, id) > (:after_ms, :after_id) AND changed_ms < :until_ms
ORDER BY changed_ms, id
LIMIT :most;

-- name: unsalted
-- Entries whose values have no salted hash yet.
SELECT {entry} FROM change_log
WHERE account_id = :account_id AND changed_ms >= :since_ms AND changed_ms < :until_ms AND values_hash IS NULL
ORDER BY changed_ms, id
LIMIT :most;

-- name: salt
-- Add the salted hash of an entry's values.
UPDATE change_log SET {assign salt, values_hash} WHERE account_id = :account_id AND id = :id;

-- fragment: of_subscriber
-- What was done to them, by them, and to what they earned. Each part has an index.
SELECT id FROM change_log WHERE account_id = :account_id AND subject_id = :subscriber_id
UNION SELECT id
FROM change_log
WHERE account_id = :account_id AND actor_id = :subscriber_id AND actor_kind = 'subscriber'
UNION SELECT c.id
FROM won_reward AS w
JOIN change_log AS c ON c.subject_id = w.id AND c.account_id = w.account_id
WHERE w.account_id = :account_id AND w.subscriber_id = :subscriber_id

-- name: about
-- These entries.
SELECT {entry} FROM change_log WHERE account_id = :account_id AND id IN ({of_subscriber}) ORDER BY id;

-- name: erase
-- The hash of what was there stays for the digest of its month.
UPDATE change_log SET before = NULL, after = NULL, salt = NULL
WHERE account_id = :account_id AND id IN ({of_subscriber}) AND (before IS NOT NULL OR after IS NOT NULL);

-- name: old
-- Entries that are old enough to be deleted.
SELECT id FROM change_log WHERE changed_ms < :before_ms ORDER BY changed_ms LIMIT :most;

-- name: note_purged
-- Up to when entries are missing: what is checked of a month depends on it.
INSERT INTO instance (name, value)
SELECT 'change_log_purged_ms', CAST(MAX(changed_ms) + 1 AS TEXT) FROM change_log
WHERE id {in :rows}
HAVING MAX(changed_ms) IS NOT NULL
ON CONFLICT (name)
DO UPDATE SET value = excluded.value
WHERE CAST(instance.value AS BIGINT) < CAST(excluded.value AS BIGINT);

-- name: purged_ms
-- Up to when entries were deleted.
SELECT CAST(value AS BIGINT) AS ms FROM instance WHERE name = 'change_log_purged_ms';

-- name: purge
-- Delete these entries.
DELETE FROM change_log WHERE id {in :rows};
