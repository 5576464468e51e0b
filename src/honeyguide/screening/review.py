"""Referrals that wait for a decision, in groups: those who came with one code and have the same in
common. That is the strongest group evidence about them, or else the reason why they wait. Groups
over a whole program are cards: the owner answers one with one click, whichever codes it has.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from honeyguide.kernel.paging import Page
from honeyguide.screening import evidence, trait_groups
from honeyguide.screening.evidence import EvidenceItem
from honeyguide.screening.shared_traits import TraitGroup
from honeyguide.screening.signals import Signal
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import referral_states, search
from honeyguide.subscribers.reasons import facts_of
from honeyguide.subscribers.search import Cursor

# The kinds of waiting referrals that can be grouped, as in `search.judged`.
REVIEW_LISTS = ("suspected", "pending")
# How many of the newest are grouped: so many keep the event loop busy for well under 100 ms.
NEWEST = 2_000
# What is shown of a group.
EMAILS_SHOWN = 5
VALUES_SHOWN = 3
_GROUP_SIGNALS = frozenset(
    signal.value for signal in Signal if signal.facts.is_group or signal is Signal.NO_FORM
)
_CARD_SIGNALS = frozenset(signal.value for signal in Signal if signal.facts.asks_owner)
# In "12 of 40 at example.org", the numbers change with every signup.
_COUNTS = re.compile(r"(?<![\w.@-])[0-9]+(?![\w.@-])")


class WaitingReferral(NamedTuple):
    id: str
    email: str
    referrer_code: str
    referrer_id: str | None
    partner_campaign_id: str | None
    reason: str | None
    due_ms: int | None
    ip_network: str | None
    """If that is the reason."""
    received_ms: int


class EvidenceLine(NamedTuple):
    sentence: str
    is_against: bool
    n: int
    """How many of the group it is about."""


class FeeAtArrival(NamedTuple):
    """Of a partner's referral: the fee, the program's limits and the moment, when it came."""

    fee_cents: int
    budget_cents: int
    cap_cents: int
    arrived_ms: int


class GroupReferrer(NamedTuple):
    """Without an email address if they were erased, or if it is a partner."""

    email: str | None
    name: str | None
    toward_rewards: int = 0


class ReviewGroup(NamedTuple):
    key: str
    members: list[WaitingReferral]
    """The newest first."""
    at_stake_cents: int
    """The fees of all of them, whether or not budget and cap can hold them."""
    fees: dict[str, list[FeeAtArrival]]
    """The same, one by one, of each partner campaign."""
    evidence: list[EvidenceLine]
    card: TraitGroup | None = None
    """If the owner may say that all of them look right."""
    other_parts: int = 0
    """How many other cards the same group has, over other partners."""
    referrer: GroupReferrer = GroupReferrer(None, None)

    @property
    def partner_ids(self) -> list[str]:
        """Of a card, those with a common owner."""
        return sorted({each.partner_campaign_id or "" for each in self.members} - {""})

    @property
    def code(self) -> str:
        return self.members[0].referrer_code

    @property
    def referrer_id(self) -> str | None:
        return self.members[0].referrer_id

    @property
    def partner_campaign_id(self) -> str | None:
        return self.members[0].partner_campaign_id

    @property
    def emails(self) -> list[str]:
        return [each.email for each in self.members[:EMAILS_SHOWN]]

    @property
    def first_ms(self) -> int:
        return self.members[-1].received_ms

    @property
    def last_ms(self) -> int:
        return self.members[0].received_ms

    @property
    def reasons(self) -> list[tuple[str | None, str | None]]:
        """Why they wait, each reason with the IP network that it is about."""
        return sorted({(each.reason, each.ip_network) for each in self.members}, key=str)

    @property
    def due_ms(self) -> int | None:
        """When the first of them is decided if nobody does."""
        return min((each.due_ms for each in self.members if each.due_ms is not None), default=None)

    @property
    def ending(self) -> int:
        """How many of those that have a date are then rejected. The others are verified."""
        dated = [each for each in self.members if each.due_ms is not None]
        return sum(bool(facts_of(each.reason).ends_as) for each in dated)

    @property
    def dated(self) -> int:
        return sum(each.due_ms is not None for each in self.members)


class _NamedReferrer(NamedTuple):
    id: str
    email: str | None
    name: str | None
    referrals_verified: int
    adjustments: int


_sql = beside(__file__)
_NEWEST = {kind: _sql.query(f"{kind}_newest", WaitingReferral) for kind in REVIEW_LISTS}
_OF_CODE = {kind: _sql.value(f"{kind}_of_code", str) for kind in REVIEW_LISTS}
_FEES = _sql.query("fees", lambda subscriber_id, *fee: (subscriber_id, FeeAtArrival(*fee)))
_TAKEN_IN = _sql.value("taken_in", str)
_REFERRERS = _sql.query("referrers", _NamedReferrer)


async def page_of_groups(at: Reading, kind: str, page: Page) -> tuple[list[ReviewGroup], int]:
    """Most dollars at stake first, then most referrals; and how many groups there are."""
    waiting = await _newest(at, kind)
    found, cards = await _about(at, waiting)
    if kind == REVIEW_LISTS[0]:
        # The owner decides about these with the partner's first look.
        taken_in = set(await at.all(_TAKEN_IN))
        waiting = [
            each
            for each in waiting
            if each.id not in cards or cards[each.id].part_id not in taken_in
        ]
        cards = {each.id: cards[each.id] for each in waiting if each.id in cards}
    paid = [each.id for each in waiting if each.partner_campaign_id is not None]
    fees = dict(await at.all(_FEES, ids=paid))
    groups = []
    for key, members in _grouped(waiting, found, cards).items():
        cents = sum(fees[each.id].fee_cents for each in members if each.id in fees)
        groups.append((-cents, -len(members), -members[0].received_ms, key, members))
    groups.sort()
    parts = Counter(each.trait for each in set(cards.values()))
    shown = []
    for cents, _, _, key, members in groups[page.skip : page.skip + page.per_page]:
        card = cards.get(members[0].id)
        shown.append(
            ReviewGroup(
                key,
                members,
                at_stake_cents=-cents,
                fees=_by_partner(members, fees),
                evidence=_lines([found[each.id] for each in members]),
                card=card,
                other_parts=parts[card.trait] - 1 if card else 0,
            )
        )
    return await _named(at, shown), len(groups)


async def members_of_group(at: Reading, kind: str, key: str) -> list[WaitingReferral]:
    """The newest first; none if nobody of the group waits any more."""
    waiting = await _newest(at, kind)
    found, cards = await _about(at, waiting)
    return _grouped(waiting, found, cards).get(key, [])


async def members_of_card(at: Reading, group_id: str) -> list[str]:
    """Whom the owner decides with one click."""
    waiting = await _newest(at, REVIEW_LISTS[0])
    _, cards = await _about(at, waiting)
    return [each.id for each in waiting if each.id in cards and cards[each.id].id == group_id]


async def _about(
    at: Reading, waiting: Sequence[WaitingReferral]
) -> tuple[dict[str, list[EvidenceItem]], dict[str, TraitGroup]]:
    """The evidence about each, and the group of those that wait in one that the owner answers."""
    found = await evidence.of_subscribers(at, [each.id for each in waiting])
    asked = [each for each in waiting if any(i.code in _CARD_SIGNALS for i in found[each.id])]
    partners = {each.partner_campaign_id for each in asked if each.partner_campaign_id}
    by_code = await trait_groups.of_partners(at, partners)
    cards = {}
    for each in asked:
        findings = {(i.code, _COUNTS.sub("", i.value or "")) for i in found[each.id]}
        for group in by_code.get(each.partner_campaign_id or "", ()):
            if (group.kind, _COUNTS.sub("", group.finding.value)) in findings:
                cards[each.id] = group._replace(partner_campaign_id="")
    return found, cards


async def _newest(at: Reading, kind: str) -> list[WaitingReferral]:
    return await at.all(_NEWEST[kind], newest=NEWEST)


def _by_partner(
    members: Iterable[WaitingReferral], fees: Mapping[str, FeeAtArrival]
) -> dict[str, list[FeeAtArrival]]:
    found: dict[str, list[FeeAtArrival]] = {}
    for each in members:
        if each.id in fees:
            found.setdefault(each.partner_campaign_id or "", []).append(fees[each.id])
    return found


def _grouped(
    waiting: list[WaitingReferral],
    found: Mapping[str, list[EvidenceItem]],
    cards: Mapping[str, TraitGroup],
) -> dict[str, list[WaitingReferral]]:
    """By a key that is the same for those who have the same in common."""
    shared = Counter((each.referrer_code, item.code) for each in waiting for item in found[each.id])
    groups: dict[tuple[str, str, str], list[WaitingReferral]] = {}
    for each in waiting:
        code = each.referrer_code
        about = [
            (item.points, shared[code, item.code], item.code, item.value or "")
            for item in found[each.id]
            if item.points > 0 and item.code in _GROUP_SIGNALS
        ]
        if each.id in cards:
            common = ("", cards[each.id].id, "")
        elif about:  # the strongest; of equals, what most of those with the same code have
            *_, signal, value = max(about)
            common = (code, signal, _COUNTS.sub("", value))
        else:
            common = (code, each.reason or "", each.ip_network or "")
        groups.setdefault(common, []).append(each)
    return {_key(common): members for common, members in groups.items()}


def _key(common: tuple[str, str, str]) -> str:
    """A digest, because it is in URLs and evidence may hold parts of email addresses."""
    return hashlib.sha256("\n".join(common).encode()).hexdigest()[:20]


def _lines(found: Iterable[list[EvidenceItem]]) -> list[EvidenceLine]:
    """One for each signal, what speaks against them first."""
    values: dict[str, Counter[str]] = {}
    points: dict[str, int] = {}
    for items in found:
        for each in items:
            values.setdefault(each.code, Counter())[each.value or ""] += 1
            points[each.code] = max(each.points, points.get(each.code, each.points))
    lines = []
    for code in sorted(values, key=lambda code: (-points[code], -values[code].total(), code)):
        most = [value for value, _ in values[code].most_common(VALUES_SHOWN) if value]
        more = len(values[code]) - VALUES_SHOWN
        value = "; ".join(most) + (f"; and {more} more" if more > 0 else "")
        item = EvidenceItem("", code, points[code], value, found_ms=0)
        lines.append(EvidenceLine(item.sentence, points[code] > 0, values[code].total()))
    return lines


async def _named(at: Reading, groups: list[ReviewGroup]) -> list[ReviewGroup]:
    ids = {group.referrer_id for group in groups} - {None}
    referrers = await at.all(_REFERRERS, ids=list(ids))
    by_id = {each.id: each for each in referrers}
    result = []
    for group in groups:
        referrer = by_id.get(group.referrer_id or "")
        named = GroupReferrer(
            referrer and referrer.email,
            referrer and referrer.name,
            referral_states.toward_rewards(referrer.referrals_verified, referrer.adjustments)
            if referrer
            else 0,
        )
        result.append(group._replace(referrer=named))
    return result


async def ids_of_code(
    at: Reading, kind: str, code: str, *, before: Cursor | None = None, most: int
) -> list[str]:
    """The waiting referrals of one code, newest first."""
    last_at, last_id = before or search.TOP
    return await at.all(_OF_CODE[kind], code=code, at=last_at, id=last_id, most=most)
