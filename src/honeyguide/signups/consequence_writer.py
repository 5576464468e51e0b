"""Writes what follows from a change to a subscriber, in the transaction of the change and in the
order of `Consequence`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from honeyguide.accounts import accounts
from honeyguide.events import change_log, outbox
from honeyguide.events.outbox import Event
from honeyguide.kernel.clock import DAY_MS
from honeyguide.mail import texts
from honeyguide.mail.notification_kinds import FIRST_REFERRAL
from honeyguide.partners import charges
from honeyguide.partners.charges import PartnerReferral
from honeyguide.partners.reversal_reasons import Reversal
from honeyguide.rewards import advocate_emails, earned_rewards
from honeyguide.signups import confirmations, signup_events
from honeyguide.signups.consequences import CONTENDED, Consequence, is_news
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import branding, referral_decisions, subscribers
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.referral_states import Status
from honeyguide.subscribers.subscribers import Subscriber

_sql = beside(__file__)
_SET_FIRST_REFERRAL = _sql.command("set_first_referral")
_REFERRAL_OF = _sql.query("referral_of", PartnerReferral)
_SET_DECIDED = _sql.command("set_decided")
_SET_UNDECIDED = _sql.command("set_undecided")
_DECIDED_MS = _sql.value("decided_ms", int)
_COUNT_DAY = _sql.command("count_day")


class ChangedSubscriber(NamedTuple):
    before: Subscriber | None
    """None for a signup."""
    after: Subscriber
    note: str | None = None
    """Why somebody decided the referral by hand, in their words."""
    reversal: Reversal | None = None
    """Why its charge is taken back, if that is what changed."""


async def write(change: Change, subscriber: ChangedSubscriber, planned: list[Consequence]) -> None:
    """The facts that consequences share are loaded once, the first time one of them asks."""
    await write_uncontended(change, subscriber, planned)
    await write_contended(change, subscriber, planned)


async def write_uncontended(
    change: Change, subscriber: ChangedSubscriber, planned: list[Consequence]
) -> None:
    """Everything that comes before the first of `CONTENDED`, events included."""
    events: list[Event] = []
    for consequence in planned:
        if consequence not in CONTENDED:
            events += await _WRITERS[consequence](change, subscriber)
    if events:
        await outbox.emit(change.tx, events)


async def write_contended(
    change: Change, subscriber: ChangedSubscriber, planned: list[Consequence]
) -> None:
    """The last thing that a transaction does. One with several changes calls this for each of them,
    after `write_uncontended` for all."""
    for consequence in planned:
        if consequence in CONTENDED:
            await _WRITERS[consequence](change, subscriber)


async def _record_decision(change: Change, subscriber: ChangedSubscriber) -> list[Event]:
    assert subscriber.before is not None
    await referral_decisions.record(
        change, subscriber.before, subscriber.after, note=subscriber.note
    )
    return []


async def _log_decision(change: Change, subscriber: ChangedSubscriber) -> list[Event]:
    before, after = (
        {"status": each.referral_status, "reason": each.referral_reason}
        for each in (subscriber.before, subscriber.after)
        if each is not None
    )
    await change_log.record(change, "referral.decided", subscriber.after.id, before, after)
    return []


async def _release_confirmation(change: Change, subscriber: ChangedSubscriber) -> list[Event]:
    await confirmations.release_one(change, subscriber.after.id)
    return []


async def _cancel_confirmation(change: Change, subscriber: ChangedSubscriber) -> list[Event]:
    await confirmations.cancel_one(change, subscriber.after)
    return []


async def _unlock_rewards(change: Change, subscriber: ChangedSubscriber) -> list[Event]:
    referral = subscriber.after
    assert referral.referrer_id is not None
    unlocked = await earned_rewards.unlock(change, referral.referrer_id, is_news=is_news(referral))
    return unlocked.events


async def _email_referrer(change: Change, subscriber: ChangedSubscriber) -> list[Event]:
    assert subscriber.after.referrer_id is not None
    advocate = await change.fact(subscribers.find, subscriber.after.referrer_id)
    if advocate is not None:
        await advocate_emails.tell_of_friend(change, advocate)
    return []


async def _notify_of_first(change: Change, subscriber: ChangedSubscriber) -> list[Event]:
    await change.run(_SET_FIRST_REFERRAL)
    link = f"/subscribers/{subscriber.after.id}"
    message = texts.first_referral(
        newsletter=(await change.fact(branding.of)).name, page=f"{change.site.base_url}{link}"
    )
    await accounts.notify_owner(
        change, FIRST_REFERRAL.name, change.tenant.campaign_id, message, link=link
    )
    return []


async def _tell_new_partner_referral(change: Change, subscriber: ChangedSubscriber) -> list[Event]:
    referral = await change.fact(find_referral, subscriber.after.id)
    if referral is None:
        return []
    return await signup_events.new_partner_referral(change, referral, subscriber.after)


async def _tell_reversed(change: Change, subscriber: ChangedSubscriber) -> list[Event]:
    referral = await change.fact(find_referral, subscriber.after.id)
    assert referral is not None and subscriber.reversal is not None
    return await signup_events.partner_referral_reversed(
        change, referral, subscriber.after, subscriber.reversal
    )


async def _charge_fee(change: Change, subscriber: ChangedSubscriber) -> list[Event]:
    referral = await change.fact(find_referral, subscriber.after.id)
    if referral is not None:
        await charges.charge(change.tx, referral)
    return []


async def _reverse_charge(change: Change, subscriber: ChangedSubscriber) -> list[Event]:
    referral = await change.fact(find_referral, subscriber.after.id)
    assert referral is not None and subscriber.reversal is not None
    await charges.reverse(change.tx, referral, *subscriber.reversal)
    return []


async def _count_decision(change: Change, subscriber: ChangedSubscriber) -> list[Event]:
    referral = await change.fact(find_referral, subscriber.after.id)
    if referral is not None:
        before = subscriber.before
        if before is not None and before.referral_status != Status.PENDING:
            decided_ms = await change.one(_DECIDED_MS, id=referral.id)
            if decided_ms is not None:  # it counts on its last day only
                await _count_day(change, referral, before, decided_ms, by=-1)
        if subscriber.after.referral_status == Status.PENDING:
            await change.put(_SET_UNDECIDED, id=referral.id)
            return []
        if before is not None:  # else it was inserted as decided
            await change.put(_SET_DECIDED, id=referral.id)
        await _count_day(change, referral, subscriber.after, change.now_ms, by=1)
    return []


async def _count_day(
    change: Change, referral: PartnerReferral, decided: Subscriber, at_ms: int, *, by: int
) -> None:
    """Adds a referral to its program's day, or takes it away."""
    outcome = "verified" if decided.referral_status == Status.VERIFIED else "rejected"
    if decided.referral_reason == Reason.REVERSED:
        outcome = "reversed"
    counts: dict[str, Any] = {"verified": 0, "rejected": 0, "reversed": 0, outcome: by}
    await change.put(_COUNT_DAY, program_id=referral.program_id, day=at_ms // DAY_MS, **counts)


async def find_referral(at: Reading, subscriber_id: str) -> PartnerReferral | None:
    """The partner's referral behind this subscriber."""
    return await at.one(_REFERRAL_OF, subscriber_id=subscriber_id)


def _tells(kind: str) -> Callable[[Change, ChangedSubscriber], Awaitable[list[Event]]]:
    async def tell(change: Change, subscriber: ChangedSubscriber) -> list[Event]:
        return await signup_events.build(change, kind, subscriber.after)

    return tell


_WRITERS: dict[Consequence, Callable[[Change, ChangedSubscriber], Awaitable[list[Event]]]] = {
    Consequence.RECORD_DECISION: _record_decision,
    Consequence.LOG_DECISION: _log_decision,
    Consequence.RELEASE_CONFIRMATION: _release_confirmation,
    Consequence.CANCEL_CONFIRMATION: _cancel_confirmation,
    Consequence.TELL_NEW_REFERRAL: _tells(outbox.NEW_REFERRAL),
    Consequence.UNLOCK_REWARDS: _unlock_rewards,
    Consequence.EMAIL_REFERRER: _email_referrer,
    Consequence.NOTIFY_OF_FIRST_REFERRAL: _notify_of_first,
    Consequence.TELL_NEW_SUBSCRIBER: _tells(outbox.NEW_SUBSCRIBER),
    Consequence.TELL_UNSUBSCRIBED: _tells(outbox.SUBSCRIBER_UNSUBSCRIBED),
    Consequence.TELL_VERIFIED: _tells(outbox.REFERRAL_VERIFIED),
    Consequence.TELL_REJECTED: _tells(outbox.REFERRAL_REJECTED),
    Consequence.TELL_NEW_PARTNER_REFERRAL: _tell_new_partner_referral,
    Consequence.TELL_PARTNER_REFERRAL_REVERSED: _tell_reversed,
    Consequence.CHARGE_FEE: _charge_fee,
    Consequence.REVERSE_CHARGE: _reverse_charge,
    Consequence.COUNT_DECISION: _count_decision,
}
