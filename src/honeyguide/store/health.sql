-- name: now (sqlite)
SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS now_ms;

-- name: now (postgres)
SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now_ms;
