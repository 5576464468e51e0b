"""What the rules want to know about a signup: who else came with the code, and who referred
whom.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from disposable_email_domains import blocklist

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.screening import evidence, rules, screening_lists
from honeyguide.screening.screening_lists import ListMatch
from honeyguide.screening.signals import SUSPICIOUS_POINTS, SignalFinding, points
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import campaigns, referral_states
from honeyguide.subscribers.origins import Origin
from honeyguide.subscribers.subscribers import Subscriber


class Person(NamedTuple):
    """The person who signs up."""

    email: EmailAddress
    keys: list[str]
    """Keyed hashes that outlive the person's data: that of today first."""
    ip_network: str | None


class Referrer(NamedTuple):
    """The subscriber behind a code, and what of their campaign a signup needs to know."""

    id: str
    ref_code: str
    """Theirs of ours, whichever of their codes somebody came with."""
    email: str
    person_key: str
    referrer_id: str | None
    network: str | None
    received_ms: int
    screening: str
    hold_days: int
    has_rewards: bool
    is_first: bool
    """Whether the campaign had no referral yet."""
    sends_friend_emails: bool
    """Whether the referrer may get an email about this one."""
    has_lists: bool
    """Whether the campaign has a block list or an allow list."""


class OnCode(NamedTuple):
    last_hour: int
    from_network: int


_DISPOSABLE: frozenset[str] = frozenset(blocklist)

_sql = beside(__file__)
_CLOSES_LOOP = _sql.value("closes_loop", int)
_ON_CODE = _sql.query("on_code", OnCode)


def is_disposable(domain: str) -> bool:
    """Whether a public list has the domain, or one that it is a subdomain of, as a service for
    disposable mailboxes."""
    while domain:
        if domain in _DISPOSABLE:
            return True
        domain = domain.partition(".")[2]
    return False


async def closes_loop(at: Reading, above_id: str | None, keys: Sequence[str]) -> bool:
    """Whether one of those who referred the referrer (`above_id` and everyone above them) is this
    person."""
    if above_id is None:
        return False
    return bool(await at.one(_CLOSES_LOOP, referrer_id=above_id, person_keys=list(keys)))


async def on_code(at: Reading, code: str, network: str | None, until_ms: int) -> OnCode:
    """Signups with this code in the last hour, and from this IP network in the last day."""
    found = await at.one(
        _ON_CODE,
        code=code,
        network=network,
        hour_ago_ms=until_ms - HOUR_MS,
        day_ago_ms=until_ms - DAY_MS,
        until_ms=until_ms,
    )
    return found or OnCode(0, 0)


async def judge_referral(
    change: Change,
    referrer: Referrer,
    person: Person,
    *,
    status: str,
    needs_confirmation: bool,
    found: Sequence[SignalFinding] = (),
) -> rules.Decision:
    """Gathers what the rules need to know, and no more than the campaign's screening level asks
    for. `found` is the evidence about the signup."""
    now_ms = change.now_ms
    loop = await closes_loop(change, referrer.referrer_id, person.keys)
    same_network, same_code = False, OnCode(0, 0)
    if referrer.screening != referral_states.Level.FLEXIBLE:
        recent = now_ms - referrer.received_ms < DAY_MS
        same_network = (
            recent and person.ip_network is not None and person.ip_network == referrer.network
        )
        same_code = await on_code(change, referrer.ref_code, person.ip_network, now_ms)
    listed = referrer_listed = ListMatch.NOWHERE
    if referrer.has_lists:
        listed, referrer_listed = await _look_up_both(change, person, referrer)
    signals = rules.Signals(
        email=person.email,
        referrer_emails=(EmailAddress(referrer.email),),
        disposable=is_disposable(person.email.domain),
        loop=loop,
        same_network_as_referrer=same_network,
        signups_from_network_today=same_code.from_network + 1,
        signups_on_code_last_hour=same_code.last_hour + 1,
        unsubscribed=status == "unsubscribed",
        confirmed=status == "confirmed",
        is_blocked=listed is ListMatch.BLOCKED,
        is_allowed=listed is ListMatch.ALLOWED,
        is_referrer_blocked=referrer_listed is ListMatch.BLOCKED,
        points=points(found),
    )
    policy = referral_states.ScreeningPolicy(
        referrer.screening, referrer.hold_days, needs_confirmation
    )
    return rules.decide(signals, policy, now_ms)


async def on_evidence(change: Change, subscriber: Subscriber) -> rules.Decision | None:
    """What becomes of somebody's pending referral by a subscriber, if the evidence about it is now
    enough."""
    if not Origin(subscriber.origin).is_hosted or subscriber.referrer_id is None:
        return None
    items = await evidence.of_subscriber(change, subscriber.id)
    if points(evidence.findings(items)) < SUSPICIOUS_POINTS:
        return None
    campaign = await change.fact(campaigns.get)
    return rules.on_evidence(
        subscriber.referral_status,
        subscriber.referral_reason,
        subscriber.referral_due_ms,
        referral_states.ScreeningPolicy(campaign.screening),
        change.now_ms,
    )


async def _look_up_both(
    change: Change, person: Person, referrer: Referrer
) -> tuple[ListMatch, ListMatch]:
    """Which list has the person who signs up, and which has the referrer."""
    email = EmailAddress(referrer.email)
    keys = change.site.person_keys(email)
    found = await screening_lists.find(change, [*person.keys, *keys], [person.email, email])
    return (
        screening_lists.judge(found, person.keys, person.email, person.ip_network),
        screening_lists.judge(found, keys, email),
    )


async def is_allowed(change: Change, subscriber: Subscriber) -> bool:
    """Whether the owner's allow list has them."""
    email = EmailAddress(subscriber.email)
    person = Person(email, change.site.person_keys(email), ip_network_of(subscriber.ip_address))
    return await look_up(change, person) is ListMatch.ALLOWED


async def look_up(at: Reading, person: Person) -> ListMatch:
    """Which list has this person."""
    found = await screening_lists.find(at, person.keys, [person.email])
    return screening_lists.judge(found, person.keys, person.email, person.ip_network)
