"""Stores the file of an import. A large one takes several transactions, because the others wait for
each.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from honeyguide.moving import importing
from honeyguide.moving.import_dates import DateOrder
from honeyguide.moving.sources import ImportSource
from honeyguide.moving.uploaded_files import UploadedFile

# Runs `unit(change, …)` in a transaction of its own.
Write = Callable[..., Awaitable[Any]]
# Parts stored in one transaction.
SLICE = 1_000


class FileInParts(NamedTuple):
    """A file as it is stored. A million lines are a few thousand parts, so unlike an
    `UploadedFile` it may come to the event loop: to free a million lists takes 0.2 seconds."""

    header: list[str]
    source: ImportSource
    mapping: dict[str, int]
    dates: DateOrder
    parts: list[str]
    lines: int


def in_parts(file: UploadedFile) -> FileInParts:
    """For a thread, as reading the file is."""
    return FileInParts(
        header=file.header,
        source=file.source,
        mapping=file.mapping,
        dates=file.dates,
        parts=importing.as_stored(file.lines),
        lines=len(file.lines),
    )


async def store_file(write: Write, name: str, file: FileInParts) -> str:
    """A new import of this file, which waits to be tried or started."""
    import_id: str = await write(
        importing.begin,
        name,
        file.header,
        file.mapping,
        source=file.source,
        dates=file.dates,
    )
    for first in range(0, len(file.parts), SLICE):
        await write(importing.add_parts, import_id, first, file.parts[first : first + SLICE])
    await write(importing.complete, import_id, file.lines)
    return import_id
