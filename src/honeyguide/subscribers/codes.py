"""Further codes of a subscriber, besides `ref_code`: those that came from another tool, and those
that somebody chose because they are easy to remember. They credit like the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, NamedTuple, Self

import msgspec

from honeyguide.events import change_log
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.public import doc
from honeyguide.kernel.site import Site
from honeyguide.store import Again
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Refusals
from honeyguide.subscribers import refused_words, subscribers
from honeyguide.subscribers.subscribers import Subscriber

LONGEST = 64
SHORTEST_CHOSEN = 3
MOST_CHOSEN = 3
CHOSEN_PER_MS = 365 * DAY_MS
_FORM = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST}}}", re.ASCII)


class CodeSource(StrEnum):
    label: str

    def __new__(cls, value: str, *texts: str) -> Self:
        source = str.__new__(cls, value)
        source._value_ = value
        (source.label,) = texts
        return source

    # Ours, `subscriber.ref_code`. It has no row in the table of further codes.
    ASSIGNED = "assigned", "Assigned by us"
    IMPORTED = "imported", "Imported"
    CHOSEN = "chosen", "Chosen"


class CodeFields(msgspec.Struct, frozen=True):
    """What callers may set."""

    code: (
        Annotated[
            str,
            doc(
                "Letters (A to Z), digits, hyphens and underscores.",
                "ann-lee",
                minLength=SHORTEST_CHOSEN,
                maxLength=LONGEST,
            ),
        ]
        | None
    ) = None


class SubscriberCode(NamedTuple):
    id: str
    code: str
    source: CodeSource
    created_ms: int


class CodeHolder(NamedTuple):
    """Those of these codes that are taken, and by whom."""

    code: str
    subscriber_id: str


class _Holder(NamedTuple):
    code: str
    folded: str
    ref_code: str


class CodeTaken(Invalid):
    def __init__(self) -> None:
        super().__init__(
            "{field} is already taken; choose another.", param="code", code="code_taken"
        )


_sql = beside(__file__)
_HOLDERS = _sql.query("holders", _Holder)
_HOLDERS_OF_ALL = _sql.query("holders_of_all", _Holder)
_OF_SUBSCRIBER = _sql.query("of_subscriber", SubscriberCode)
_OF_SUBSCRIBERS = _sql.query("of_subscribers", CodeHolder)
_TAKEN = _sql.query("taken", CodeHolder)
_TAKEN_IN_ANY_CASE = _sql.query("taken_in_any_case", CodeHolder)
_TAKEN_BY_OURS = _sql.query("taken_by_ours", CodeHolder)
_INSERT = _sql.command("insert")
_ADOPT = _sql.command("adopt")
_ERASE = _sql.command("erase")
# Of two who choose the same code at the same moment, the second waits for the first.
_TAKEN_MEANWHILE: Refusals = {
    "subscriber_code_chosen": CodeTaken,
    "subscriber_code_once": CodeTaken,
}


def is_code(text: str) -> bool:
    return _FORM.fullmatch(text) is not None


async def find_ref_code(at: Reading, code: str) -> str | None:
    """The `ref_code` of whoever has this further code: as it is written, else in any case if only
    one person's is meant."""
    if not is_code(code):
        return None
    holders = await at.all(_HOLDERS, code=code, folded=code.lower())
    return _meant(code, holders)


async def find_ref_codes(at: Reading, codes: Iterable[str]) -> dict[str, str]:
    """As `find_ref_code`, of many codes at once. Those that nobody has are left out."""
    asked = {code: code.lower() for code in codes if is_code(code)}
    by_folded: dict[str, list[_Holder]] = {}
    if asked:
        folded = list(set(asked.values()))
        for each in await at.all(_HOLDERS_OF_ALL, folded=folded):
            by_folded.setdefault(each.folded, []).append(each)
    meant = {code: _meant(code, by_folded.get(folded, ())) for code, folded in asked.items()}
    return {code: ref_code for code, ref_code in meant.items() if ref_code is not None}


def _meant(code: str, holders: Sequence[_Holder]) -> str | None:
    """Of those who have the code in any case."""
    exact = next((each for each in holders if each.code == code), None)
    only = holders[0] if len(holders) == 1 else None
    holder = exact or only
    return holder.ref_code if holder else None


async def of_subscriber(at: Reading, subscriber_id: str) -> list[SubscriberCode]:
    """The newest first."""
    return await at.all(_OF_SUBSCRIBER, subscriber_id=subscriber_id)


async def all_of(at: Reading, subscriber: Subscriber) -> list[SubscriberCode]:
    """Every code that credits them: further ones, the newest first, then ours."""
    return [*await of_subscriber(at, subscriber.id), _assigned(subscriber)]


async def shared(at: Reading, subscriber: Subscriber) -> SubscriberCode:
    """The one to show on their referral page: the newest that was chosen, else ours."""
    found = await all_of(at, subscriber)
    return next((each for each in found if each.source == CodeSource.CHOSEN), found[-1])


def link(site: Site, slug: str, code: SubscriberCode) -> str:
    """Only the campaign with this slug knows a further code."""
    if code.source == CodeSource.ASSIGNED:
        return site.reader_link(code.code)
    return site.campaign_link(slug, code.code)


def _assigned(subscriber: Subscriber) -> SubscriberCode:
    return SubscriberCode(
        subscriber.id, subscriber.ref_code, CodeSource.ASSIGNED, subscriber.created_ms
    )


async def of_subscribers(at: Reading, ids: Sequence[str]) -> dict[str, list[str]]:
    """The codes by subscriber, the oldest first. Those who have none are left out."""
    found: dict[str, list[str]] = {}
    for each in await at.all(_OF_SUBSCRIBERS, ids=list(ids)):
        found.setdefault(each.subscriber_id, []).append(each.code)
    return found


async def taken(change: Change, codes: Iterable[str]) -> dict[str, str]:
    """Who has which of these codes, by the code. Of an erased subscriber's, too: a code is never
    given to somebody else."""
    hashes = {_hash_of(change, code): code for code in codes}
    asked = list(hashes.values())
    folded = {code: code.lower() for code in asked}
    by_ours = await change.all(_TAKEN_BY_OURS, codes=list(set(folded.values())))
    ours = {each.code: each.subscriber_id for each in by_ours}
    found = {code: ours[each] for code, each in folded.items() if each in ours}
    for each in await change.all(_TAKEN, codes=[*asked, *hashes]):
        found[hashes.get(each.code, each.code)] = each.subscriber_id
    return found


async def adopt(change: Change, holders: Sequence[CodeHolder]) -> list[CodeHolder]:
    """Adds codes from another tool to their subscribers. Those that somebody else has already are
    returned and not added. A second time changes nothing."""
    held = await taken(change, [each.code for each in holders])
    refused, rows = [], []
    for each in holders:
        holder = held.setdefault(each.code, "")
        if not holder:
            held[each.code] = each.subscriber_id
            rows.append({"id": new_id(), "folded": each.code.lower(), **each._asdict()})
        elif holder != each.subscriber_id:
            refused.append(each)
    if rows:
        # A code that somebody takes at this very moment is found by a second look.
        taken_now = {"subscriber_code_once": Again}
        await change.run(_ADOPT, taken_now, rows=rows, source=CodeSource.IMPORTED.value)
    return refused


async def choose(change: Change, id_or_email: str, code: str) -> SubscriberCode:
    """A code that is easy to remember, for a subscriber who keeps all earlier ones. One that they
    have already, in any case, stays as it is."""
    code = _checked(code)
    subscriber = await subscribers.get_locked(change, id_or_email)
    theirs = await all_of(change, subscriber)
    for each in theirs:
        if each.code.lower() == code.lower():
            return each
    if await _is_taken_in_any_case(change, code):
        raise CodeTaken
    chosen = [each for each in theirs if each.source == CodeSource.CHOSEN]
    if sum(each.created_ms > change.now_ms - CHOSEN_PER_MS for each in chosen) >= MOST_CHOSEN:
        raise Invalid(
            "No more than {most} new codes a year. All earlier codes keep working.",
            param="code",
            code="too_many_codes",
            most=MOST_CHOSEN,
        )
    made = await add(change, subscriber.id, code, CodeSource.CHOSEN)
    before = {"code": chosen[0].code} if chosen else None
    await change_log.record(
        change, "subscriber.code_chosen", subscriber.id, before, {"code": made.code}
    )
    return made


def _checked(code: str) -> str:
    code = code.strip()
    if not is_code(code) or len(code) < SHORTEST_CHOSEN:
        raise Invalid(
            "{field} must be {least} to {most} letters (A to Z), digits, hyphens or underscores.",
            param="code",
            least=SHORTEST_CHOSEN,
            most=LONGEST,
        )
    if refused_words.is_reserved(code):
        raise Invalid("{field} is reserved; choose another.", param="code", code="code_reserved")
    if refused_words.is_rude(code):
        raise Invalid(
            "{field} contains a word that we do not allow; choose another.",
            param="code",
            code="code_refused",
        )
    return code


async def _is_taken_in_any_case(change: Change, code: str) -> bool:
    folded = [code.lower(), _hash_of(change, code.lower())]
    return bool(
        await change.all(_TAKEN_BY_OURS, codes=folded[:1])
        or await change.all(_TAKEN_IN_ANY_CASE, folded=folded)
    )


async def add(change: Change, subscriber_id: str, code: str, source: CodeSource) -> SubscriberCode:
    """The caller has seen that the code is free."""
    made = SubscriberCode(new_id(), code, source, change.now_ms)
    await change.run(
        _INSERT,
        taken=_TAKEN_MEANWHILE if source == CodeSource.CHOSEN else None,
        subscriber_id=subscriber_id,
        folded=code.lower(),
        **made._asdict(),
    )
    return made


async def erase(change: Change, subscriber_id: str) -> None:
    """A code may be somebody's name, so only a keyed hash of it stays."""
    for each in await of_subscriber(change, subscriber_id):
        if is_code(each.code):
            await change.run(
                _ERASE,
                id=each.id,
                hash=_hash_of(change, each.code),
                folded_hash=_hash_of(change, each.code.lower()),
            )


def _hash_of(change: Change, code: str) -> str:
    """No code looks like it: it has a sign that codes do not have."""
    return "#" + change.site.keyed_hash("code", f"{change.tenant.campaign_id} {code}")
