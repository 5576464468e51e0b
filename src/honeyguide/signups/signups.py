"""How people sign up, change, are decided on and erased, whoever referred them: the functions that
the edges call.

Each makes its change, plans what follows from it (`consequences`) and writes that in the same
transaction (`consequence_writer`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.accounts import idempotency
from honeyguide.events import change_log, outbox
from honeyguide.kernel import clock
from honeyguide.kernel.actors import ActorKind
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.partners import reversal_reasons
from honeyguide.rewards import adjustments
from honeyguide.screening import evidence, moves, rules, screening_lists, team_acts, visits
from honeyguide.screening.moves import Changed
from honeyguide.screening.screening import Referrer
from honeyguide.screening.screening_lists import NewEntry
from honeyguide.screening.signals import Signal
from honeyguide.screening.team_acts import TeamAct
from honeyguide.signups import (
    claims,
    consequences,
    erasures,
    import_erasure,
    lifecycle,
    partner_signups,
    reversals,
)
from honeyguide.signups.consequence_writer import (
    ChangedSubscriber,
    find_referral,
    write,
    write_contended,
    write_uncontended,
)
from honeyguide.signups.consequences import CampaignFacts, Consequence
from honeyguide.signups.lifecycle import NewSubscriber, SubscriberChanges
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.subscribers import (
    codes,
    cohorts,
    consents,
    notes,
    reader_links,
    referral_decisions,
    saved_filters,
    subscribers,
    tags,
)
from honeyguide.subscribers.origins import Origin
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.referral_states import Status
from honeyguide.subscribers.subscribers import Subscriber


class Arrival(NamedTuple):
    """What a signup asks before its first write."""

    needs_confirmation: bool
    has_listeners: bool
    """Whether a webhook wants any event about it."""


class BegunDecision(NamedTuple):
    """A decision without its contended consequences: what `write_contended` takes."""

    change: Change
    subscriber: ChangedSubscriber
    planned: list[Consequence]


_sql = beside(__file__)
_ARRIVAL = _sql.query("arrival", Arrival)
_SET_CONFIRMED_PERSON = _sql.command("set_confirmed_person")
_SET_RETURNED = _sql.command("set_returned")
_WITH_PENDING_FEE = _sql.value("with_pending_fee", str)
_EMPTY_DELAYED = _sql.command("empty_delayed")


async def sign_up(
    change: Change,
    new: NewSubscriber,
    *,
    email: EmailAddress | None = None,
    waiting: Subscriber | None = None,
) -> Subscriber:
    """A new subscriber, referred by nobody, by another subscriber or by a partner. Or one who has
    not confirmed yet (`waiting`, locked), and comes again with another code.

    A caller that has parsed `new.email` already passes it as `email`.
    """
    email = email or EmailAddress.parse(new.email)
    arrival = await _read_arrival(change, new)
    if not arrival.has_listeners:
        change.know(_ARRIVAL, outbox.listeners, {})
    needs_confirmation = arrival.needs_confirmation or waiting is not None
    if visits.lacks_form(new.visit) and change.site.has_mail_server:
        needs_confirmation = True
    partner = await partner_signups.find(change, new, email)
    decided = None
    if partner is not None:
        decided = await partner_signups.decide(
            change, partner, new, email, needs_confirmation=needs_confirmation
        )
    subscriber, referrer = await lifecycle.sign_up(
        change,
        new,
        email=email,
        needs_confirmation=needs_confirmation,
        partner=decided and decided.signup,
        waiting=waiting,
    )
    if partner is not None:
        assert decided is not None
        await partner_signups.record(change, partner, decided, subscriber)
    if new.status == "confirmed":
        await _record_key(change, subscriber)
    facts = _facts_of(referrer, has_listeners=arrival.has_listeners)
    planned = consequences.of_change(None, subscriber, facts)
    if planned:
        await write(change, ChangedSubscriber(None, subscriber), planned)
    return subscriber


async def _record_key(change: Change, subscriber: Subscriber) -> None:
    """Nobody but the owner's key says that they confirmed."""
    if change.actor.kind is ActorKind.API_KEY and subscriber.referrer_code is not None:
        found = Signal.CONFIRMED_BY_KEY.found(clock.day(change.now_ms))
        await evidence.record(change, {subscriber.id: [found]})


async def _read_arrival(change: Change, new: NewSubscriber) -> Arrival:
    if new.origin == Origin.IMPORT and not new.referrer_code:
        # Nothing depends on it, and the many lines of an import are written together, without a
        # read in between.
        return Arrival(needs_confirmation=False, has_listeners=False)
    found = await change.one(_ARRIVAL, is_referred=bool(new.referrer_code))
    assert found is not None  # the tenant was found by its campaign
    return found


def _facts_of(referrer: Referrer | None, *, has_listeners: bool) -> CampaignFacts:
    """What was found with the referrer about the campaign."""
    if referrer is None:
        return CampaignFacts(has_listeners=has_listeners)
    return CampaignFacts(
        had_referrals=not referrer.is_first,
        has_rewards=referrer.has_rewards,
        sends_friend_emails=referrer.sends_friend_emails,
        has_listeners=has_listeners,
    )


async def update(
    change: Change,
    id_or_email: str,
    changes: SubscriberChanges,
    how: Reason = Reason.LEFT_DURING_HOLD,
) -> Subscriber:
    """Name, email, status; a status may decide the referral. `how` they leave, if they do."""
    changed = await lifecycle.change_person(change, id_or_email, changes, how)
    if changed.before.status != changed.after.status == "confirmed":
        await _record_key(change, changed.after)
    old, new = EmailAddress(changed.before.email), EmailAddress(changed.after.email)
    if old.key != new.key:
        await import_erasure.follow_address(change, old, new)
        await reader_links.rewrite_unsent(change, changed.after)
    if changed.before.email != changed.after.email:
        await change_log.record(change, "subscriber.email_changed", changed.after.id)
    return await _follow(change, changed)


async def confirm(change: Change, subscriber: Subscriber, *, via: str = "") -> Subscriber:
    """They pressed the button behind the link that we emailed them about the signup with this
    code."""
    subscriber = await claims.choose(change, subscriber, via)
    if subscriber.referrer_code is not None:
        confirmed = Signal.CONFIRMED.found(clock.day(change.now_ms))
        await evidence.record(change, {subscriber.id: [confirmed]})
    if subscriber.partner_campaign_id is not None:
        person_key = change.site.person_key(EmailAddress(subscriber.email))
        await change.put(_SET_CONFIRMED_PERSON, subscriber_id=subscriber.id, person_key=person_key)
    return await update(change, subscriber.id, SubscriberChanges(status="confirmed"))


async def decide(
    change: Change, id_or_email: str, new_status: str, *, note: str | None = None
) -> Subscriber:
    """`verified` or `rejected`, by hand. `note` is why, in the operator's words."""
    decided = await begin_decision(change, id_or_email, new_status, note=note)
    await write_contended(*decided)
    return decided.subscriber.after


async def begin_decision(
    change: Change, id_or_email: str, new_status: str, *, note: str | None = None
) -> BegunDecision:
    """`decide` up to what many want at once. The caller ends it with `write_contended`."""
    before, after = await moves.decide(change, id_or_email, new_status)
    rules.check_why(before.referral_reason, new_status, note)
    if not after.email:
        note = reversal_reasons.without_text(note)
    changed = ChangedSubscriber(before, after, note)
    planned = consequences.of_change(before, after, CampaignFacts(), is_by_hand=True)
    await write_uncontended(change, changed, planned)
    return BegunDecision(change, changed, planned)


async def verify_due(change: Change, subscriber_id: str) -> Subscriber | None:
    """One referral whose time has come."""
    changed = await moves.verify_due(change, subscriber_id)
    return None if changed is None else await _follow(change, changed)


async def decide_on_evidence(change: Change, subscriber_id: str) -> Subscriber | None:
    """One pending referral about which there is new evidence."""
    changed = await moves.decide_on_evidence(change, subscriber_id)
    return None if changed is None else await _follow(change, changed)


async def decide_without_stop(change: Change, subscriber_id: str) -> None:
    """One partner's referral that was rejected on arrival because of a stop that was undone."""
    old = await subscribers.get_locked(change, subscriber_id)
    on_arrival = await partner_signups.decide_without_stop(change, old)
    if on_arrival is not None:
        await _follow(change, await moves.replace_arrival(change, old, on_arrival))


async def record_sign_of_life(change: Change, subscriber_id: str, signal: Signal) -> None:
    """Something that a person does and no mail scanner does. It is in the person's favor."""
    found = signal.found(clock.day(change.now_ms))
    await evidence.record(change, {subscriber_id: [found]})
    await change.tx.flush()
    await decide_on_evidence(change, subscriber_id)


async def reject_unconfirmed(change: Change, subscriber_id: str) -> None:
    """One referral that was never confirmed, before its time is over."""
    changed = await moves.reject_unconfirmed(change, subscriber_id)
    if changed is not None:
        await _follow(change, changed)


async def depart(change: Change, subscriber_id: str, how: Reason) -> None:
    """They left, bounced or complained, as a platform says. Who is gone already may complain."""
    old = await subscribers.get_locked(change, subscriber_id)
    if how is not Reason.LEFT_DURING_HOLD:
        await change.run(_SET_RETURNED, subscriber_id=old.id, how=how.value)
    if old.status != "unsubscribed":
        await update(change, old.id, SubscriberChanges(status="unsubscribed"), how)
        return
    decision = await team_acts.on_unsubscribe(change, old, how)
    if decision is not None:
        await _follow(change, await moves.apply(change, old, decision, by=None))


async def block(change: Change, entries: Sequence[NewEntry]) -> None:
    """Puts them on the block list. The fees for people of whom one is wait for a decision."""
    await screening_lists.add(change, entries, is_blocked=True)
    people = [each.value for each in entries if each.kind == screening_lists.EMAIL]
    for subscriber_id in await change.all(_WITH_PENDING_FEE, person_keys=people):
        old = await subscribers.get_locked(change, subscriber_id)
        decision = await team_acts.decide(change, old, TeamAct.BLOCKED)
        if decision is not None:
            await _follow(change, await moves.apply(change, old, decision, by=None))


async def end_with_partner(change: Change, subscriber_id: str) -> Subscriber | None:
    """One pending referral of a partner whom the owner removed."""
    changed = await moves.end_with_partner(change, subscriber_id)
    return None if changed is None else await _follow(change, changed)


async def _follow(change: Change, changed: Changed) -> Subscriber:
    before, after = changed
    planned = consequences.of_change(before, after, CampaignFacts())
    await write(change, ChangedSubscriber(before, after), planned)
    if claims.is_waiting(before) and not claims.is_waiting(after):
        await claims.end_others(change, after.id)
    return after


async def erase(change: Change, id_or_email: str) -> None:
    """Charges stay, and the keyed hash that stays with them prevents a second one. A pending
    referral is rejected as if the subscriber had left, unless the owner's team erases them: then
    the owner decides about the fee."""
    tx, tenant = change.tx, change.tenant
    await import_erasure.lock(change)  # before any subscriber, as an import does
    subscriber = await subscribers.get_locked(change, id_or_email)
    await erasures.record(change, subscriber.id)
    await import_erasure.erase(change, EmailAddress(subscriber.email))
    await import_erasure.erase_own_ids(change, subscriber.id)
    theirs = await codes.all_of(change, subscriber)
    await import_erasure.erase_codes(change, [each.code for each in theirs])
    referral = None
    if subscriber.partner_campaign_id is not None:
        referral = await change.fact(find_referral, subscriber.id)
    if referral is not None and subscriber.referral_status == Status.PENDING:
        decision = await team_acts.on_erasure(change, subscriber)
        if decision is not None:
            changed = await moves.apply(change, subscriber, decision, by=None)
            planned = consequences.of_erasure(subscriber)
            await write(change, ChangedSubscriber(*changed), planned)
    await claims.erase(change, subscriber.id)
    await lifecycle.erase(change, subscriber)
    if referral is not None:
        await reversals.forget(change, referral)
    await referral_decisions.erase(change, subscriber.id)
    await adjustments.erase(change, subscriber.id)
    await evidence.erase(change, subscriber.id)
    await change_log.erase(change, subscriber.id)
    await change_log.record(change, "subscriber.erased", subscriber.id)
    await consents.erase(change, subscriber.id)
    await tags.erase(change, subscriber.id)
    await notes.erase(change, subscriber.id)
    await saved_filters.erase(change, subscriber)
    await change.run(_EMPTY_DELAYED, id=subscriber.id)
    await screening_lists.erase(change, subscriber.id)
    utm = [subscriber.utm_source, subscriber.utm_campaign]
    await cohorts.erase(change, subscriber.created_ms, utm)
    if referral is not None and referral.partner_account_id != tenant.account_id:
        # The partner's event names nobody, but what the partner's server answered to it may.
        await outbox.erase(tx, referral.partner_account_id, subscriber.id)
        await idempotency.forget(tx, referral.partner_account_id, subscriber.id)
