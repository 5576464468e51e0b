"""Referrals by partners whose program has verification settings: what they must meet, and what they
are now.
"""

from __future__ import annotations

from honeyguide.kernel.clock import day
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.mail import emails
from honeyguide.screening import evidence, rules, screening, signals, trait_groups
from honeyguide.screening.evidence import GROUP
from honeyguide.screening.rules import Decision, ReferralStanding, ReferralTerms
from honeyguide.screening.signals import Signal, SignalFinding
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import Statement, beside
from honeyguide.subscribers.origins import FROM_OWN_LIST
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.referral_states import Level, Status
from honeyguide.subscribers.subscribers import Subscriber

_sql = beside(__file__)
_TERMS: Statement[ReferralTerms] = _sql.query("terms", ReferralTerms)
_PERSON_KEYS = _sql.value("person_keys", str)
_CONFIRMED_KEY = _sql.value("confirmed_key", str)


async def of_subscriber(at: Reading, subscriber_id: str) -> ReferralTerms | None:
    return await at.one(_TERMS, subscriber_id=subscriber_id)


async def decide(change: Change, subscriber: Subscriber, *, is_confirmed: bool) -> Decision | None:
    """What a pending referral is now. None if it is not pending, if it has no terms, or if the
    owner ended it."""
    if subscriber.referral_status != Status.PENDING or subscriber.partner_campaign_id is None:
        return None
    if subscriber.referral_reason == Reason.PARTNER_REMOVED:
        return None
    found = await change.fact(of_subscriber, subscriber.id)
    if found is None:
        return None
    known, is_busy = await look_again(change, subscriber, found)
    if found.was_allowed or await screening.is_allowed(change, subscriber):
        known, is_busy = [each for each in known if each.points < 0], False
    if is_confirmed and subscriber.origin in FROM_OWN_LIST:
        # They confirmed there, as the list says now.
        known = [each for each in known if each.signal is not Signal.NO_FORM]
    now = standing(known, is_confirmed=is_confirmed, is_new_and_busy=is_busy)
    return rules.decide_on_terms(found, now, change.now_ms)


async def look_again(
    change: Change, subscriber: Subscriber, found: ReferralTerms
) -> tuple[list[SignalFinding], bool]:
    """All evidence about the referral, with what its group says at this moment; and whether its
    code is new and busy."""
    if found.level == Level.FLEXIBLE:
        items = await evidence.of_subscriber(change, subscriber.id)
        return evidence.findings(items), False
    code = subscriber.referrer_code
    assert code is not None
    half = GROUP // 2
    group = await evidence.group_of(
        change, code, at_ms=subscriber.received_ms, before=half, after=half
    )
    by_group = await trait_groups.find_signals(change, code, group)
    about = (await evidence.refresh(change, [subscriber.id], by_group))[subscriber.id]
    about += await _find_bounce(change, subscriber)
    is_busy = evidence.is_new_and_busy(group, subscriber.id, subscriber.received_ms)
    return about, is_busy


async def _find_bounce(change: Change, subscriber: Subscriber) -> list[SignalFinding]:
    """At an address that the person brought or confirmed: an owner can change it to any other.
    Emails are sent by a lower package, which knows nothing of referrals."""
    bounces = await emails.find_bounces(change, subscriber.id)
    own = set(await change.all(_PERSON_KEYS, subscriber_id=subscriber.id)) if bounces else set()
    for bounce in bounces:
        if own.intersection(change.site.person_keys(EmailAddress(bounce.mailbox))):
            found = [Signal.BOUNCED.found(day(bounce.bounced_ms))]
            await evidence.record(change, {subscriber.id: found})
            return found
    return []


async def has_bounced(at: Reading, subscriber_id: str) -> bool:
    """Whether an email of ours did, at the address that the person confirmed, or else brought."""
    bounces = await emails.find_bounces(at, subscriber_id)
    if not bounces:
        return False
    confirmed = await at.one(_CONFIRMED_KEY, subscriber_id=subscriber_id)
    own = {confirmed} if confirmed else set(await at.all(_PERSON_KEYS, subscriber_id=subscriber_id))
    keys = {key for each in bounces for key in at.site.person_keys(EmailAddress(each.mailbox))}
    return not own.isdisjoint(keys)


def standing(
    found: list[SignalFinding], *, is_confirmed: bool, is_new_and_busy: bool = False
) -> ReferralStanding:
    """A referral is watched if its code is new and busy, or if one more point would make it
    suspicious and it is not alone."""
    points = signals.points(found)
    is_alike = any(each.signal.facts.is_group and each.points > 0 for each in found)
    return ReferralStanding(
        is_confirmed=is_confirmed,
        is_active=any(each.points < 0 for each in found),
        points=points,
        asks_owner=any(each.signal.facts.asks_owner for each in found),
        has_no_form=any(each.signal is Signal.NO_FORM for each in found),
        is_watched=is_new_and_busy or (is_alike and points == signals.SUSPICIOUS_POINTS - 1),
    )
