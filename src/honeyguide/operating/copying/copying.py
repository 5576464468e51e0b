"""Copies the whole database to an empty one of either engine, and proves that nothing differs
before the new one is there.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from honeyguide.kernel.errors import Invalid, Unavailable
from honeyguide.operating.backups.credentials import DROPPED
from honeyguide.operating.copying import tables
from honeyguide.partners import ledger_check
from honeyguide.partners.ledger_check import Finding
from honeyguide.store import Store, open_store, plan_migrations
from honeyguide.store.copy_checks import (
    check_target_url,
    refuse_same,
    refuse_servers,
    refuse_used_target,
)
from honeyguide.store.migrate import is_in_baseline, migration_names
from honeyguide.store.new_databases import NewDatabase, new_database
from honeyguide.store.replacing import Contains, inspect, reserved
from honeyguide.store.server_lock import ServerRuns
from honeyguide.store.table_rows import Row, TableRows, Tables, TableShape, opened_tables

Step = Callable[[str, int], None]


@dataclass(frozen=True)
class CopyRequest:
    source_url: str
    target_url: str
    # Raises an error if what is encrypted in the source cannot be decrypted.
    check_keys: Callable[[Store], Awaitable[None]]
    is_while_running: bool = False
    # Copy although verify finds errors.
    ignores_errors: bool = False
    # A step begins, with how much there is to do; so much of it was done.
    begin: Step = field(default=lambda step, total: None)
    advance: Callable[[int], None] = field(default=lambda done: None)


class CopiedTable(NamedTuple):
    table: str
    digest: TableDigest


class CopyReport(NamedTuple):
    tables: list[CopiedTable]
    # Tables in the source that are not ours.
    left_out: list[str]
    # How many rows of each kind of credential are not in the copy.
    dropped: dict[str, int]
    # What verify found, which is the same in both.
    findings: list[Finding]

    @property
    def rows(self) -> int:
        return sum(each.digest.rows for each in self.tables)

    @property
    def broken(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.broken]


# What is read at once: many small rows, or few large ones, such as logos.
MOST_ROWS = 5_000
FIRST_ROWS = 100
BATCH_BYTES = 4_000_000


class TableDigest(NamedTuple):
    rows: int
    sha256: str


class Digester:
    """Rows are encoded, so that text, numbers, bytes and null differ, and where a value ends."""

    def __init__(self) -> None:
        self._encode = msgspec.msgpack.Encoder().encode
        self._sha256 = hashlib.sha256()
        self._rows = 0

    def add(self, rows: list[Row]) -> int:
        """Returns how many bytes they have."""
        encoded = b"".join(map(self._encode, rows))
        self._sha256.update(encoded)
        self._rows += len(rows)
        return len(encoded)

    def digest(self) -> TableDigest:
        return TableDigest(self._rows, self._sha256.hexdigest())


async def copy(asked: CopyRequest) -> CopyReport:
    await _refuse_urls(asked)
    async with _stopped(asked):
        findings = await _check_source(asked)
        async with opened_tables(asked.source_url) as source:
            await _refuse_other_version(source)
            async with new_database(asked.target_url) as target:
                report = await _fill(asked, source, target, findings)
                if not asked.is_while_running:
                    await refuse_servers(asked.source_url)
                await target.keep()
                return report


async def _refuse_urls(asked: CopyRequest) -> None:
    check_target_url(asked.target_url)
    if await inspect(asked.source_url) not in (Contains.ACCOUNTS, Contains.NO_ACCOUNTS):
        raise Invalid(
            "There is nothing to copy: HONEYGUIDE_DATABASE_URL does not lead to a database of "
            "Honeyguide."
        )
    await refuse_same(asked.source_url, asked.target_url)
    await refuse_used_target(asked.target_url)
    if await plan_migrations(asked.source_url):
        raise Invalid(
            "The database is of an older version. Run `honeyguide migrate` first, then try again."
        )


async def _refuse_other_version(source: Tables) -> None:
    applied = {name for name in await source.migrations() if not is_in_baseline(name)}
    unknown = sorted(applied - migration_names())
    if unknown:
        raise Invalid(
            "The database was upgraded by a newer version of Honeyguide ({name}). Copy it with "
            "that version.",
            name=unknown[-1],
        )


@asynccontextmanager
async def _stopped(asked: CopyRequest) -> AsyncIterator[None]:
    """No server writes to the source meanwhile."""
    with ExitStack() as stack:
        if not asked.is_while_running:
            await refuse_servers(asked.source_url)
            stack.enter_context(_reserved_source(asked.source_url))
        yield


def _reserved_source(url: str) -> AbstractContextManager[object]:
    try:
        with ExitStack() as stack:
            stack.enter_context(reserved(url))
            return stack.pop_all()
    except Unavailable as fault:
        if not isinstance(fault.__cause__, ServerRuns):
            raise
        raise Unavailable(
            "{why} What it writes meanwhile would not be in the copy; for a rehearsal, add "
            "--while-running.",
            why=fault.message,
        ) from fault


async def _check_source(asked: CopyRequest) -> list[Finding]:
    store = await open_store(asked.source_url, pool_size=1)
    try:
        await asked.check_keys(store)
        asked.begin("Verifying the source", ledger_check.GROUPS)
        findings, _ = await store.slow_snapshot(ledger_check.verify, lambda: asked.advance(1))
    finally:
        await store.close()
    broken = [finding for finding in findings if finding.broken]
    if broken and not asked.ignores_errors:
        raise Invalid(
            "Nothing was copied, because verify finds errors in the source: {first} Run "
            "`honeyguide verify` to see them, or add --ignore-errors to copy it as it is.",
            first=broken[0].promise,
        )
    return findings


async def _fill(
    asked: CopyRequest, source: Tables, target: NewDatabase, findings: list[Finding]
) -> CopyReport:
    shapes = await source.shapes()
    planned = tables.plan(shapes, await target.shapes())
    asked.begin("Copying", sum([await source.count(rows) for rows in planned]))
    copied = [
        CopiedTable(rows.table, await _copy_table(asked, source, target, rows)) for rows in planned
    ]
    asked.begin("Building indexes", 0)
    await target.finish()
    asked.begin("Comparing", sum(each.digest.rows for each in copied))
    await compare(target, planned, copied, asked.advance)
    asked.begin("Verifying the copy", ledger_check.GROUPS)
    found, _ = await target.read(lambda tx: ledger_check.verify(tx, lambda: asked.advance(1)))
    _refuse_other_findings(findings, found)
    return CopyReport(copied, tables.others(shapes), await _count_dropped(source, shapes), found)


async def _count_dropped(source: Tables, shapes: dict[str, TableShape]) -> dict[str, int]:
    keys = {each: shapes[each.table].key for each in DROPPED if not each.is_part_of_row}
    return {
        each.name: await source.count(TableRows(each.table, key, key)) for each, key in keys.items()
    }


async def _copy_table(
    asked: CopyRequest, source: Tables, target: NewDatabase, rows: TableRows
) -> TableDigest:
    digester = Digester()
    async for found in batches(source, rows, digester):
        await target.insert(rows, found)
        asked.advance(len(found))
    return digester.digest()


async def compare(
    target: Tables,
    planned: list[TableRows],
    copied: list[CopiedTable],
    advance: Callable[[int], None],
) -> None:
    """An error that names the first table whose rows are not those that were read."""
    for rows, each in zip(planned, copied, strict=True):
        there = await digest_table(target, rows, advance)
        if there != each.digest:
            raise Unavailable(
                "The copy differs in the table {table}: {here} rows in the source, {there} in the "
                "copy{content}. Nothing was kept.",
                table=rows.table,
                here=each.digest.rows,
                there=there.rows,
                content="" if there.rows != each.digest.rows else ", with other content",
            )


def _refuse_other_findings(source: list[Finding], target: list[Finding]) -> None:
    for before, after in zip(source, target, strict=True):
        if before != after:
            raise Unavailable(
                "verify finds {after} errors in the copy, and {before} in the source: {promise} "
                "Nothing was kept.",
                after=after.broken,
                before=before.broken,
                promise=after.promise,
            )


async def batches(tables: Tables, rows: TableRows, digester: Digester) -> AsyncIterator[list[Row]]:
    """All rows, which are added to the digest on the way."""
    cursor, most = await tables.open(rows), FIRST_ROWS
    while found := await cursor.fetch(most):
        size = digester.add(found)
        yield found
        most = next_batch(most, size // len(found))


def next_batch(most: int, row_bytes: int) -> int:
    """It at most doubles, because later rows may be larger."""
    return max(1, min(2 * most, MOST_ROWS, BATCH_BYTES // max(1, row_bytes)))


async def digest_table(
    tables: Tables, rows: TableRows, progress: Callable[[int], None]
) -> TableDigest:
    """Tells whether two tables have the same rows, without having both in memory."""
    digester = Digester()
    async for found in batches(tables, rows, digester):
        progress(len(found))
    return digester.digest()
