-- fragment: entry
id, account_id, actor_kind, actor_id, action, subject_id, before, after, changed_ms

-- name: insert
-- touches: adds change_log
INSERT INTO change_log (id, account_id, actor_kind, actor_id, action, subject_id, before, after, changed_ms)
VALUES (:id, :account_id, :actor_kind, :actor_id, :action, :subject_id, :before, :after, :now_ms);

-- name: of_account
SELECT {entry} FROM change_log WHERE account_id = :account_id AND id < :before_id ORDER BY id DESC LIMIT :most;

-- name: about
SELECT {entry} FROM change_log
WHERE account_id = :account_id AND (subject_id = :subscriber_id OR (actor_id = :subscriber_id AND actor_kind = 'subscriber'))
ORDER BY id;

-- name: erase
UPDATE change_log SET before = NULL, after = NULL
WHERE account_id = :account_id AND (subject_id = :subscriber_id OR (actor_id = :subscriber_id AND actor_kind = 'subscriber'))
  AND (before IS NOT NULL OR after IS NOT NULL);

-- name: old
SELECT id FROM change_log WHERE changed_ms < :before_ms ORDER BY changed_ms LIMIT :most;

-- name: purge
DELETE FROM change_log WHERE id {in :rows};
