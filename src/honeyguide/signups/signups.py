"""How people sign up, change, are decided on and erased, whoever referred them: the functions that
the edges call.

A referral by a subscriber is handled by `referrals` alone. A referral by a partner is decided here
when the person signs up, and settled (the event sent, the fee charged or not) in the transaction in
which it is verified.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from honeyguide.accounts import idempotency
from honeyguide.events import outbox
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.kernel.paging import Page
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import charges, links
from honeyguide.partners import rules as partner_rules
from honeyguide.partners.charges import PartnerReferral
from honeyguide.referrals import (
    cohorts,
    consents,
    lifecycle,
    notes,
    rules,
    saved_filters,
    screening,
    screening_lists,
    subscribers,
    tags,
)
from honeyguide.referrals.lifecycle import Changed, NewSubscriber, PartnerSignup, SubscriberChanges
from honeyguide.referrals.rules import Decision, Reason, Status
from honeyguide.referrals.screening import Person
from honeyguide.referrals.screening_lists import ListMatch
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.signups import erasures, import_erasure, signup_events
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class Arrival(NamedTuple):
    """What a signup asks before its first write."""

    needs_confirmation: int
    has_listener: int
    """Whether a webhook may want an event about it."""


class PartnerOfCode(NamedTuple):
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
    screening: str
    already_here: int
    has_lists: int


class ListedReferral(NamedTuple):
    id: str
    subscriber_id: str
    email: str | None
    name: str | None
    partner_campaign_id: str
    partner_name: str
    status: str
    reason: str | None
    due_ms: int | None
    fee_cents: int
    charged_cents: int | None
    charged_month: str | None
    uncharged_reason: str | None
    arrived_ms: int
    decided_ms: int | None


class SentBy(NamedTuple):
    """Which partner sent a person to which program, and what that costs or why nothing."""

    program_id: str
    publication_name: str
    partner_name: str
    fee_cents: int
    charged_cents: int | None
    charged_month: str | None
    uncharged_reason: str | None
    decided_ms: int | None


_sql = beside(__file__)
_ARRIVAL = _sql.query("arrival", Arrival)
_SENT_BY = _sql.query("sent_by", SentBy)
_FIND_PARTNER = _sql.query("find_partner", PartnerOfCode)
_FROM_NETWORK = _sql.value("from_network", int)
_INSERT_REFERRAL = _sql.command("insert_referral")
_REFERRAL_OF = _sql.query("referral_of", PartnerReferral)
_DECIDED = _sql.command("decided")
_LOSE = _sql.command("lose")
_COUNT_DAY = _sql.command("count_day")
_COUNT_OF_PROGRAM = _sql.value("count_of_program", int)
_LIST_OF_PROGRAM = _sql.query("list_of_program", ListedReferral)


async def sign_up(
    tx: Tx,
    site: Site,
    tenant: Tenant,
    new: NewSubscriber,
    *,
    email: EmailAddress | None = None,
    now_ms: int,
) -> Subscriber:
    """A new subscriber, referred by nobody, by another subscriber or by a partner.

    A caller that has parsed `new.email` already passes it as `email`.
    """
    email = email or EmailAddress.parse(new.email)
    arrival = await _look(tx, tenant, new)
    subscriber, referral = await _add(tx, site, tenant, new, arrival, email=email, now_ms=now_ms)
    if arrival.has_listener:
        await signup_events.signed_up(tx, site, tenant, subscriber, now_ms=now_ms)
    if referral is not None:
        await _settle(tx, site, tenant, referral, subscriber, now_ms=now_ms)
    return subscriber


async def _look(tx: Tx, tenant: Tenant, new: NewSubscriber) -> Arrival:
    if new.origin == signup_events.IMPORT and not new.referrer_code:
        # Nothing depends on it, and the many lines of an import are written together, without a
        # read in between.
        return Arrival(needs_confirmation=0, has_listener=0)
    found = await tx.one(_ARRIVAL, **tenant._asdict())
    assert found is not None  # the tenant was found by its campaign
    return found


async def _add(
    tx: Tx,
    site: Site,
    tenant: Tenant,
    new: NewSubscriber,
    arrival: Arrival,
    *,
    email: EmailAddress,
    now_ms: int,
) -> tuple[Subscriber, PartnerReferral | None]:
    """The subscriber, and the partner's referral if a partner sent them."""
    sign_up = partial(
        lifecycle.sign_up,
        tx,
        site,
        tenant,
        new,
        email=email,
        needs_confirmation=bool(arrival.needs_confirmation),
        now_ms=now_ms,
    )
    code = links.partner_code(new.referrer_code)
    if code is None:
        return await sign_up(), None
    person_key = site.person_key(email)
    partner = await tx.one(
        _FIND_PARTNER, code=code, account_id=tenant.account_id, person_key=person_key
    )
    if partner is None:
        return await sign_up(), None
    person = Person(email, person_key, ip_network_of(new.ip_address))
    must_confirm = rules.must_confirm(
        origin=new.origin, status=new.status, needs_confirmation=bool(arrival.needs_confirmation)
    )
    verdict = await _judge(
        tx, tenant, partner, person, new, code=code, must_confirm=must_confirm, now_ms=now_ms
    )
    partner_signup = PartnerSignup(code, partner.id, verdict)
    subscriber = await sign_up(partner=partner_signup)
    referral = PartnerReferral(
        id=new_id(),
        account_id=tenant.account_id,
        partner_account_id=partner.account_id,
        program_id=partner.program_id,
        partner_campaign_id=partner.id,
        subscriber_id=subscriber.id,
        person_key=person_key,
        fee_cents=partner.cpa_cents,
    )
    decided_ms = None if verdict.status == Status.PENDING else now_ms
    await tx.put(_INSERT_REFERRAL, **referral._asdict(), now_ms=now_ms, decided_ms=decided_ms)
    return subscriber, referral


async def _judge(
    tx: Tx,
    tenant: Tenant,
    partner: PartnerOfCode,
    person: Person,
    new: NewSubscriber,
    *,
    code: str,
    must_confirm: bool,
    now_ms: int,
) -> Decision:
    from_network: int | None = 0
    if partner.screening != rules.Level.FLEXIBLE and person.ip_network is not None:
        from_network = await tx.one(
            _FROM_NETWORK,
            campaign_id=tenant.campaign_id,
            code=code,
            network=person.ip_network,
            day_ago_ms=now_ms - DAY_MS,
        )
    listed = ListMatch.NOWHERE
    if partner.has_lists:
        listed = await screening.look_up(tx, tenant, person)
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
        is_on=bool(partner.enabled_partner_program),
        is_already_subscribed=bool(partner.already_here),
        must_confirm=must_confirm,
        hold_days=partner.referral_pending_duration
        if partner.referral_pending_duration_enabled
        else 0,
        screened=rules.decide(signals, rules.ScreeningPolicy(partner.screening), now_ms),
        now_ms=now_ms,
    )


async def change(
    tx: Tx, site: Site, tenant: Tenant, id_or_email: str, changes: SubscriberChanges, *, now_ms: int
) -> Subscriber:
    """Name, email, status; a status may decide the referral."""
    changed = await lifecycle.change(tx, site, tenant, id_or_email, changes, now_ms=now_ms)
    return await _settle_if_decided(tx, site, tenant, changed, now_ms=now_ms)


async def decide(
    tx: Tx, site: Site, tenant: Tenant, id_or_email: str, new_status: str, *, by: str, now_ms: int
) -> Subscriber:
    """`verified` or `rejected`, by hand."""
    changed = await lifecycle.decide(
        tx, site, tenant, id_or_email, new_status, by=by, now_ms=now_ms
    )
    return await _settle_if_decided(tx, site, tenant, changed, now_ms=now_ms)


async def verify_due(
    tx: Tx, site: Site, tenant: Tenant, subscriber_id: str, *, now_ms: int
) -> Subscriber | None:
    """One referral whose hold has run out."""
    changed = await lifecycle.verify_due(tx, site, tenant, subscriber_id, now_ms=now_ms)
    return (
        None
        if changed is None
        else await _settle_if_decided(tx, site, tenant, changed, now_ms=now_ms)
    )


async def _settle_if_decided(
    tx: Tx, site: Site, tenant: Tenant, changed: Changed, *, now_ms: int
) -> Subscriber:
    """Emits the events of a change, and settles a partner's referral when it becomes verified or
    rejected."""
    await signup_events.changed(tx, site, tenant, changed, now_ms=now_ms)
    moved = changed.before.referral_status != changed.after.referral_status
    if moved and changed.after.partner_campaign_id is not None:
        referral = await tx.one(
            _REFERRAL_OF, account_id=tenant.account_id, subscriber_id=changed.after.id
        )
        if referral is not None:
            await tx.put(_DECIDED, account_id=tenant.account_id, id=referral.id, now_ms=now_ms)
            await _settle(tx, site, tenant, referral, changed.after, now_ms=now_ms)
    return changed.after


async def _settle(
    tx: Tx,
    site: Site,
    tenant: Tenant,
    referral: PartnerReferral,
    subscriber: Subscriber,
    *,
    now_ms: int,
) -> None:
    """Emits the events, charges the fee and counts the day. Contended locks come last."""
    if subscriber.referral_status == Status.PENDING:
        return
    is_verified = subscriber.referral_status == Status.VERIFIED
    if is_verified:
        await signup_events.new_partner_referral(
            tx, site, tenant, referral, subscriber, now_ms=now_ms
        )
        await charges.charge(tx, referral, now_ms=now_ms)
    await tx.put(
        _COUNT_DAY,
        program_id=referral.program_id,
        account_id=tenant.account_id,
        day=now_ms // DAY_MS,
        verified=int(is_verified),
        rejected=int(not is_verified),
    )


async def page_of_program(
    tx: Tx, account_id: str, program_id: str, page: Page
) -> tuple[list[ListedReferral], int]:
    """Everyone that partners referred to a program, newest first."""
    mine: dict[str, Any] = {"account_id": account_id, "program_id": program_id}
    total = await tx.one(_COUNT_OF_PROGRAM, **mine) or 0
    return await tx.all(_LIST_OF_PROGRAM, **mine, most=page.per_page, skip=page.skip), total


async def find_sender(tx: Tx, account_id: str, subscriber_id: str) -> SentBy | None:
    """The partner behind a subscriber, for the owner of the program. None without a partner."""
    return await tx.one(_SENT_BY, account_id=account_id, subscriber_id=subscriber_id)


async def erase(tx: Tx, tenant: Tenant, id_or_email: str, *, now_ms: int) -> None:
    """Charges stay, and the keyed hash that stays with them prevents a second one. A pending
    referral can no longer be confirmed, so it is rejected as if the subscriber had left."""
    await import_erasure.lock(tx, tenant)  # before any subscriber, as an import does
    subscriber = await subscribers.get_locked(tx, tenant, id_or_email)
    await erasures.record(tx, tenant, subscriber.id, now_ms=now_ms)
    await import_erasure.erase(tx, tenant, EmailAddress(subscriber.email))
    referral = None
    if subscriber.partner_campaign_id is not None:
        referral = await tx.one(
            _REFERRAL_OF, account_id=tenant.account_id, subscriber_id=subscriber.id
        )
    if referral is not None and subscriber.referral_status == Status.PENDING:
        await tx.run(
            _LOSE,
            account_id=tenant.account_id,
            campaign_id=tenant.campaign_id,
            id=subscriber.id,
            reason=Reason.LEFT_DURING_HOLD,
            now_ms=now_ms,
        )
        await tx.put(_DECIDED, account_id=tenant.account_id, id=referral.id, now_ms=now_ms)
        await tx.put(
            _COUNT_DAY,
            program_id=referral.program_id,
            account_id=tenant.account_id,
            day=now_ms // DAY_MS,
            verified=0,
            rejected=1,
        )
    await lifecycle.erase(tx, tenant, subscriber.id, now_ms=now_ms)
    await consents.erase(tx, tenant, subscriber.id)
    await tags.erase(tx, tenant, subscriber.id)
    await notes.erase(tx, tenant, subscriber.id)
    await saved_filters.erase(tx, tenant, subscriber)
    await screening_lists.erase(tx, tenant, subscriber.id)
    claims = [subscriber.utm_source, subscriber.utm_campaign]
    await cohorts.erase(tx, tenant, subscriber.created_ms, claims)
    if referral is not None and referral.partner_account_id != tenant.account_id:
        # The partner's event names nobody, but what the partner's server answered to it may.
        await outbox.erase(tx, referral.partner_account_id, subscriber.id)
        await idempotency.forget(tx, referral.partner_account_id, subscriber.id)
