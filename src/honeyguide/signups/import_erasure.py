"""Removes an erased person from stored import files: from lines that wait, from lines that are kept
to compare the result with, and from lines that were refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.store.change import Change
from honeyguide.store.statements import beside

IsPerson = Callable[[EmailAddress], bool]
# A line as it is to be, by the columns of its fields; None if it is to be deleted.
Rewrite = Callable[[dict[str, int], list[str]], list[str] | None]

_REFERRERS = ("referrer", "referrer_code", "claimed_code")

# What may be an email address in a cell such as `Ann Lee <ann@example.org>`.
_WORDS = re.compile(r"[^\s<>()\[\]\",;:]+")
# Addresses that look the same in JSON, in whatever case they were typed.
_PLAIN = re.compile(r"[a-z0-9!#$%&'*+/=?^_`{|}~.@-]+", re.ASCII)


class _Part(NamedTuple):
    import_id: str
    mapping: dict[str, int]
    n: int
    lines: list[tuple[int, list[str]]]


class _Refused(NamedTuple):
    import_id: str
    mapping: dict[str, int]
    line: int
    content: list[str]


_sql = beside(__file__)
_LOCK = _sql.value("lock", str)
_PARTS = _sql.query("parts", _Part)
_SET_PART = _sql.command("set_part")
_SHORTEN = _sql.command("shorten")
_REFUSED = _sql.query("refused", _Refused)
_SET_REFUSED = _sql.command("set_refused")
_DROP_REFUSED = _sql.command("drop_refused")
_DROP_OWN_IDS = _sql.command("drop_own_ids")


async def lock(change: Change) -> None:
    """Waits for an import that runs, so that what it refuses just now is found too."""
    await change.lock(_LOCK)


async def erase(change: Change, email: EmailAddress) -> None:
    """Removes the person's own lines. In other lines, cells that contain the address are
    emptied."""
    key = email.key
    await erase_matching(change, lambda found: found.key == key, needle=_needle(key))


async def follow_address(change: Change, old: EmailAddress, new: EmailAddress) -> None:
    """An address that its subscriber gave up: an erasure later on looks for the new one. So files
    that were imported, and lines that were refused, forget it. A file that waits to be started
    gets the new one, or it would bring the old one back."""

    def is_old(found: EmailAddress) -> bool:
        return found.key == old.key

    needle, rewrite = _needle(old.key), _without_person(is_old)
    await _rewrite_parts(change, rewrite, needle=needle, status="done")
    await _rewrite_refused(change, rewrite, needle=needle)
    await _rewrite_parts(change, _with_address(is_old, new.text), needle=needle, status="new")


async def erase_codes(change: Change, codes: Iterable[str]) -> None:
    """Empties cells that name the person as somebody's referrer by a code, which may be a name."""
    for code in {code.lower() for code in codes}:
        await _rewrite_parts(change, _without_referrer(code), needle=code)


def _needle(key: str) -> str:
    """Narrows the search in the database. An address with other spellings is looked for in every
    line."""
    return key if _PLAIN.fullmatch(key) and "xn--" not in key else ""


async def erase_own_ids(change: Change, subscriber_id: str) -> None:
    """What the person is called in another tool, while a file from there is imported."""
    await change.run(_DROP_OWN_IDS, subscriber_id=subscriber_id)


async def erase_matching(change: Change, is_person: IsPerson, *, needle: str = "") -> None:
    """The same for everybody whom `is_person` recognizes by an address, in lines that contain
    `needle`."""
    await _rewrite_parts(change, _without_person(is_person), needle=needle)
    await _rewrite_refused(change, _without_person(is_person), needle=needle)


async def _rewrite_refused(change: Change, rewrite: Rewrite, *, needle: str) -> None:
    account_id = change.tenant.account_id
    for row in await change.all(_REFUSED, needle=needle):
        cells = rewrite(row.mapping, row.content)
        place: dict[str, Any] = {
            "account_id": account_id,
            "import_id": row.import_id,
            "line": row.line,
        }
        if cells is None:
            await change.run(_DROP_REFUSED, **place)
        elif cells != row.content:
            await change.run(_SET_REFUSED, **place, content=_json(cells))


async def _rewrite_parts(
    change: Change, rewrite: Rewrite, *, needle: str, status: str = ""
) -> None:
    for part in await change.all(_PARTS, needle=needle, status=status):
        left = [
            (number, cells)
            for number, old in part.lines
            if (cells := rewrite(part.mapping, old)) is not None
        ]
        if left != part.lines:
            await change.run(_SET_PART, import_id=part.import_id, n=part.n, lines=_json(left))
            if removed := len(part.lines) - len(left):
                await change.run(_SHORTEN, id=part.import_id, removed=removed)


def _without_person(is_person: IsPerson) -> Rewrite:
    """The line without the address; None if it is the person's own."""

    def rewrite(mapping: dict[str, int], cells: list[str]) -> list[str] | None:
        email_column = mapping.get("email")
        naming = [n for n, cell in enumerate(cells) if _names(cell, is_person)]
        if naming and (email_column is None or email_column in naming):
            return None
        return ["" if n in naming else cell for n, cell in enumerate(cells)]

    return rewrite


def _with_address(is_old: IsPerson, new: str) -> Rewrite:
    def renewed(word: re.Match[str]) -> str:
        return new if _is_address_of(word[0], is_old) else word[0]

    def rewrite(mapping: dict[str, int], cells: list[str]) -> list[str]:
        return [
            (new if _is_address_of(cell, is_old) else _WORDS.sub(renewed, cell))
            if _names(cell, is_old)
            else cell
            for cell in cells
        ]

    return rewrite


def _without_referrer(code: str) -> Rewrite:
    def rewrite(mapping: dict[str, int], cells: list[str]) -> list[str]:
        places = {mapping.get(field) for field in _REFERRERS}
        return [
            "" if n in places and cell.strip().lower() == code else cell
            for n, cell in enumerate(cells)
        ]

    return rewrite


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
