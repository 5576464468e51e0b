"""The jobs about backups: make one when it is due, delete those that are too old, and copy the log
of erasures to where the backups are.
"""

from __future__ import annotations

import asyncio
import logging

from honeyguide.accounts import accounts
from honeyguide.kernel.clock import DAY_MS, system_clock
from honeyguide.kernel.errors import Fault, Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.operating.backups import records
from honeyguide.operating.backups.erasure_files import write_erasures
from honeyguide.operating.backups.making import BackupPlan, MadeBackup, make
from honeyguide.operating.backups.names import expired
from honeyguide.operating.backups.places import Place, StoredFile
from honeyguide.operating.backups.records import BackupRecord
from honeyguide.operating.backups.threads import Tick, run_apart
from honeyguide.signups import erasures
from honeyguide.store import Store
from honeyguide.store.backup import work_folder
from honeyguide.store.tx import Tx, timed

log = logging.getLogger("honeyguide.work")

# Records of backups are kept at least this long.
RECORDS_MS = 90 * DAY_MS
ERASURES_AT_ONCE = 1_000
GATHER_S = 1.0


async def make_backup(plan: BackupPlan, store: Store, now_ms: int) -> bool:
    """Makes one backup and records how it went."""
    await back_up(plan, store, now_ms=now_ms)
    return False


async def back_up(plan: BackupPlan, store: Store, *, now_ms: int) -> BackupRecord:
    """The record of the backup; `Unavailable` if there is none. `now_ms` is the installation's
    clock; backups themselves go by real time.
    """
    started_ms, backup_id = system_clock(), new_id()
    name = plan.new_name(started_ms)
    await store.write(timed(records.begin, started_ms), backup_id, name)
    record = BackupRecord(
        id=backup_id,
        name=name,
        started_ms=started_ms,
        duration_ms=None,
        bytes=None,
        sha256=None,
        result=records.FAILED,
        message=records.INTERRUPTED,
    )
    try:
        made = await make(plan, name)
        record = _with_result(record, made)
    except Fault as fault:
        record = record._replace(message=fault.message)
        log.error("The backup failed: %s", fault.message)
        raise Unavailable("The backup failed: {why}", why=fault.message) from fault
    except Exception as error:
        record = record._replace(message=f"It failed unexpectedly: {type(error).__name__}.")
        raise
    finally:
        record = record._replace(duration_ms=system_clock() - started_ms)
        await store.write(timed(_record_result, now_ms), record)
    if record.result != records.OK:
        log.error("The backup %s is not proved: %s", name, record.message)
    await _delete_expired(plan, store)
    return record


def _with_result(record: BackupRecord, made: MadeBackup) -> BackupRecord:
    return record._replace(
        bytes=made.bytes, sha256=made.sha256, result=made.result, message=made.message
    )


async def _record_result(tx: Tx, record: BackupRecord) -> None:
    await records.finish(tx, record)
    if record.result != records.FAILED:
        await accounts.note_backup(tx)


async def _delete_expired(plan: BackupPlan, store: Store) -> None:
    """A backup that cannot be deleted does not make the new one worse."""
    now_ms = system_clock()
    good = await store.read(records.good)
    await store.write(
        records.purge, before_ms=now_ms - max(RECORDS_MS, 2 * plan.keep_days * DAY_MS)
    )
    try:
        await run_apart(_delete, plan.place, good, plan.keep_days, now_ms)
    except Fault as fault:
        log.error("Old backups could not be deleted: %s", fault.message)


def _delete(place: Place, good: list[StoredFile], keep_days: int, now_ms: int, tick: Tick) -> None:
    files = place.files()
    # One that was cut short since then is not good anymore.
    whole = [stored.name for stored in set(files) & set(good)]
    names = [stored.name for stored in files]
    for name in expired(names, whole, keep_days=keep_days, now_ms=now_ms):
        tick()
        place.delete(name)


async def copy_erasures(plan: BackupPlan, store: Store, now_ms: int) -> bool:
    """At once, since the machine may be lost at any time; those of one second share a file."""
    await asyncio.sleep(GATHER_S)
    found = await store.read(erasures.uncopied, most=ERASURES_AT_ONCE)
    if not found:
        return False
    folder = work_folder(plan.database_url)
    await run_apart(write_erasures, plan.place, found, folder, system_clock())
    await store.write(timed(erasures.set_copied, now_ms), [each.id for each in found])
    return len(found) == ERASURES_AT_ONCE
