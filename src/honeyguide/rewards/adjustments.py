"""What an operator adds to an advocate's progress toward rewards, or takes off, each time with a
reason. The number of verified referrals stays what it is.

Rows are only added; an erasure deletes them. What they add up to is kept with the subscriber.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import msgspec

from honeyguide.events import change_log, outbox
from honeyguide.kernel import checks
from honeyguide.kernel.actors import Actor, ActorKind
from honeyguide.kernel.errors import Invalid, Required
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.public import doc
from honeyguide.rewards import earned_rewards, rewards
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import subscribers

MOST_AMOUNT = 10_000
MOST_PER_SUBSCRIBER = 200


class AdjustmentFields(msgspec.Struct, frozen=True):
    """What callers may set."""

    amount: (
        Annotated[
            int,
            doc(
                "How much to add; negative to take off. Not 0.",
                2,
                minimum=-MOST_AMOUNT,
                maximum=MOST_AMOUNT,
            ),
        ]
        | None
    ) = None
    reason: (
        Annotated[
            str,
            doc(
                "Why. Only you see it.", "Referred at our event", maxLength=checks.DESCRIPTION_LIMIT
            ),
        ]
        | None
    ) = None


class Adjustment(NamedTuple):
    id: str
    amount: int
    reason: str
    actor_kind: ActorKind
    actor_id: str
    adjusted_ms: int

    @property
    def by(self) -> str | None:
        """`operator` or `api`."""
        return Actor(self.actor_kind, self.actor_id).by


class CarriedOver(NamedTuple):
    """What somebody had in another tool and is not here as referrals."""

    id: str
    subscriber_id: str
    subscriber_created_ms: int
    amount: int


_sql = beside(__file__)
_OF_SUBSCRIBER = _sql.query("of_subscriber", Adjustment)
_INSERT = _sql.command("insert")
_ADD = _sql.command("add")
_CARRY_OVER = _sql.command("carry_over")
_ADD_EACH = _sql.command("add_each")
_ERASE = _sql.command("erase")


async def of_subscriber(at: Reading, subscriber_id: str) -> list[Adjustment]:
    """The newest first."""
    return await at.all(_OF_SUBSCRIBER, subscriber_id=subscriber_id)


async def add(change: Change, id_or_email: str, fields: AdjustmentFields) -> Adjustment:
    """Adjusts the progress of a subscriber and gives them what they reach by it. What they earned
    before stays, also if they fall below it."""
    amount, reason = _checked(fields)
    subscriber = await subscribers.get_locked(change, id_or_email)
    left = subscriber.referrals_verified + subscriber.adjustments + amount
    if amount < 0 and left < 0:
        raise Invalid(
            "{field} would leave less than nothing: this subscriber has {count} toward rewards.",
            param="amount",
            count=subscriber.toward_rewards,
        )
    before = await of_subscriber(change, subscriber.id)
    if len(before) >= MOST_PER_SUBSCRIBER:
        raise Invalid("A subscriber can have {most} adjustments.", most=MOST_PER_SUBSCRIBER)
    made = Adjustment(
        id=new_id(),
        amount=amount,
        reason=reason,
        actor_kind=change.actor.kind,
        actor_id=change.actor.id,
        adjusted_ms=change.now_ms,
    )
    await change.run(
        _INSERT,
        subscriber_id=subscriber.id,
        subscriber_created_ms=subscriber.created_ms,
        **made._asdict(),
    )
    await change.run(_ADD, id=subscriber.id, amount=amount)
    await change_log.record(
        change,
        "subscriber.adjusted",
        subscriber.id,
        {"adjustments": subscriber.adjustments},
        {"adjustments": subscriber.adjustments + amount},
    )
    unlocked = await earned_rewards.unlock(change, subscriber.id)
    if unlocked.given >= earned_rewards.MOST_AT_ONCE:
        await rewards.start_backfill(change)  # there may be as many again
    await outbox.emit(change.tx, unlocked.events)
    return made


async def carry_over(change: Change, carried: Sequence[CarriedOver], reason: str) -> None:
    """Adds what subscribers had elsewhere. It gives nobody a reward. The caller has locked them."""
    if carried:
        rows = [each._asdict() for each in carried]
        kind, actor_id = change.actor
        await change.run(_CARRY_OVER, rows=rows, reason=reason, actor_kind=kind, actor_id=actor_id)
        await change.run(_ADD_EACH, rows=rows)


def _checked(fields: AdjustmentFields) -> tuple[int, str]:
    if fields.amount is None:
        raise Required("amount")
    if fields.reason is None:
        raise Required("reason")
    if fields.amount == 0 or abs(fields.amount) > MOST_AMOUNT:
        raise Invalid(
            "{field} must be a whole number from -{most:,} to {most:,}, and not 0.",
            param="amount",
            most=MOST_AMOUNT,
        )
    limit = checks.DESCRIPTION_LIMIT
    reason = checks.text(fields.reason.strip(), param="reason", limit=limit, blank_ok=False)
    return fields.amount, reason


async def erase(change: Change, subscriber_id: str) -> None:
    await change.run(_ERASE, subscriber_id=subscriber_id)
