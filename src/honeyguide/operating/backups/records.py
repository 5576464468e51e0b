"""The table of backups: what was made when, and how it went. All times are real time."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.clock import HOUR_MS, system_clock
from honeyguide.operating.backups.places import StoredFile
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# Restored into a scratch database and verified; not checked; checked, and verify found errors;
# not made.
OK, UNCHECKED, BROKEN, FAILED = "ok", "unchecked", "broken", "failed"
JOB = "back up the database when due"
# Wakes the job that makes backups.
REQUESTED = "backup requested"
# A backup that failed is tried again after this long.
AGAIN_MS = HOUR_MS
INTERRUPTED = "The process that made it ended before it was done."


class BackupRecord(NamedTuple):
    id: str
    name: str
    started_ms: int
    duration_ms: int | None
    bytes: int | None
    sha256: str | None
    result: str | None
    message: str | None


class _State(NamedTuple):
    tried_ms: int | None
    made_ms: int | None
    requested: bool


_sql = beside(__file__)
_STATE = _sql.query("state", _State)
_NEWEST = _sql.query("newest", BackupRecord)
_NEWEST_FINISHED = _sql.query("newest_finished", BackupRecord)
_GOOD = _sql.query("good", StoredFile)
_BEGIN = _sql.command("begin")
_FINISH = _sql.command("finish")
_END_UNFINISHED = _sql.command("end_unfinished")
_DROP_UNFINISHED = _sql.command("drop_unfinished")
_PURGE = _sql.command("purge")
_REQUEST = _sql.command("request")
_TAKE_REQUEST = _sql.command("take_request")


async def is_due(tx: Tx, *, every_ms: int) -> bool:
    """Whether it is time for a backup, or somebody asked for one. `now_ms` may be a test clock's
    and is not used.
    """
    state, real_ms = await tx.one(_STATE), system_clock()
    if state is None or state.requested or state.tried_ms is None:
        return True
    return real_ms - (state.made_ms or 0) >= every_ms and real_ms - state.tried_ms >= min(
        every_ms, AGAIN_MS
    )


async def request(tx: Tx) -> None:
    """Make a backup as soon as a process that runs background jobs is free to."""
    await tx.run(_REQUEST)
    tx.wake(REQUESTED)


async def is_requested(tx: Tx) -> bool:
    state = await tx.one(_STATE)
    return state is not None and state.requested


async def begin(tx: Tx, backup_id: str, name: str) -> None:
    """Only one is made at a time, so others that are not finished were interrupted."""
    await tx.run(_END_UNFINISHED, message=INTERRUPTED)
    await tx.run(_TAKE_REQUEST)
    await tx.run(_BEGIN, id=backup_id, name=name)


async def finish(tx: Tx, record: BackupRecord) -> None:
    await tx.run(
        _FINISH,
        id=record.id,
        duration_ms=record.duration_ms,
        bytes=record.bytes,
        sha256=record.sha256,
        result=record.result,
        message=record.message,
    )


async def newest(tx: Tx, most: int) -> list[BackupRecord]:
    return await tx.all(_NEWEST, most=most)


async def last_backup(tx: Tx) -> BackupRecord | None:
    """The newest attempt, however it went."""
    found = await newest(tx, 1)
    return found[0] if found else None


async def last_finished(tx: Tx) -> BackupRecord | None:
    """The newest one that was made, or failed."""
    return await tx.one(_NEWEST_FINISHED)


async def good(tx: Tx) -> list[StoredFile]:
    """Backups that were restored into a scratch database and verified, as they were stored."""
    return await tx.all(_GOOD)


async def drop_unfinished(tx: Tx) -> None:
    """In a restored database: the record of the backup that it was restored from."""
    await tx.run(_DROP_UNFINISHED)
    await tx.run(_TAKE_REQUEST)


async def purge(tx: Tx, *, before_ms: int) -> None:
    """Keeps that of the newest good backup, whose file is kept too."""
    await tx.run(_PURGE, before_ms=before_ms)
