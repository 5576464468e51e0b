"""Signups that a partner sent: whose code it is, what the referral is worth, and its row."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import msgspec

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.partners import links, verification
from honeyguide.partners import rules as partner_rules
from honeyguide.partners.charges import PartnerReferral
from honeyguide.partners.verification import StoredVerification
from honeyguide.screening import evidence, rules, screening, visits
from honeyguide.screening.rules import Decision, ReferralTerms, Rule
from honeyguide.screening.screening import Person
from honeyguide.screening.screening_lists import ListMatch
from honeyguide.screening.signals import Signal, SignalFinding
from honeyguide.screening.terms import standing as standing_of
from honeyguide.screening.visits import ClickedLink
from honeyguide.signups.consequence_writer import find_referral
from honeyguide.signups.lifecycle import NewSubscriber, PartnerSignup
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.subscribers import referral_states
from honeyguide.subscribers.origins import Origin
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.referral_states import Level, Status
from honeyguide.subscribers.subscribers import Subscriber


class PartnerOfCode(StoredVerification, frozen=True):
    code: str
    id: str
    account_id: str
    program_id: str
    partner_emails: str
    """Of the account and of all its members, with spaces between."""
    is_own: bool
    cpa_cents: int
    total_budget_cents: int
    max_payout_cents: int
    referral_pending_duration: int
    referral_pending_duration_enabled: bool
    deleted_ms: int | None
    publication_status: str
    publication_deleted_ms: int | None
    enabled_partner_program: bool
    is_removed: bool
    has_left: bool
    person_key: str
    """Whom a charge is for."""
    already_here: bool
    has_lists: bool
    look_id: str | None
    """Of whoever has an owner in common with the partner; None if the program asks for no look."""
    is_look_overdue: bool = False
    """The owner has not looked, so the program is paused for the partner."""

    @property
    def hold_days(self) -> int:
        return self.referral_pending_duration if self.referral_pending_duration_enabled else 0

    @property
    def has_fee(self) -> bool:
        return self.cpa_cents > 0 and not self.is_own


class DecidedSignup(NamedTuple):
    signup: PartnerSignup
    terms: ReferralTerms | None
    found: list[SignalFinding]
    """The evidence."""
    without_stop: Decision | None
    """What it would be, if it was refused because its program or partner is stopped."""


_sql = beside(__file__)
_LOCK = _sql.value("lock", str)
_FIND = _sql.query("find", PartnerOfCode)
_IS_LOOK_OVERDUE = _sql.value("is_look_overdue", int)
_FROM_NETWORK = _sql.value("from_network", int)
_INSERT = _sql.command("insert")
_WITHOUT_STOP = _sql.value("without_stop", str)


async def find(change: Change, new: NewSubscriber, email: EmailAddress) -> PartnerOfCode | None:
    """The partner behind the code that somebody came with. Whoever removes the partner, or leaves,
    waits until this signup is done, or this signup waits for them."""
    code = links.partner_code(new.referrer_code)
    if code is None or not await change.lock(_LOCK, "share", code=code):
        return None
    person_keys = change.site.person_keys(email)
    found = await change.one(_FIND, code=code, person_key=person_keys[0], person_keys=person_keys)
    if found is None or found.look_id is None:
        return found
    overdue = await change.one(_IS_LOOK_OVERDUE, look_id=found.look_id)
    return msgspec.structs.replace(found, is_look_overdue=overdue is not None)


async def decide(
    change: Change,
    partner: PartnerOfCode,
    new: NewSubscriber,
    email: EmailAddress,
    *,
    needs_confirmation: bool,
) -> DecidedSignup:
    person = Person(email, change.site.person_keys(email), ip_network_of(new.ip_address))
    origin = Origin(new.origin)
    rule, level = verification.effective(partner, partner.campaign_level, origin)
    waits = visits.lacks_form(new.visit) and partner.has_fee
    has_terms = waits or verification.has_terms(partner, origin)
    must_confirm = (new.status == "active" and rule.needs_confirmation) or rules.must_confirm(
        origin=new.origin, status=new.status, needs_confirmation=needs_confirmation
    )
    signals = await _signals(change, partner, person, new, None if has_terms else level)
    found = await _find_evidence(change, partner, new)
    refusal = rules.find_certainty(signals)
    if partner.already_here:
        refusal = Reason.ALREADY_SUBSCRIBED
    terms = None
    if has_terms:
        terms = _terms(partner, rule, level, must_confirm=must_confirm, now_ms=change.now_ms)
        terms = replace(terms, was_allowed=signals.is_allowed)
    if refusal is not None:
        decision = Decision(Status.REJECTED, refusal)
    elif terms is not None:
        standing = standing_of([] if signals.is_allowed else found, is_confirmed=not must_confirm)
        decision = rules.decide_on_terms(terms, standing, change.now_ms)
        is_looked_at = level != Level.FLEXIBLE and not signals.is_allowed
        if decision.status == Status.VERIFIED and is_looked_at:
            # It is decided at this moment, so this is when the others with the code are looked at.
            by_group, is_busy = await evidence.look_at_new(
                change, partner.code, email, person.ip_network, partner_campaign_id=partner.id
            )
            found += by_group
            standing = standing_of(found, is_confirmed=not must_confirm, is_new_and_busy=is_busy)
            decision = rules.decide_on_terms(terms, standing, change.now_ms)
    else:
        decision = partner_rules.decide_signup(
            must_confirm=must_confirm,
            hold_days=partner.hold_days,
            screened=rules.decide(signals, referral_states.ScreeningPolicy(level), change.now_ms),
            now_ms=change.now_ms,
        )
    if decision.status == Status.VERIFIED and terms is not None and terms.look_id is not None:
        # The job that verifies referrals counts it within the owner's look at the partner.
        decision = Decision(Status.PENDING, Reason.HOLDING_PERIOD, change.now_ms)
    stop, without_stop = _find_stop(partner), None
    if stop is not None:
        decision, without_stop = Decision(Status.REJECTED, stop), decision
    signup = PartnerSignup(partner.code, partner.id, decision, must_confirm)
    return DecidedSignup(signup, terms, found, without_stop)


async def _find_evidence(
    change: Change, partner: PartnerOfCode, new: NewSubscriber
) -> list[SignalFinding]:
    """About the signup alone. Where no fee is paid, there is nothing to ask the owner."""
    found: list[SignalFinding] = []
    origin = Origin(new.origin)
    if new.visit is not None:
        link = ClickedLink(partner.id, partner.code)
        found = await visits.find_evidence(change, new.visit, link)
    elif new.status == "active" and verification.waits_for_owner(partner, origin):
        found = [Signal.NO_FORM.found(origin.joined)]
    return [each for each in found if partner.has_fee or each.signal is not Signal.NO_FORM]


async def decide_without_stop(change: Change, subscriber: Subscriber) -> Decision | None:
    """What somebody who was refused because of a stop would have become when they came, unless
    there is another stop. None without a partner."""
    new = NewSubscriber(email=subscriber.email, referrer_code=subscriber.referrer_code)
    partner = await find(change, new, EmailAddress(subscriber.email))
    if partner is None:
        return None
    stop = _find_stop(partner)
    if stop is not None:
        return Decision(Status.REJECTED, stop)
    kept = await change.one(_WITHOUT_STOP, subscriber_id=subscriber.id)
    return None if kept is None else msgspec.json.decode(kept, type=Decision)


def _find_stop(partner: PartnerOfCode) -> Reason | None:
    return partner_rules.find_stop(
        is_archived=partner.publication_status != "active"
        or partner.publication_deleted_ms is not None,
        is_deleted=partner.deleted_ms is not None,
        is_removed=partner.is_removed,
        has_left=partner.has_left,
        is_on=partner.enabled_partner_program and not partner.is_look_overdue,
    )


async def _signals(
    change: Change, partner: PartnerOfCode, person: Person, new: NewSubscriber, level: Level | None
) -> rules.Signals:
    """Without the program's own terms, `level` is the campaign's."""
    from_network: int | None = 0
    if level not in (None, Level.FLEXIBLE) and person.ip_network is not None:
        from_network = await change.one(
            _FROM_NETWORK,
            code=partner.code,
            network=person.ip_network,
            day_ago_ms=change.now_ms - DAY_MS,
        )
    listed = ListMatch.NOWHERE
    if partner.has_lists:
        listed = await screening.look_up(change, person)
    # A partner's newsletter sends hundreds within the hour, so a burst on their code is no signal.
    return rules.Signals(
        email=person.email,
        referrer_emails=tuple(map(EmailAddress, partner.partner_emails.split())),
        disposable=screening.is_disposable(person.email.domain),
        signups_from_network_today=(from_network or 0) + 1,
        unsubscribed=new.status == "unsubscribed",
        is_blocked=listed is ListMatch.BLOCKED,
        is_allowed=listed is ListMatch.ALLOWED,
    )


def _terms(
    partner: PartnerOfCode, rule: Rule, level: Level, *, must_confirm: bool, now_ms: int
) -> ReferralTerms:
    if must_confirm and not rule.needs_confirmation:
        rule = Rule.CONFIRMED  # the campaign asks for it
    return ReferralTerms(
        rule,
        level,
        now_ms,
        now_ms + partner.hold_days * DAY_MS,
        look_id=partner.look_id if partner.has_fee else None,
        first_look=partner.first_look if partner.has_fee else None,
    )


def _written(decision: Decision | None) -> str | None:
    return None if decision is None else msgspec.json.encode(decision).decode()


async def record(
    change: Change,
    partner: PartnerOfCode,
    decided: DecidedSignup,
    subscriber: Subscriber,
) -> None:
    referral = PartnerReferral(
        id=new_id(),
        account_id=change.tenant.account_id,
        partner_account_id=partner.account_id,
        program_id=partner.program_id,
        partner_campaign_id=partner.id,
        subscriber_id=subscriber.id,
        person_key=partner.person_key,
        fee_cents=partner.cpa_cents,
        is_own=partner.is_own,
        budget_cents=partner.total_budget_cents,
        cap_cents=partner.max_payout_cents,
        arrived_ms=change.now_ms,
    )
    is_pending = subscriber.referral_status == Status.PENDING
    terms = decided.terms
    await change.put(
        _INSERT,
        **referral._asdict(),
        decided_ms=None if is_pending else change.now_ms,
        rule=terms.rule if terms else None,
        screening=terms.level if terms else None,
        hold_until_ms=terms.hold_until_ms if terms else None,
        was_allowed=terms is not None and terms.was_allowed,
        without_stop=_written(decided.without_stop),
        look_id=terms.look_id if terms else None,
        first_look=terms.first_look if terms else None,
    )
    change.know(_INSERT, find_referral, referral, subscriber.id)
    await evidence.record(change, {subscriber.id: decided.found})
    if is_pending and terms is not None and terms.level != Level.FLEXIBLE:
        await evidence.queue_look(change, partner.code)
