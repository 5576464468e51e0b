-- name: save
-- Loops that keep failing.
INSERT INTO failing_loop (name, failures, error, failed_ms)
SELECT l.name, l.failures, l.error, :now_ms
FROM {rows :loops AS l (name TEXT, failures BIGINT, error TEXT)}
WHERE true
ON CONFLICT (name)
DO UPDATE SET failures = excluded.failures, error = excluded.error, failed_ms = excluded.failed_ms;

-- name: delete
-- Loops that run again.
DELETE FROM failing_loop WHERE name {in :names};

-- name: since
-- Loops that failed lately.
SELECT name, failures, error, failed_ms FROM failing_loop WHERE failed_ms >= :since_ms ORDER BY name;
