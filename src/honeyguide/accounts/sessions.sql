-- name: insert
-- touches: adds session
{insert session: id, account_id, digest, user_agent, address, created_ms = :now_ms, seen_ms = :now_ms};

-- name: find
SELECT s.id AS session_id, s.digest, s.created_ms, s.seen_ms, a.id AS account_id, a.email, a.name, a.is_admin,
       c.id AS campaign_id, c.name AS campaign_name, a.time_zone
FROM session AS s JOIN account AS a ON a.id = s.account_id JOIN campaign AS c ON c.account_id = a.id
WHERE s.digest = :digest AND s.seen_ms > :idle_ms AND s.created_ms > :oldest_ms;

-- name: touch
-- touches: changes session
UPDATE session SET seen_ms = :now_ms WHERE account_id = :account_id AND id = :id;

-- name: of_account
SELECT id, user_agent, address, created_ms, seen_ms FROM session
WHERE account_id = :account_id AND seen_ms > :idle_ms AND created_ms > :oldest_ms ORDER BY seen_ms DESC, id DESC;

-- name: end
DELETE FROM session WHERE account_id = :account_id AND id = :id;

-- name: end_by_digest
DELETE FROM session WHERE digest = :digest;

-- name: end_others
DELETE FROM session WHERE account_id = :account_id AND id <> :id;

-- name: ended
SELECT id FROM session WHERE seen_ms <= :idle_ms OR created_ms <= :oldest_ms LIMIT :most;

-- name: purge
DELETE FROM session WHERE id {in :rows};
