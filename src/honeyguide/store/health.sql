-- name: now (sqlite)
SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS now_ms;

-- name: now (postgres)
SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now_ms;

-- name: size_bytes (sqlite)
SELECT page_count * page_size AS size_bytes FROM pragma_page_count(), pragma_page_size();

-- name: size_bytes (postgres)
SELECT pg_database_size(current_database()) AS size_bytes;

-- name: applied
SELECT name, checksum, works_with FROM schema_migration;

-- name: test_write
{insert instance: name = 'test_write', value} ON CONFLICT (name) DO UPDATE SET value = excluded.value;
