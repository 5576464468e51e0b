"""Restores a backup: next to the database first, where it is brought up to date and verified, and
only then in its place. Whatever fails before that leaves the database as it was.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from honeyguide.kernel.errors import Fault, Invalid, Unavailable
from honeyguide.kernel.site import Site
from honeyguide.operating.backups import packing, records
from honeyguide.operating.backups.access import KeptAccess, keep_access, read_access
from honeyguide.operating.backups.checking import Verified, load_dump, verify
from honeyguide.operating.backups.erasure_files import distinct, erase_again, read_erasures
from honeyguide.operating.backups.names import backup_ms, stamp
from honeyguide.operating.backups.places import Place
from honeyguide.operating.backups.threads import run_apart, workspace_apart
from honeyguide.signups import erasures
from honeyguide.signups.erasures import Erasure
from honeyguide.store import Store, migrate, open_store, plan_migrations
from honeyguide.store.backup import work_folder
from honeyguide.store.replacing import Contains, inspect, move_into_place, reserved
from honeyguide.store.scratch import scratch_database
from honeyguide.store.tx import timed

LATEST = "latest"


@dataclass(frozen=True)
class Restoring:
    """What is asked for."""

    # A file, a name at the place, or LATEST.
    source: str
    database_url: str
    place: Place | None
    site_of: Callable[[Store], Awaitable[Site]]
    # A file with an age key.
    identity: Path | None = None
    dry_run: bool = False
    replaces: bool = False
    # Restore although verify finds errors.
    ignores_errors: bool = False
    tell: Callable[[str], None] = field(default=lambda step: None)


@dataclass(frozen=True)
class Restored:
    name: str
    verified: Verified
    migrations: list[str]
    erased_again: int
    # Whether there was any log of erasures to apply.
    has_erasure_log: bool
    access: KeptAccess
    # What the replaced database is called now.
    old: str | None


async def restore(asked: Restoring, *, now_ms: int) -> Restored:
    url = asked.database_url
    contains = await inspect(url)
    is_used = contains in (Contains.ACCOUNTS, Contains.SOMETHING_ELSE)
    if asked.dry_run:
        return await _restore(asked, contains, now_ms=now_ms)
    if is_used and not asked.replaces:
        raise Invalid(
            "There is a database with {what} already. To put the backup in its place, add "
            "--replace; the old database is kept under another name.",
            what=contains.value,
        )
    with reserved(url):
        return await _restore(asked, contains, now_ms=now_ms)


async def _restore(asked: Restoring, contains: Contains, *, now_ms: int) -> Restored:
    url = asked.database_url
    async with workspace_apart(work_folder(url)) as folder:
        asked.tell("Fetching the backup")
        name, file = await _fetch(asked, folder)
        dump = folder / "dump"
        await run_apart(packing.unpack, file, dump, asked.identity)
        log = await _erasure_log(asked, contains, folder)
        there = await read_access(url) if contains is Contains.ACCOUNTS else None
        async with scratch_database(url, folder) as scratch:
            asked.tell("Loading it into a scratch database")
            migrations = await _load(scratch, dump)
            asked.tell("Verifying it")
            store = await open_store(scratch, pool_size=2)
            try:
                site = await asked.site_of(store)
                erased = await _make_current(store, site, log, now_ms=now_ms)
                access = await keep_access(store, scratch, site, there, now_ms=now_ms)
                verified = await verify(store)
            finally:
                await store.close()
            _refuse_errors(asked, verified)
            old = None
            if not asked.dry_run:
                old = await move_into_place(
                    url,
                    scratch,
                    stamp(now_ms),
                    keeps_old=contains in (Contains.ACCOUNTS, Contains.SOMETHING_ELSE),
                )
    return Restored(
        name=name,
        verified=verified,
        migrations=migrations,
        erased_again=erased,
        has_erasure_log=log is not None,
        access=access,
        old=old,
    )


async def _fetch(asked: Restoring, folder: Path) -> tuple[str, Path]:
    """The name of the backup, and a file with it."""
    path = Path(asked.source)
    if asked.source != LATEST and path.is_file():
        return path.name, path
    if asked.place is None:
        raise Invalid(
            "There is no file {path}. To restore by name, set HONEYGUIDE_BACKUP_URL.", path=path
        )
    name, target = asked.source, folder / "fetched"
    if name == LATEST:
        files = await run_apart(lambda tick: asked.place.files() if asked.place else [])
        made = [file.name for file in files if backup_ms(file.name) is not None]
        if not made:
            raise Invalid("There are no backups in {place}.", place=asked.place.shown)
        name = max(made, key=lambda each: backup_ms(each) or 0)
    elif "/" in name or not name.startswith("honeyguide-"):
        raise Invalid("There is no file {path}.", path=path)
    await run_apart(asked.place.get, name, target)
    return name, target


async def _load(scratch: str, dump: Path) -> list[str]:
    """The names of the migrations that it took to bring the backup up to date."""
    await run_apart(load_dump, scratch, dump)
    if await inspect(scratch) not in (Contains.ACCOUNTS, Contains.NO_ACCOUNTS):
        raise Invalid("This is a copy of a database, but not of Honeyguide's.")
    try:
        await plan_migrations(scratch)
    except Unavailable as fault:
        raise Invalid("The backup cannot be restored. {why}", why=fault.message) from fault
    return await migrate(scratch)


async def _erasure_log(asked: Restoring, contains: Contains, folder: Path) -> list[Erasure] | None:
    """From the backup place, and from the database that is there now. None if there is neither."""
    found: list[Erasure] | None = None
    if asked.place is not None:
        found = await run_apart(read_erasures, asked.place, folder)
    if contains is Contains.ACCOUNTS:
        there = await _erasures_of_database(asked.database_url)
        found = found if there is None else [*(found or []), *there]
    return None if found is None else distinct(found)


async def _erasures_of_database(url: str) -> list[Erasure] | None:
    """None if it is of another version or cannot be read, which may be why it is replaced."""
    try:
        if await plan_migrations(url):
            return None
        store = await open_store(url, pool_size=1)
    except Fault:
        return None
    try:
        return await store.read(erasures.every_erasure)
    except Fault:
        return None
    finally:
        await store.close()


async def _make_current(store: Store, site: Site, log: list[Erasure] | None, *, now_ms: int) -> int:
    """Returns how many people were erased again."""
    await store.write(records.drop_unfinished)
    again = [await store.write(timed(erase_again, now_ms), site, erasure) for erasure in log or []]
    return sum(again)


def _refuse_errors(asked: Restoring, verified: Verified) -> None:
    if verified.broken and not asked.ignores_errors:
        raise Invalid(
            "The backup was not restored, because verify finds errors in it: {first} Use another "
            "backup, or add --ignore-errors to restore it as it is.",
            first=verified.broken[0].promise,
        )
