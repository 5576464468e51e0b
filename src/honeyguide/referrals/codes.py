"""Further codes of a subscriber, besides `ref_code`: those that came from another tool, and those
that somebody chose because they are easy to remember. They credit like the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

LONGEST = 64
_FORM = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST}}}", re.ASCII)


class CodeSource(StrEnum):
    IMPORTED = "imported"
    CHOSEN = "chosen"


class SubscriberCode(NamedTuple):
    id: str
    code: str
    source: str
    created_ms: int


class CodeHolder(NamedTuple):
    """Who has a code already, of the codes that were asked about."""

    code: str
    subscriber_id: str


class _Holder(NamedTuple):
    code: str
    ref_code: str


_sql = beside(__file__)
_HOLDERS = _sql.query("holders", _Holder)
_OF_SUBSCRIBER = _sql.query("of_subscriber", SubscriberCode)
_TAKEN = _sql.query("taken", CodeHolder)
_TAKEN_BY_OURS = _sql.query("taken_by_ours", CodeHolder)
_INSERT = _sql.command("insert")
_ERASE = _sql.command("erase")


def is_code(text: str) -> bool:
    return _FORM.fullmatch(text) is not None


async def find_ref_code(tx: Tx, tenant: Tenant, code: str) -> str | None:
    """The `ref_code` of whoever has this further code: as it is written, else in any case if only
    one person's is meant."""
    if not is_code(code):
        return None
    holders = await tx.all(_HOLDERS, **tenant._asdict(), code=code, folded=code.lower())
    is_clear = len(holders) == 1 or (holders and holders[0].code == code)
    return holders[0].ref_code if is_clear else None


async def of_subscriber(tx: Tx, tenant: Tenant, subscriber_id: str) -> list[SubscriberCode]:
    """The newest first."""
    return await tx.all(_OF_SUBSCRIBER, **tenant._asdict(), subscriber_id=subscriber_id)


async def taken(change: Change, codes: Iterable[str]) -> dict[str, str]:
    """Who has which of these codes, by the code. Of an erased subscriber's, too: a code is never
    given to somebody else."""
    hashes = {_hash_of(change, code): code for code in codes}
    asked = list(hashes.values())
    found = {
        each.code: each.subscriber_id for each in await change.all(_TAKEN_BY_OURS, codes=asked)
    }
    for each in await change.all(_TAKEN, codes=[*asked, *hashes]):
        found[hashes.get(each.code, each.code)] = each.subscriber_id
    return found


async def adopt(change: Change, wanted: Sequence[CodeHolder]) -> list[CodeHolder]:
    """Adds codes from another tool to their subscribers. Those that somebody else has already are
    returned and not added. A second time changes nothing."""
    held = await taken(change, [each.code for each in wanted])
    refused = []
    for each in wanted:
        holder = held.setdefault(each.code, "")
        if not holder:
            held[each.code] = each.subscriber_id
            await add(change, each.subscriber_id, each.code, CodeSource.IMPORTED)
        elif holder != each.subscriber_id:
            refused.append(each)
    return refused


async def add(change: Change, subscriber_id: str, code: str, source: CodeSource) -> SubscriberCode:
    """The caller has seen that the code is free."""
    made = SubscriberCode(new_id(), code, source, change.now_ms)
    await change.run(
        _INSERT,
        subscriber_id=subscriber_id,
        folded=code.lower(),
        **made._asdict(),
    )
    return made


async def erase(change: Change, subscriber_id: str) -> None:
    """A code may be somebody's name, so only a keyed hash of it stays."""
    for each in await of_subscriber(change.tx, change.tenant, subscriber_id):
        if is_code(each.code):
            await change.run(_ERASE, id=each.id, hash=_hash_of(change, each.code))


def _hash_of(change: Change, code: str) -> str:
    """No code looks like it: it has a sign that codes do not have."""
    return "#" + change.site.keyed_hash("code", f"{change.tenant.campaign_id} {code}")
