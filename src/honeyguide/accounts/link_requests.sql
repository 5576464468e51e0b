-- name: insert
-- A request for an emailed link, which is answered later.
-- touches: adds link_request
{insert link_request: id, kind, email, created_ms};

-- name: due
-- Requests to answer.
SELECT id FROM link_request ORDER BY id LIMIT :most;

-- name: take
-- Take a request out of the queue.
DELETE FROM link_request WHERE id = :id RETURNING kind, email;
