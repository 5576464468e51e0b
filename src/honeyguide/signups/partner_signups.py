"""Signups that a partner sent: whose code it is, what the referral is worth, and its row."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.partners import links
from honeyguide.partners import rules as partner_rules
from honeyguide.partners.charges import PartnerReferral
from honeyguide.referrals import rules, screening
from honeyguide.referrals.lifecycle import NewSubscriber, PartnerSignup
from honeyguide.referrals.rules import Decision, Status
from honeyguide.referrals.screening import Person
from honeyguide.referrals.screening_lists import ListMatch
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.signups.consequence_writer import find_referral
from honeyguide.store.change import Change
from honeyguide.store.statements import beside


class PartnerOfCode(NamedTuple):
    code: str
    id: str
    account_id: str
    program_id: str
    partner_email: str
    cpa_cents: int
    referral_pending_duration: int
    referral_pending_duration_enabled: int
    deleted_ms: int | None
    publication_status: str
    publication_deleted_ms: int | None
    enabled_partner_program: int
    is_removed: int
    has_left: int
    screening: str
    already_here: int
    has_lists: int


_sql = beside(__file__)
_LOCK = _sql.value("lock", str)
_FIND = _sql.query("find", PartnerOfCode)
_FROM_NETWORK = _sql.value("from_network", int)
_INSERT = _sql.command("insert")


async def find(change: Change, new: NewSubscriber, email: EmailAddress) -> PartnerOfCode | None:
    """The partner behind the code that somebody came with. Whoever removes the partner, or leaves,
    waits until this signup is done, or this signup waits for them."""
    code = links.partner_code(new.referrer_code)
    if code is None or not await change.lock(_LOCK, "share", code=code):
        return None
    return await change.one(_FIND, code=code, person_key=change.site.person_key(email))


async def decide(
    change: Change,
    partner: PartnerOfCode,
    new: NewSubscriber,
    email: EmailAddress,
    *,
    needs_confirmation: bool,
) -> PartnerSignup:
    person = Person(email, change.site.person_key(email), ip_network_of(new.ip_address))
    must_confirm = rules.must_confirm(
        origin=new.origin, status=new.status, needs_confirmation=needs_confirmation
    )
    decision = await _judge(change, partner, person, new, must_confirm=must_confirm)
    return PartnerSignup(partner.code, partner.id, decision)


async def _judge(
    change: Change,
    partner: PartnerOfCode,
    person: Person,
    new: NewSubscriber,
    *,
    must_confirm: bool,
) -> Decision:
    now_ms = change.now_ms
    from_network: int | None = 0
    if partner.screening != rules.Level.FLEXIBLE and person.ip_network is not None:
        from_network = await change.one(
            _FROM_NETWORK, code=partner.code, network=person.ip_network, day_ago_ms=now_ms - DAY_MS
        )
    listed = ListMatch.NOWHERE
    if partner.has_lists:
        listed = await screening.look_up(change.tx, change.tenant, person)
    # A partner's newsletter sends hundreds within the hour, so a burst on their code is no signal.
    signals = rules.Signals(
        email=person.email,
        referrer_email=EmailAddress(partner.partner_email),
        disposable=screening.is_disposable(person.email.domain),
        signups_from_network_today=(from_network or 0) + 1,
        unsubscribed=new.status == "unsubscribed",
        is_blocked=listed is ListMatch.BLOCKED,
        is_allowed=listed is ListMatch.ALLOWED,
    )
    return partner_rules.decide_signup(
        is_archived=partner.publication_status != "active"
        or partner.publication_deleted_ms is not None,
        is_deleted=partner.deleted_ms is not None,
        is_removed=bool(partner.is_removed),
        has_left=bool(partner.has_left),
        is_on=bool(partner.enabled_partner_program),
        is_already_subscribed=bool(partner.already_here),
        must_confirm=must_confirm,
        hold_days=partner.referral_pending_duration
        if partner.referral_pending_duration_enabled
        else 0,
        screened=rules.decide(signals, rules.ScreeningPolicy(partner.screening), now_ms),
        now_ms=now_ms,
    )


async def record(
    change: Change, partner: PartnerOfCode, subscriber: Subscriber, email: EmailAddress
) -> None:
    referral = PartnerReferral(
        id=new_id(),
        account_id=change.tenant.account_id,
        partner_account_id=partner.account_id,
        program_id=partner.program_id,
        partner_campaign_id=partner.id,
        subscriber_id=subscriber.id,
        person_key=change.site.person_key(email),
        fee_cents=partner.cpa_cents,
    )
    change.know(find_referral, referral, subscriber.id)
    is_pending = subscriber.referral_status == Status.PENDING
    await change.put(
        _INSERT, **referral._asdict(), decided_ms=None if is_pending else change.now_ms
    )
