-- name: alive
SELECT 1 AS alive;
