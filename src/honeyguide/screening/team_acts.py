"""What members of the owner's team do to a subscriber on the dashboard while a partner's fee for
them is not decided. It ends no fee: the referral waits for the owner's decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from honeyguide.kernel.actors import ActorKind
from honeyguide.kernel.errors import Missing
from honeyguide.screening import rules
from honeyguide.screening.rules import Decision
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import subscribers
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.referral_states import Status
from honeyguide.subscribers.subscribers import Subscriber

# Whoever erases in the name of a reader.
_FOR_READERS = (ActorKind.API_KEY, ActorKind.SUBSCRIBER)


class TeamAct(StrEnum):
    UNSUBSCRIBED = "unsubscribed"
    BLOCKED = "blocked"
    ERASED = "erased"


class _PendingFee(NamedTuple):
    hold_until_ms: int | None


_sql = beside(__file__)
_PENDING_FEE = _sql.query("pending_fee", _PendingFee)
_SET_ACT = _sql.command("set_act")
_ERASED = _sql.value("erased", str)
_LOCK_ERASED = _sql.value("lock_erased", str)


async def on_unsubscribe(change: Change, old: Subscriber, how: Reason) -> Decision | None:
    """`how` they go, if it is not by a member: what a key or a platform reports is the reader's
    own act."""
    if change.actor.kind is ActorKind.MEMBER:
        return await decide(change, old, TeamAct.UNSUBSCRIBED)
    has_gone = old.status == "unsubscribed" and old.referral_reason == Reason.ENDED_BY_TEAM
    if has_gone and how is Reason.LEFT_DURING_HOLD:
        return None
    return rules.on_unsubscribe(old.referral_status, how)


async def on_erasure(change: Change, old: Subscriber) -> Decision | None:
    if change.actor.kind in _FOR_READERS and old.referral_reason != Reason.ENDED_BY_TEAM:
        return rules.on_unsubscribe(old.referral_status)
    return await decide(change, old, TeamAct.ERASED)


async def decide(change: Change, old: Subscriber, act: TeamAct) -> Decision | None:
    """What their referral is then. Only a fee needs a decision."""
    fee = None
    if old.partner_campaign_id is not None:
        fee = await change.one(_PENDING_FEE, subscriber_id=old.id)
    if fee is None:
        return None if act is TeamAct.BLOCKED else rules.on_unsubscribe(old.referral_status)
    hold_until_ms = old.referral_due_ms if fee.hold_until_ms is None else fee.hold_until_ms
    decision = rules.on_team_act(
        old.referral_status, old.referral_reason, hold_until_ms, change.now_ms
    )
    if decision is None or decision.status == Status.PENDING:
        await change.run(_SET_ACT, subscriber_id=old.id, act=act.value)
    return decision


async def forget(change: Change, subscriber_id: str) -> None:
    """They are back, so nothing of it is left."""
    await change.run(_SET_ACT, subscriber_id=subscriber_id, act=None)


async def find_many(at: Reading, ids: Sequence[str]) -> dict[str, Subscriber]:
    """Subscribers, and those who were erased while the owner has yet to decide about their fee."""
    found = await subscribers.find_many(at, ids)
    missing = [each for each in ids if each not in found]
    for erased in await at.all(_ERASED, ids=missing) if missing else ():
        found[erased] = await subscribers.get_even_erased(at, erased)
    return found


async def get_locked(change: Change, id_or_email: str) -> Subscriber:
    """Such a one, for a decision."""
    try:
        return await subscribers.get_locked(change, id_or_email)
    except Missing:
        if not await change.lock(_LOCK_ERASED, ids=[id_or_email]):
            raise
        return await subscribers.get_even_erased(change, id_or_email)
