"""A file of people as an upload leaves it, waiting to be imported."""

import msgspec

from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import importing, sources, uploaded_files
from honeyguide.moving.import_files import ImportLine
from honeyguide.store.tx import Tx
from tests.support.readings import change_of


async def keep(
    tx: Tx,
    tenant: Tenant,
    *,
    file_name: str,
    header: list[str],
    lines: list[ImportLine],
) -> str:
    source = sources.recognize(header, lines)
    file = uploaded_files.understand(header, lines, source)
    import_id = await importing.begin(
        change_of(tx, tenant), file_name, header, file.mapping, source=source, dates=file.dates
    )
    await importing.add_parts(
        change_of(tx, tenant), import_id, 0, [msgspec.json.encode(lines).decode()]
    )
    await importing.complete(change_of(tx, tenant), import_id, len(lines))
    return import_id
