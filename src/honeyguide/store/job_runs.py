"""The table of background jobs: when each last ran, and which process has the lease to run it now.
All times are real time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

OK = "ok"


class JobRun(NamedTuple):
    name: str
    every_ms: int
    started_ms: int
    duration_ms: int | None  # None while it runs, or when the process that ran it died
    result: str | None
    leased_until_ms: int
    succeeded_ms: int | None
    looked_ms: int = 0  # when a process last looked whether there is work, to the minute


_sql = beside(__file__)
_LIST = _sql.query("list", JobRun)
_LIST_LOOKED = _sql.query("list_looked", JobRun)
_LOOKED = _sql.command("looked")
_BY_NAME = _sql.query("by_name", JobRun)
_CLAIM = _sql.command("claim")
_RENEW = _sql.command("renew")
_FINISH = _sql.command("finish")


async def all_runs(tx: Tx) -> list[JobRun]:
    """The last run of every job that ever ran."""
    return await tx.all(_LIST)


async def all_jobs(tx: Tx) -> list[JobRun]:
    """Also those that never had work: `started_ms` is 0."""
    return await tx.all(_LIST_LOOKED)


async def note_looked(tx: Tx, every_ms: Mapping[str, int], looked: Mapping[str, int]) -> None:
    rows = [
        {"name": name, "every_ms": every_ms[name], "looked_ms": looked_ms}
        for name, looked_ms in sorted(looked.items())
    ]
    await tx.run(_LOOKED, looked=rows)


async def find(tx: Tx, name: str) -> JobRun | None:
    return await tx.one(_BY_NAME, name=name)


async def claim(
    tx: Tx, name: str, token: str, *, every_ms: int, lease_ms: int, early: bool
) -> bool:
    """Whether the job is ours to run now; `early` asks for it before its interval is over."""
    return bool(
        await tx.run(
            _CLAIM,
            name=name,
            every_ms=every_ms,
            until_ms=tx.now_ms + lease_ms,
            token=token,
            not_after_ms=tx.now_ms if early else tx.now_ms - every_ms,
        )
    )


async def renew(tx: Tx, name: str, token: str, *, until_ms: int) -> bool:
    """False if the lease is no longer ours."""
    return bool(await tx.run(_RENEW, name=name, token=token, until_ms=until_ms))


async def finish(tx: Tx, name: str, token: str, *, duration_ms: int, result: str) -> None:
    await tx.run(
        _FINISH,
        name=name,
        token=token,
        duration_ms=duration_ms,
        result=result,
        succeeded=int(result == OK),
    )
