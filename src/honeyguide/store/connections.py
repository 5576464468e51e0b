"""How to connect to PostgreSQL, and what a lost connection means.

A URL can name several servers of one cluster: `postgresql://user@db1,db2:5433/name`. asyncpg would
try them in order too, but with one timeout for all: a first server that accepts connections and
never answers, as a paused one does, would keep it from the others.
"""

from __future__ import annotations

import re
from typing import Any

import asyncpg

from honeyguide.kernel.errors import Unavailable

CONNECT_S = 5.0  # for all servers of a URL together
# Errors that pass: the connection broke (08), the server lacks resources (53), an operator or a
# limit of ours stopped it (57, idle in a transaction), its disk failed (58), or a replica is not
# the leader yet.
DOWN_ERRORS = (
    asyncpg.PostgresConnectionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
    asyncpg.PostgresSystemError,
    asyncpg.PostgresIOError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)
DOWN = "The database is not responding; try again in a moment."
NO_CONNECTION = (
    "Cannot connect to PostgreSQL: {error}. Check {setting} and that the server is running."
)
LEADS_TO_PGBOUNCER = (
    "HONEYGUIDE_DATABASE_URL leads to PgBouncer. "
    "Also set HONEYGUIDE_DATABASE_DIRECT_URL, to a URL past PgBouncer."
)
_URL = re.compile(r"(postgres(?:ql)?://(?:[^/?#]*@)?)([^/?#]*)(.*)", re.DOTALL)


class Servers:
    """The servers that a URL names. The one that was connected to last is tried first. Of several,
    only those are used that are what `needs` says, unless the URL says it.
    """

    def __init__(self, url: str, *, needs: str = "read-write") -> None:
        found = _URL.fullmatch(url)
        assert found is not None, "not a PostgreSQL URL"
        start, names, end = found.groups()
        self._urls = {name: f"{start}{name}{end}" for name in names.split(",")}
        is_choice = len(self._urls) > 1 and "target_session_attrs=" not in url
        self._needs = needs if is_choice else None

    async def connect(self, **options: Any) -> Any:
        """A connection to the first server that answers and is what we need."""
        errors: dict[str, Exception] = {}
        if self._needs is not None:
            options = options | {"target_session_attrs": self._needs}
        for name, url in [*self._urls.items()]:
            try:
                connection = await asyncpg.connect(
                    url, timeout=CONNECT_S / len(self._urls), **options
                )
            except (*DOWN_ERRORS, asyncpg.PostgresError) as error:
                if isinstance(error, ValueError) or len(self._urls) == 1:
                    raise
                errors[name] = error
                continue
            self._urls = {name: url} | self._urls
            return connection
        for refusal in errors.values():
            # A replica may not have the database or the user yet, but the primary was tried too.
            if not isinstance(refusal, DOWN_ERRORS):
                raise refusal
        raise ConnectionError(
            "; ".join(f"{name}: {str(away) or 'timed out'}" for name, away in errors.items())
        )

    def client_environment(self) -> dict[str, str]:
        """What makes `pg_dump` and the like choose the same server of the URL as we do."""
        limit = {"PGCONNECT_TIMEOUT": str(int(CONNECT_S))}
        return limit | ({"PGTARGETSESSIONATTRS": self._needs} if self._needs else {})


def no_connection(error: Exception, setting: str = "HONEYGUIDE_DATABASE_URL") -> Unavailable:
    # PgBouncer refuses the settings that we give a connection.
    if "unsupported startup parameter" in str(error):
        return Unavailable(LEADS_TO_PGBOUNCER)
    return Unavailable(NO_CONNECTION, error=str(error) or "timed out", setting=setting)


async def connect_once(url: str, **options: Any) -> Any:
    """A connection for one command, or an error that says why there is none."""
    try:
        return await Servers(url).connect(**options)
    except (*DOWN_ERRORS, asyncpg.PostgresError, ValueError) as error:
        raise no_connection(error) from error


async def connect_to_replica(url: str, **options: Any) -> Any:
    """The same for HONEYGUIDE_REPLICA_URL."""
    try:
        return await Servers(url, needs="standby").connect(**options)
    except (*DOWN_ERRORS, asyncpg.PostgresError, ValueError) as error:
        raise no_connection(error, "HONEYGUIDE_REPLICA_URL") from error
