"""What another service values about publications, programs and payouts, kept as documents to read.
They are never entries of the ledger: nobody here owes or earned what another service paid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel.errors import Missing
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.kernel.paging import Page
from honeyguide.moving.fetching import FetchStage
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside

# Of one document, and of its name.
MOST_CHARACTERS = 64 * 1024
MOST_BYTES = 4 * MOST_CHARACTERS
NAME_LIMIT = 200
UUID_LIMIT = 64
KINDS = {
    FetchStage.PAYOUTS: "Payout",
    FetchStage.PARTNER_CAMPAIGNS: "Joined program",
    FetchStage.PUBLICATIONS: "Publication",
    FetchStage.PARTNER_PROGRAMS: "Partner program",
}


class MovedDocument(NamedTuple):
    id: str
    account_id: str
    kind: FetchStage
    base_url: str
    uuid: str
    name: str
    content: str
    made_id: str | None
    note: str
    created_ms: int

    @property
    def label(self) -> str:
        return KINDS[self.kind]

    @property
    def text(self) -> str:
        """For people to read."""
        return msgspec.json.format(self.content, indent=2)


class RemoteDocument(NamedTuple):
    """One that was fetched."""

    uuid: str
    name: str
    content: str
    values: Mapping[str, Any]


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_SET_MADE = _sql.command("set_made")
_BY_ID = _sql.query("by_id", MovedDocument)
_BY_UUID = _sql.query("by_uuid", MovedDocument)
_COUNT = _sql.value("count", int)
_LIST = _sql.query("list", MovedDocument)


def read_document(kind: FetchStage, item: msgspec.Raw) -> RemoteDocument | None:
    """None if it cannot be read, or is too long to keep."""
    if len(bytes(item)) > MOST_BYTES:
        return None
    try:
        values = msgspec.json.decode(item, type=dict[str, Any])
        content = msgspec.json.encode(values).decode().replace("\\u0000", "")
    except (ValueError, RecursionError):
        return None
    uuid = values.get("uuid")
    if not isinstance(uuid, str) or not uuid or len(content) > MOST_CHARACTERS:
        return None
    return RemoteDocument(uuid[:UUID_LIMIT], _name(kind, values), content, values)


def _name(kind: FetchStage, values: dict[str, Any]) -> str:
    if kind == FetchStage.PAYOUTS:
        # The month is the beginning of its first day.
        return f"Payout {str(values.get('start_period') or '')[:7]}".strip()
    name = values.get("name")
    return str(name)[:NAME_LIMIT].replace("\x00", "") if name else KINDS[kind]


async def add(
    change: Change,
    kind: FetchStage,
    base_url: str,
    document: RemoteDocument,
) -> str | None:
    """Its ID; None if it is here already."""
    document_id = new_id()
    added = await change.run(
        _INSERT,
        id=document_id,
        kind=kind,
        base_url=base_url,
        uuid=document.uuid,
        name=document.name,
        content=document.content,
        note="",
    )
    return document_id if added else None


async def set_made(change: Change, document_id: str, made_id: str | None, note: str = "") -> None:
    """Which publication or program was created from it, or why none was."""
    await change.run(_SET_MADE, id=document_id, made_id=made_id, note=note[:500])


async def get(at: Reading, document_id: str) -> MovedDocument:
    found = None
    if is_id(document_id):
        found = await at.one(_BY_ID, id=document_id)
    if found is None:
        raise Missing("There is no such document.")
    return found


async def find(at: Reading, kind: FetchStage, base_url: str, uuid: str) -> MovedDocument | None:
    return await at.one(_BY_UUID, kind=kind, base_url=base_url, uuid=uuid)


async def count(at: Reading) -> int:
    return await at.one(_COUNT) or 0


async def page_of(at: Reading, page: Page) -> tuple[list[MovedDocument], int]:
    """The newest first."""
    rows = await at.all(_LIST, most=page.per_page, skip=page.skip)
    return rows, await count(at)
