"""Makes a backup: copies the database, compresses the copy, checks it, encrypts it if asked to, and
stores it. It blocks no request and opens no transaction: `work/backups.py` records the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from honeyguide.operating.backups import packing, records
from honeyguide.operating.backups.checking import CannotCheck, check
from honeyguide.operating.backups.names import backup_name
from honeyguide.operating.backups.places import Place, put_whole
from honeyguide.operating.backups.threads import Tick, run_apart, workspace_apart
from honeyguide.store.backup import dump, is_compressed, work_folder


@dataclass(frozen=True)
class BackupPlan:
    """What the settings say about backups."""

    database_url: str
    place: Place
    # An age public key, or nothing.
    recipient: str
    every_ms: int
    keep_days: int

    def new_name(self, now_ms: int) -> str:
        ending = "dump" if is_compressed(self.database_url) else "db.gz"
        return backup_name(now_ms, ending, is_encrypted=bool(self.recipient))


class MadeBackup(NamedTuple):
    bytes: int
    sha256: str
    result: str
    message: str


async def make(plan: BackupPlan, name: str) -> MadeBackup:
    async with workspace_apart(work_folder(plan.database_url)) as folder:
        packed = await run_apart(_copy, plan.database_url, folder)
        result, message = await _check(plan, packed, folder)
        if plan.recipient:
            await run_apart(packing.encrypt, packed, folder / name, plan.recipient)
            packed = folder / name
        size, sha256 = packed.stat().st_size, await run_apart(packing.digest_of, packed)
        await run_apart(put_whole, plan.place, name, packed)
    return MadeBackup(size, sha256, result, message)


def _copy(database_url: str, folder: Path, tick: Tick) -> Path:
    copy = folder / "copy"
    dump(database_url, copy, lambda done, total: tick())
    if is_compressed(database_url):
        return copy
    packed = folder / "packed"
    packing.compress(copy, packed, tick)
    copy.unlink()  # the check needs its space
    return packed


async def _check(plan: BackupPlan, packed: Path, folder: Path) -> tuple[str, str]:
    try:
        checked = await check(packed, plan.database_url, folder)
    except CannotCheck as missing:
        return records.UNCHECKED, missing.message
    if checked.broken:
        errors = sum(finding.broken for finding in checked.broken)
        return (
            records.BROKEN,
            f"Restored, but verify found wrong rows: {errors}. Run `honeyguide verify` to see "
            "whether the database has them too.",
        )
    found = checked.contents.subscribers
    people = f"{found:,} subscriber{'' if found == 1 else 's'}"
    return records.OK, f"Restored and verified, with {people}."
