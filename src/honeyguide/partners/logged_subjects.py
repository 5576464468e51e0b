"""What the subjects and actors of logged changes are called now. Nothing is known of one that was
deleted or erased, nor of another account's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside


class SubjectName(NamedTuple):
    id: str
    name: str


_sql = beside(__file__)
_NAMES = _sql.query("names", SubjectName)


async def names_of(at: AccountReading, ids: Iterable[str]) -> dict[str, str]:
    ids_given = sorted({each for each in ids if each})
    found = await at.all(_NAMES, ids=ids_given) if ids_given else []
    return {each.id: each.name for each in found if each.name}
