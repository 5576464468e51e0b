"""Removes an erased person from stored import files: from lines that wait and from lines that were
refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

IsPerson = Callable[[EmailAddress], bool]

# What may be an email address in a cell such as `Ann Lee <ann@example.org>`.
_WORDS = re.compile(r"[^\s<>()\[\]\",;:]+")
# Addresses that look the same in JSON, in whatever case they were typed.
_PLAIN = re.compile(r"[a-z0-9!#$%&'*+/=?^_`{|}~.@-]+", re.ASCII)


class _Part(NamedTuple):
    import_id: str
    mapping: str
    n: int
    lines: str


class _Refused(NamedTuple):
    import_id: str
    mapping: str
    line: int
    content: str


_sql = beside(__file__)
_LOCK = _sql.value("lock", str)
_PARTS = _sql.query("parts", _Part)
_SET_PART = _sql.command("set_part")
_SHORTEN = _sql.command("shorten")
_REFUSED = _sql.query("refused", _Refused)
_SET_REFUSED = _sql.command("set_refused")
_DROP_REFUSED = _sql.command("drop_refused")
_DROP_OWN_IDS = _sql.command("drop_own_ids")


async def lock(tx: Tx, tenant: Tenant) -> None:
    """Waits for an import that runs, so that what it refuses just now is found too."""
    await tx.lock(_LOCK, account_id=tenant.account_id)


async def erase(tx: Tx, tenant: Tenant, email: EmailAddress) -> None:
    """Removes the person's own lines. In other lines, cells that contain the address are
    emptied."""
    key = email.key
    # Narrows the search in the database. An address with other spellings is looked for in every
    # line.
    needle = key if _PLAIN.fullmatch(key) and "xn--" not in key else ""
    await erase_matching(tx, tenant, lambda found: found.key == key, needle=needle)


async def erase_own_ids(tx: Tx, tenant: Tenant, subscriber_id: str) -> None:
    """What the person is called in another tool, while a file from there is imported."""
    await tx.run(_DROP_OWN_IDS, account_id=tenant.account_id, subscriber_id=subscriber_id)


async def erase_matching(tx: Tx, tenant: Tenant, is_person: IsPerson, *, needle: str = "") -> None:
    """The same for everybody whom `is_person` recognizes by an address, in lines that contain
    `needle`."""
    account_id = tenant.account_id
    for part in await tx.all(_PARTS, account_id=account_id, needle=needle):
        lines = msgspec.json.decode(part.lines, type=list[tuple[int, list[str]]])
        column = _email_column(part.mapping)
        left = [
            (number, cells)
            for number, old in lines
            if (cells := _without(old, column, is_person)) is not None
        ]
        if left != lines:
            await tx.run(
                _SET_PART,
                account_id=account_id,
                import_id=part.import_id,
                n=part.n,
                lines=_json(left),
            )
            await tx.run(
                _SHORTEN, account_id=account_id, id=part.import_id, removed=len(lines) - len(left)
            )
    for row in await tx.all(_REFUSED, account_id=account_id, needle=needle):
        old = msgspec.json.decode(row.content, type=list[str])
        cells = _without(old, _email_column(row.mapping), is_person)
        place: dict[str, Any] = {
            "account_id": account_id,
            "import_id": row.import_id,
            "line": row.line,
        }
        if cells is None:
            await tx.run(_DROP_REFUSED, **place)
        elif cells != old:
            await tx.run(_SET_REFUSED, **place, content=_json(cells))


def _email_column(mapping: str) -> int | None:
    return msgspec.json.decode(mapping, type=dict[str, int]).get("email")


def _without(cells: list[str], email_column: int | None, is_person: IsPerson) -> list[str] | None:
    """The line without the address; None if it is the person's own."""
    naming = [n for n, cell in enumerate(cells) if _names(cell, is_person)]
    if naming and (email_column is None or email_column in naming):
        return None
    return ["" if n in naming else cell for n, cell in enumerate(cells)]


def _names(cell: str, is_person: IsPerson) -> bool:
    return "@" in cell and any(
        _is_address_of(word, is_person) for word in (cell, *_WORDS.findall(cell)) if "@" in word
    )


def _is_address_of(text: str, is_person: IsPerson) -> bool:
    try:
        return is_person(EmailAddress.parse(text))
    except Invalid:
        return False


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
