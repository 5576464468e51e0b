-- name: insert
-- touches: adds link_request
{insert link_request: id, kind, email, created_ms};

-- name: due
SELECT id FROM link_request ORDER BY id LIMIT :most;

-- name: take
DELETE FROM link_request WHERE id = :id RETURNING kind, email;
