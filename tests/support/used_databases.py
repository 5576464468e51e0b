"""Databases of the shared PostgreSQL server that a test is done with, emptied for the next one.

A new database is a copy of 900 files, which takes ten times as long as deleting what a test wrote.
"""

from .postgres import PostgresServer

# The planner takes every table for one of ten pages until it is larger or analyzed.
MOST_PAGES = 10
# Two rows are told apart by the transaction that wrote them, also in a copy of a database.
CATALOGS = (
    *("pg_attrdef", "pg_attribute", "pg_class", "pg_constraint", "pg_event_trigger", "pg_index"),
    *("pg_namespace", "pg_proc", "pg_statistic", "pg_trigger", "pg_type"),
)
_OF_CATALOGS = " || ' ' ||\n".join(
    f"(SELECT COUNT(*) || '/' || COALESCE(MAX(CAST(CAST(xmin AS TEXT) AS BIGINT)), 0) FROM {name})"
    for name in CATALOGS
)
SHAPE = f"""
SELECT {_OF_CATALOGS}
    || ' ' || (SELECT MD5(STRING_AGG(CAST(m AS TEXT), ',' ORDER BY m.*)) FROM schema_migration m)
    || ' ' || (SELECT CONCAT(datdba, datconnlimit) FROM pg_database
        WHERE datname = CURRENT_DATABASE())
    || ' ' || (SELECT COUNT(*) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
        WHERE d.datname = CURRENT_DATABASE())
"""
OTHERS = """
SELECT COUNT(*) FROM pg_stat_activity
WHERE datname = CURRENT_DATABASE() AND pid <> PG_BACKEND_PID() AND backend_type = 'client backend'
"""
TABLES = """
SELECT oid, CAST(CAST(oid AS REGCLASS) AS TEXT) AS name, PG_TABLE_SIZE(oid) AS bytes FROM pg_class
WHERE relnamespace = CAST('public' AS REGNAMESPACE) AND relkind = 'r'
    AND relname <> 'schema_migration' AND PG_RELATION_SIZE(oid) > 0
"""
EMPTY = f"""
SET session_replication_role = replica;
DO $$
DECLARE
    of_public RECORD;
BEGIN
    IF ({SHAPE}) IS DISTINCT FROM '{{SHAPE}}' OR ({OTHERS}) > 0 THEN
        RAISE EXCEPTION 'not as it was';
    END IF;
    FOR of_public IN {TABLES} LOOP
        IF PG_RELATION_SIZE(of_public.oid) > {MOST_PAGES} * 8192 THEN
            RAISE EXCEPTION 'too large';
        END IF;
        EXECUTE 'DELETE FROM ' || of_public.name;
    END LOOP;
    PERFORM SETVAL(CAST(seqrelid AS REGCLASS), seqstart, FALSE) FROM pg_sequence;
    PERFORM PG_STAT_RESET();  -- tests count deadlocks
END $$
"""

_used: list[str] = []


def shape(server: PostgresServer, database: str) -> str:
    """Changes with every table, trigger, setting or statistic, not with rows."""
    return server.execute(SHAPE, database)


def give_back(url: str) -> None:
    """Nobody uses it any longer. It is emptied when the next test needs one, not before."""
    if url.startswith("postgresql:"):
        _used.append(url.rpartition("/")[2])


def take(server: PostgresServer, shape_of_new: str) -> str | None:
    """An empty one, unless all that were given back are in use, large or have another schema."""
    while _used:
        database = _used.pop()
        try:
            server.execute(EMPTY.replace("{SHAPE}", shape_of_new), database)
        except RuntimeError:
            continue
        return database
    return None
