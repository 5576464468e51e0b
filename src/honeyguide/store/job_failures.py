"""What jobs skip because it failed: each is tried again later, and later still if it fails again.
All times are real time.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# How long after each failure it is tried again.
DELAYS_MS = (MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS)
# What was not found again for this long is gone, or was done by hand.
FORGOTTEN_AFTER_MS = DAY_MS
MOST_LISTED = 200


class JobFailure(NamedTuple):
    job: str
    item: str
    failures: int
    error: str
    failed_ms: int
    retry_ms: int


_sql = beside(__file__)
_SKIPPED = _sql.value("skipped", str)
_ALL = _sql.query("all", JobFailure)
_FAILURES = _sql.value("failures", int)
_RECORD = _sql.command("record")
_FORGET = _sql.command("forget")
_FORGET_OLD = _sql.command("forget_old")
_ANY_OLD = _sql.value("any_old", int)


async def skipped(tx: Tx, job: str) -> set[str]:
    return set(await tx.all(_SKIPPED, job=job))


async def list_all(tx: Tx) -> list[JobFailure]:
    return await tx.all(_ALL, most=MOST_LISTED)


async def record(tx: Tx, job: str, item: str, error: str) -> None:
    failures = (await tx.one(_FAILURES, job=job, item=item) or 0) + 1
    delay_ms = DELAYS_MS[min(failures, len(DELAYS_MS)) - 1]
    await tx.run(
        _RECORD,
        job=job,
        item=item,
        failures=failures,
        error=error,
        retry_ms=tx.now_ms + delay_ms,
    )


async def forget_tried(tx: Tx, job: str, *, tried_ms: int) -> None:
    """Those that were to be tried again by then. What failed again has a later time."""
    await tx.run(_FORGET, job=job, tried_ms=tried_ms)


async def has_old(tx: Tx) -> bool:
    return await tx.one(_ANY_OLD, before_ms=tx.now_ms - FORGOTTEN_AFTER_MS) is not None


async def forget_old(tx: Tx) -> None:
    await tx.run(_FORGET_OLD, before_ms=tx.now_ms - FORGOTTEN_AFTER_MS)
