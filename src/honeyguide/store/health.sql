-- name: now (sqlite)
-- The clock of the database.
SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) AS now_ms;

-- name: now (postgres)
-- The clock of the database.
SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now_ms;

-- name: size_bytes (sqlite)
-- The size of the database.
SELECT page_count * page_size AS size_bytes FROM pragma_page_count(), pragma_page_size();

-- name: size_bytes (postgres)
-- The size of the database.
SELECT pg_database_size(current_database()) AS size_bytes;

-- name: applied
-- Migrations that were applied.
SELECT name, checksum, works_with FROM schema_migration;

-- name: test_write
-- A write that shows that the database can be written.
{insert instance: name = 'test_write', value} ON CONFLICT (name) DO UPDATE SET value = excluded.value;
