"""Whether two tables have the same rows, without having both in memory: how many there are, and a
digest over all of them in the order of their key.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

import msgspec

from honeyguide.store.table_rows import Row, TableRows, Tables

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
    digester = Digester()
    async for found in batches(tables, rows, digester):
        progress(len(found))
    return digester.digest()
