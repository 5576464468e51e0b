"""How a referral moves: somebody decides it, the person confirms, time passes, there is new
evidence. What it becomes is in `rules`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.tenant import Tenant
from honeyguide.screening import look_claims, rules, screening, team_acts, terms, trait_groups
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import referral_states, subscribers
from honeyguide.subscribers.reasons import DEADLINE_DAYS, Reason
from honeyguide.subscribers.subscribers import Subscriber

UNREFERRED = "Nobody referred this subscriber, so there is no referral to look at."


class Changed(NamedTuple):
    """A subscriber before and after a change, for callers that act on the difference."""

    before: Subscriber
    after: Subscriber


# What a referral with this status becomes, if that is anything else.
Judge = Callable[[str], rules.Decision | None]


class DueReferral(NamedTuple):
    tenant: Tenant
    id: str  # of the subscriber


def _due_referral(account_id: str, campaign_id: str, id: str) -> DueReferral:
    return DueReferral(Tenant(account_id, campaign_id), id)


_sql = beside(__file__)
_DECIDE = _sql.command("decide")
_DUE = _sql.query("due", _due_referral)
_UNCONFIRMED = _sql.query("unconfirmed", _due_referral)
_IS_PAUSED = _sql.value("is_paused", int)


async def on_confirm(change: Change, old: Subscriber) -> rules.Decision | None:
    """They confirmed; they may have confirmed before."""
    if old.partner_campaign_id is not None and old.referrer_code is not None:
        await trait_groups.queue(change, old.referrer_code)
    if old.referral_reason == Reason.ENDED_BY_TEAM:
        await team_acts.forget(change, old.id)
    decision = await terms.decide(change, old, is_confirmed=True) or rules.on_confirm(
        old.referral_status,
        old.referral_reason,
        old.referral_due_ms,
        change.now_ms,
        old.referral_behind,
    )
    return await _leave_to_job(change, old, decision)


async def _leave_to_job(
    change: Change, old: Subscriber, decision: rules.Decision | None
) -> rules.Decision | None:
    """What only the job may verify is due now. In a paused account nothing that readers do verifies
    a referral, so no fee arises, and `due` finds it once the account is resumed. What counts only
    within the owner's look at its partner is counted by the job."""
    if decision is None or decision.status != referral_states.Status.VERIFIED:
        return decision
    if await _terms_with_look(change, old) is not None:
        if old.referral_reason == Reason.AWAITING_FIRST_LOOK:
            return None
    elif not await change.one(_IS_PAUSED):
        return decision
    return rules.Decision(referral_states.Status.PENDING, Reason.HOLDING_PERIOD, change.now_ms)


async def decide(change: Change, id_or_email: str, new_status: str) -> Changed:
    """`verified` or `rejected`, by hand."""
    old = await team_acts.get_locked(change, id_or_email)
    decision = _by_hand(old, new_status)
    return await apply(change, old, decision, by=change.actor.by)


async def reverse(change: Change, subscriber_id: str) -> Changed:
    """What it cost is taken back: the referral no longer counts. The caller has locked the
    subscriber, who may be erased."""
    old = await subscribers.get_even_erased(change, subscriber_id)
    decision = rules.on_reversal(old.referral_status)
    return await apply(change, old, decision, by=change.actor.by)


async def end_with_partner(change: Change, subscriber_id: str) -> Changed | None:
    """Rejects one pending referral of a partner who was removed. None if it was decided
    meanwhile."""
    try:
        old = await subscribers.get_locked(change, subscriber_id)
    except Missing:
        return None
    decision = rules.on_partner_removed(old.referral_status)
    if decision is None:
        return None
    return await apply(change, old, decision, by=change.actor.by)


async def judge_aside(change: Change, claim_id: str, judge: Judge) -> Changed | None:
    """Decides the referral of a claim that is not shown. The caller has locked its row."""
    old = await subscribers.get_even_erased(change, claim_id)
    decision = judge(old.referral_status)
    return None if decision is None else await apply(change, old, decision, by=None)


async def reject_unconfirmed(change: Change, subscriber_id: str) -> Changed | None:
    """Rejects one pending referral that is not confirmed."""
    old = await subscribers.get_locked(change, subscriber_id)
    decision = rules.on_other_code(old.referral_status)
    return None if decision is None else await apply(change, old, decision, by=None)


async def replace_arrival(change: Change, old: Subscriber, on_arrival: rules.Decision) -> Changed:
    """As if a referral had been decided so when it came. They may have left or confirmed since."""
    arrived = msgspec.structs.replace(
        old,
        referral_status=on_arrival.status,
        referral_reason=on_arrival.reason,
        referral_due_ms=on_arrival.due_ms,
        referral_behind=on_arrival.behind,
    )
    since = None
    if old.status == "unsubscribed":
        since = rules.on_unsubscribe(arrived.referral_status)
    elif old.status == "confirmed":
        since = await on_confirm(change, arrived)
    decision = await _leave_to_job(change, old, since or on_arrival)
    return await apply(change, old, decision, by=None)


def _by_hand(subscriber: Subscriber, new_status: str) -> rules.Decision | None:
    if subscriber.referrer_code is None:
        raise Missing(UNREFERRED, code="not_referred")
    return rules.by_hand(subscriber.referral_status, new_status)


def check_decision(subscriber: Subscriber, new_status: str) -> None:
    """Raises why `decide` would refuse or change nothing."""
    if _by_hand(subscriber, new_status) is None:
        raise Invalid("This referral is already {status}.", status=new_status)


async def verify_due(change: Change, subscriber_id: str) -> Changed | None:
    """Verifies one referral whose holding period is over. None if it was decided meanwhile."""
    try:
        old = await team_acts.get_locked(change, subscriber_id)
    except Missing:
        return None
    decision = await _decide_again(change, old) or rules.on_due(
        old.referral_status,
        old.referral_reason,
        old.referral_due_ms,
        change.now_ms,
        old.referral_behind,
    )
    if decision is not None and decision.status == referral_states.Status.VERIFIED:
        asked = await _terms_with_look(change, old)
        if asked is not None and not await look_claims.take(change, asked):
            decision = rules.await_first_look(asked, change.now_ms)
    return await _apply_if_new(change, old, decision)


async def _terms_with_look(change: Change, old: Subscriber) -> rules.ReferralTerms | None:
    """None if it counts without the owner's look at its partner."""
    if old.partner_campaign_id is None:
        return None
    found = await change.fact(terms.of_subscriber, old.id)
    return found if found is not None and found.look_id is not None else None


async def decide_on_evidence(change: Change, subscriber_id: str) -> Changed | None:
    """Decides one pending referral again, about which there is new evidence. None if that changes
    nothing."""
    try:
        old = await subscribers.get_locked(change, subscriber_id)
    except Missing:
        return None
    decision = await _decide_again(change, old) or await screening.on_evidence(change, old)
    return await _apply_if_new(change, old, await _leave_to_job(change, old, decision))


async def _decide_again(change: Change, old: Subscriber) -> rules.Decision | None:
    if old.referral_status != referral_states.Status.PENDING or not old.email:
        return None
    if old.partner_campaign_id is not None and await terms.has_bounced(change, old.id):
        return rules.on_unsubscribe(old.referral_status, Reason.BOUNCED)
    is_confirmed = old.status == "confirmed"
    if old.referral_reason == Reason.ENDED_BY_TEAM:
        if (old.referral_due_ms or 0) > change.now_ms:
            return None  # the owner decides until then
        is_confirmed = old.referral_behind != Reason.AWAITING_CONFIRMATION
    return await terms.decide(change, old, is_confirmed=is_confirmed)


async def _apply_if_new(
    change: Change, old: Subscriber, decision: rules.Decision | None
) -> Changed | None:
    is_new = decision is not None and (
        old.referral_status,
        old.referral_reason,
        old.referral_due_ms,
        old.referral_behind,
    ) != (decision.status, decision.reason, decision.due_ms, decision.behind)
    return await apply(change, old, decision, by=None) if is_new else None


async def due(tx: Tx, *, most: int) -> list[DueReferral]:
    """Referrals of all accounts whose holding period is over, longest overdue first, for
    `verify_due`."""
    return await tx.all(_DUE, batch=most)


async def unconfirmed(tx: Tx, *, most: int) -> list[DueReferral]:
    """Referrals of all accounts that have waited too long for a confirmation, for `verify_due`."""
    return await tx.all(_UNCONFIRMED, arrived_ms=tx.now_ms - DEADLINE_DAYS * DAY_MS, most=most)


async def apply(
    change: Change, old: Subscriber, decision: rules.Decision | None, *, by: str | None
) -> Changed:
    """Applies a decision, if there is one. The database updates the referrer's counts."""
    if decision is not None:
        await change.run(
            _DECIDE,
            id=old.id,
            status=decision.status.value,
            reason=decision.reason,
            due_ms=decision.due_ms,
            behind=decision.behind,
            decided_by=by,
        )
    return Changed(old, await subscribers.get_even_erased(change, old.id))
