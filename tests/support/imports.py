"""A file of people as an upload leaves it, waiting to be imported."""

from __future__ import annotations

import msgspec

from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import import_columns, importing
from honeyguide.moving.import_files import ImportLine
from honeyguide.store.tx import Tx


async def keep(
    tx: Tx,
    tenant: Tenant,
    *,
    file_name: str,
    header: list[str],
    lines: list[ImportLine],
    now_ms: int,
) -> str:
    mapping = import_columns.guess(header, lines)
    import_id = await importing.begin(tx, tenant, file_name, header, mapping, now_ms=now_ms)
    await importing.add_parts(tx, tenant, import_id, 0, [msgspec.json.encode(lines).decode()])
    await importing.complete(tx, tenant, import_id, len(lines))
    return import_id
