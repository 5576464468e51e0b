"""Stores the file of an import. A large one takes several transactions, because the others wait for
each.
"""

from __future__ import annotations

import asyncio

from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import importing
from honeyguide.moving.uploaded_files import UploadedFile
from honeyguide.store import Store

# Parts stored in one transaction.
SLICE = 1_000


async def store_file(
    store: Store, tenant: Tenant, name: str, file: UploadedFile, *, now_ms: int
) -> str:
    """A new import of this file, which waits to be tried or started."""
    import_id = await store.write(
        importing.begin,
        tenant,
        name,
        file.header,
        file.mapping,
        now_ms=now_ms,
        source=file.source,
        dates=file.dates,
    )
    stored = await asyncio.to_thread(importing.as_stored, file.lines)
    for first in range(0, len(stored), SLICE):
        await store.write(
            importing.add_parts, tenant, import_id, first, stored[first : first + SLICE]
        )
    await store.write(importing.complete, tenant, import_id, len(file.lines))
    return import_id
