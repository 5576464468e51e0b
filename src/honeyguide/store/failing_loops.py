"""Background work that failed many times in a row, for those who look from another process. All
times are real time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.background import LONGEST_DELAY_S, LoopHealth
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# A row that was not renewed for longer is of a process that ended.
KEPT_MS = round(4 * LONGEST_DELAY_S * 1000)


class FailingLoop(NamedTuple):
    name: str
    failures: int  # in a row
    error: str
    failed_ms: int


_sql = beside(__file__)
_SAVE = _sql.command("save")
_DELETE = _sql.command("delete")
_SINCE = _sql.query("since", FailingLoop)


async def save(tx: Tx, failing: Sequence[LoopHealth], recovered: Sequence[str]) -> None:
    loops = [
        {"name": loop.name, "failures": loop.failures_in_a_row, "error": loop.error}
        for loop in sorted(failing, key=lambda loop: loop.name)
    ]
    await tx.run(_SAVE, loops=loops)
    await tx.run(_DELETE, names=recovered)


async def list_all(tx: Tx) -> list[FailingLoop]:
    return await tx.all(_SINCE, since_ms=tx.now_ms - KEPT_MS)
