"""Why a referral is what it is: what was known at the signup, which rule decided, and what would
change it. Derived from the rows each time, so that nothing more has to be stored about anybody.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel import clock
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.screening import evidence, moves, screening
from honeyguide.screening.evidence import EvidenceItem
from honeyguide.store.reading import Reading
from honeyguide.subscribers import campaigns, reasons, referral_decisions, subscribers
from honeyguide.subscribers.reasons import SCREENING_HOLD_DAYS, Reason, facts_of
from honeyguide.subscribers.referral_decisions import ReferralDecision
from honeyguide.subscribers.referral_states import Status
from honeyguide.subscribers.subscribers import Subscriber


class StoredSignals(NamedTuple):
    """What screening looks at, as it stood when this person arrived."""

    own_address: bool
    alias_of_referrer: bool
    referral_loop: bool
    disposable_domain: bool
    same_network_as_referrer: bool
    signups_from_network_that_day: int
    signups_on_code_that_hour: int


class Explained(NamedTuple):
    subscriber: Subscriber
    referrer_id: str | None
    reason: str | None
    explanation: str
    signals: StoredSignals
    rule: str
    what_would_change_it: str
    evidence: list[EvidenceItem]
    decisions: list[ReferralDecision]
    """The decisions that changed the status, with actor, time and reason; the last one explains the
    status of today. Empty if it never changed since the signup, or if an older version decided."""


async def explain(at: Reading, id_or_email: str) -> Explained:
    subscriber = await at.fact(subscribers.get, id_or_email)
    if subscriber.referrer_code is None:
        raise Missing(moves.UNREFERRED, code="not_referred")
    referrer = None
    if subscriber.referrer_id:
        referrer = await at.fact(subscribers.find, subscriber.referrer_id)
    signals = await _signals(at, subscriber, referrer)
    level = ""
    if facts_of(subscriber.referral_reason).is_suspicion:
        level = (await at.fact(campaigns.get)).screening
    return Explained(
        subscriber=subscriber,
        referrer_id=subscriber.referrer_id,
        reason=subscriber.referral_reason,
        explanation=_explanation(subscriber),
        signals=signals,
        rule=_rule(subscriber, level),
        what_would_change_it=_what_would_change_it(subscriber),
        evidence=await evidence.of_subscriber(at, subscriber.id),
        decisions=await referral_decisions.of_subscriber(at, subscriber.id),
    )


async def _signals(at: Reading, s: Subscriber, referrer: Subscriber | None) -> StoredSignals:
    network = ip_network_of(s.ip_address)
    on_code = await screening.on_code(at, s.referrer_code or "", network, s.received_ms)
    email = EmailAddress(s.email)
    referrer_email = EmailAddress(referrer.email) if referrer else None
    own = referrer_email is not None and email.key == referrer_email.key
    same_person = referrer_email is not None and email.person == referrer_email.person
    near = referrer is not None and 0 <= s.received_ms - referrer.received_ms < clock.DAY_MS
    return StoredSignals(
        own_address=own,
        alias_of_referrer=same_person and not own,
        referral_loop=await screening.closes_loop(
            at, referrer.referrer_id if referrer else None, at.site.person_keys(email)
        ),
        disposable_domain=screening.is_disposable(email.domain),
        same_network_as_referrer=bool(
            near and network and referrer and network == ip_network_of(referrer.ip_address)
        ),
        signups_from_network_that_day=max(on_code.from_network, 1),
        signups_on_code_that_hour=max(on_code.last_hour, 1),
    )


def _explanation(s: Subscriber) -> str:
    if s.referral_reason is not None:
        return reasons.explain(s.referral_reason, s.referral_due_ms)
    if s.decided_ms is not None:
        return "Verified after its holding period or confirmation: no rule stopped it."
    return "Verified right away: no rule stopped it."


def _rule(s: Subscriber, level: str) -> str:
    if s.partner_campaign_id is not None:
        if facts_of(s.referral_reason).rule:
            return facts_of(s.referral_reason).rule
        return "They were referred by a partner, so the partner program decides."
    if s.referral_reason is None:
        return "No rule stopped it, so it counts."
    reason = Reason(s.referral_reason)
    if reason.facts.is_suspicion:
        now = f'The level is now "{level.capitalize()}".'
        if s.referral_status == Status.PENDING:
            days = SCREENING_HOLD_DAYS
            return f'"Strong" screening holds suspicious referrals for {days} days. {now}'
        return f'"Strict" screening rejects suspicious referrals. {now}'
    return reason.facts.rule or reason.sentence


def _what_would_change_it(s: Subscriber) -> str:
    if s.referral_status == Status.VERIFIED:
        return "Nothing: verified is final. Erasing the subscriber removes them from the count."
    if s.referral_status == Status.REJECTED:
        return "You can verify it manually."
    if facts_of(s.referral_reason).ends_as and s.referral_due_ms is not None:
        return f"It will be rejected on {clock.day(s.referral_due_ms)} unless you decide earlier."
    if s.referral_reason == Reason.AWAITING_CONFIRMATION or s.referral_due_ms is None:
        return (
            "It will be verified once they confirm, unless you decide earlier or they unsubscribe."
        )
    day = clock.day(s.referral_due_ms)
    return f"It will be verified on {day} unless you decide earlier or they unsubscribe."
