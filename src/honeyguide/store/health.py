"""Is the database there and fit to be used: does it answer, agree with us about the time, have our
schema, and take writes?
"""

from __future__ import annotations

import functools

from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.store.migrate import Applied, Migration, migrations, pending_of
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# Large enough to need room of its own.
_TEST_CHARACTERS = 32_768
WRONG_SCHEMA = "wrong_schema"

_sql = beside(__file__)
_NOW = _sql.value("now", int)
_SIZE = _sql.value("size_bytes", int)
_APPLIED = _sql.query("applied", Applied)
_TEST_WRITE = _sql.command("test_write")


async def clock_skew_ms(tx: Tx) -> int:
    """How far our clock is ahead of the database's."""
    return system_clock() - (await tx.one(_NOW) or 0)


async def size_bytes(tx: Tx) -> int:
    return await tx.one(_SIZE) or 0


async def check_schema(tx: Tx) -> None:
    """An error if the schema does not fit this version any more: the database was restored from an
    old backup, or upgraded by a newer version.
    """
    try:
        pending = pending_of(await tx.all(_APPLIED), _known(tx.engine))
    except Unavailable as error:
        raise Unavailable(error.template, code=WRONG_SCHEMA, **error.values) from error
    if pending:
        raise Unavailable(
            "The schema of the database is not up to date: it lacks {name}. "
            "Run `honeyguide migrate`.",
            code=WRONG_SCHEMA,
            name=pending[0].name,
        )


@functools.cache
def _known(engine: str) -> list[Migration]:
    return migrations(engine)


async def try_to_write(tx: Tx) -> None:
    await tx.run(_TEST_WRITE, value="." * _TEST_CHARACTERS)
