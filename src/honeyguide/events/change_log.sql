-- fragment: entry
id, account_id, actor_kind, actor_id, action, subject_id, before, after, changed_ms

-- name: insert
-- touches: adds change_log
{insert change_log: id, account_id, actor_kind, actor_id, action, subject_id, before, after, changed_ms = :now_ms};

-- name: of_account
SELECT {entry} FROM change_log WHERE account_id = :account_id AND id < :before_id ORDER BY id DESC LIMIT :most;

-- fragment: of_subscriber
-- What was done to them, by them, and to what they earned. Each part has an index.
SELECT id FROM change_log WHERE account_id = :account_id AND subject_id = :subscriber_id
UNION SELECT id FROM change_log WHERE account_id = :account_id AND actor_id = :subscriber_id AND actor_kind = 'subscriber'
UNION SELECT c.id FROM won_reward AS w JOIN change_log AS c ON c.subject_id = w.id AND c.account_id = w.account_id
WHERE w.account_id = :account_id AND w.subscriber_id = :subscriber_id

-- name: about
SELECT {entry} FROM change_log WHERE account_id = :account_id AND id IN ({of_subscriber}) ORDER BY id;

-- name: erase
UPDATE change_log SET before = NULL, after = NULL
WHERE account_id = :account_id AND id IN ({of_subscriber}) AND (before IS NOT NULL OR after IS NOT NULL);

-- name: old
SELECT id FROM change_log WHERE changed_ms < :before_ms ORDER BY changed_ms LIMIT :most;

-- name: purge
DELETE FROM change_log WHERE id {in :rows};
