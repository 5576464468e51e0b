"""Decisions about referrals, one row for each time one was decided otherwise than before. Rows are
never changed; an erasure removes the note.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel import checks
from honeyguide.kernel.actors import Actor, ActorKind
from honeyguide.kernel.ids import new_id
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers.subscribers import Subscriber


class ReferralDecision(NamedTuple):
    id: str
    subscriber_id: str
    """The subscriber who was referred."""
    before_status: str
    before_reason: str | None
    status: str
    reason: str | None
    actor_kind: ActorKind
    actor_id: str
    note: str | None
    decided_ms: int

    @property
    def by(self) -> str | None:
        """As the subscriber's `decided_by`: None if nobody decided by hand."""
        return Actor(self.actor_kind, self.actor_id).by


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_OF_SUBSCRIBER = _sql.query("of_subscriber", ReferralDecision)
_ERASE = _sql.command("erase")


def check_note(note: str | None, *, param: str) -> str | None:
    """Why somebody decided so by hand, in their words. A blank one is none."""
    if note is None or not note.strip():
        return None
    return checks.text(note.strip(), param=param, limit=checks.DESCRIPTION_LIMIT)


async def record(
    change: Change, before: Subscriber, after: Subscriber, *, note: str | None = None
) -> None:
    await change.put(
        _INSERT,
        id=new_id(),
        subscriber_id=after.id,
        before_status=before.referral_status,
        before_reason=before.referral_reason,
        status=after.referral_status,
        reason=after.referral_reason,
        actor_kind=change.actor.kind,
        actor_id=change.actor.id,
        note=note,
    )


async def of_subscriber(at: Reading, subscriber_id: str) -> list[ReferralDecision]:
    """The first one first."""
    return await at.all(_OF_SUBSCRIBER, subscriber_id=subscriber_id)


async def erase(change: Change, subscriber_id: str) -> None:
    await change.run(_ERASE, subscriber_id=subscriber_id)
