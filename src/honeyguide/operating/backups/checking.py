"""Proves a backup: restores it into a scratch database and runs `verify` there."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from honeyguide.kernel.errors import Fault, Invalid, Unavailable
from honeyguide.operating.backups import packing
from honeyguide.operating.backups.threads import Tick, run_apart
from honeyguide.partners import ledger_check
from honeyguide.store import Store, open_store, plan_migrations
from honeyguide.store.backup import NoClient
from honeyguide.store.scratch import NoScratch, load, scratch_database
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class Contents(NamedTuple):
    """What is in a database, for people to recognize it by."""

    accounts: int
    subscribers: int
    newest_ms: int | None


class Verified(NamedTuple):
    contents: Contents
    findings: list[ledger_check.Finding]

    @property
    def broken(self) -> list[ledger_check.Finding]:
        return [finding for finding in self.findings if finding.broken]


class CannotCheck(Fault):
    """The sentence says what is missing for a check."""


_sql = beside(__file__)
_CONTENTS = _sql.query("contents", Contents)
# A scratch database has one user.
_POOL = 2


async def check(packed: Path, database_url: str, folder: Path) -> Verified:
    """`packed` is not encrypted: whoever makes a backup has only the public key."""
    dump = folder / "unpacked"
    await run_apart(packing.unpack, packed, dump, None)
    try:
        async with scratch_database(database_url, folder) as scratch:
            await run_apart(load_dump, scratch, dump)
            if await plan_migrations(scratch):
                raise Unavailable("The restored backup has another schema than the database.")
            store = await open_store(scratch, pool_size=_POOL)
            try:
                return await verify(store)
            finally:
                await store.close()
    except (NoScratch, NoClient) as missing:
        raise CannotCheck("{why}", why=missing.message) from missing


async def verify(store: Store) -> Verified:
    findings, _ = await store.slow_snapshot(ledger_check.verify)
    return Verified(await store.slow_snapshot(contents), findings)


async def contents(tx: Tx) -> Contents:
    found = await tx.one(_CONTENTS)
    assert found is not None
    return found


def load_dump(url: str, dump: Path, tick: Tick) -> None:
    try:
        load(url, dump, lambda done, total: tick())
    except OSError as error:
        raise Invalid("Cannot read {path}: {error}.", path=dump, error=error) from error
