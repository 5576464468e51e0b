"""A row that the database refuses to change: a trigger that raises for it, and for no other."""

from honeyguide.store import Tx
from tests.support.postgres import shared_server
from tests.support.service import Service
from tests.support.stores import statement


async def _run(tx: Tx, sql: str) -> None:
    await tx.run(statement(sql))


def refuse(service: Service, event: str, table: str, condition: str, name: str) -> None:
    """`event` is INSERT, UPDATE or DELETE, `condition` about NEW or OLD."""
    if service.engine == "sqlite":
        sql = (
            f"CREATE TRIGGER {name} BEFORE {event} ON {table} WHEN {condition} "
            "BEGIN SELECT RAISE(ABORT, 'planted'); END"
        )
        service.write(lambda tx: _run(tx, sql))
        return
    function = (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN RAISE EXCEPTION ''planted''; END'"
    )
    trigger = (
        f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW WHEN ({condition}) "
        f"EXECUTE FUNCTION {name}()"
    )
    _in_postgres(service, f"{function}; {trigger}")


def permit(service: Service, table: str, name: str) -> None:
    if service.engine == "sqlite":
        service.write(lambda tx: _run(tx, f"DROP TRIGGER {name}"))
    else:
        _in_postgres(service, f"DROP TRIGGER {name} ON {table}")


def _in_postgres(service: Service, sql: str) -> None:
    shared_server().execute(sql, service.database_url.rpartition("/")[2])
