"""What an operator does on the dashboard and can undo for a minute. It is a row until then: undoing
deletes the row, and doing it deletes the row in the same transaction, so it is done once however
many processes try. Nothing else is written before, so of what was undone only the change log tells.

What to do comes from `delayed_kinds`. If the subject changed meanwhile, a rule forbids it by now,
or the member who asked for it lost the right, it is dropped and the operator is notified.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from honeyguide.accounts import accounts, members, permissions
from honeyguide.accounts.permissions import Right
from honeyguide.events import change_log
from honeyguide.kernel.actors import Actor, ActorKind
from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.kernel.errors import Fault, Forbidden, Invalid, Missing
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import texts
from honeyguide.mail.notification_kinds import ACTION_DROPPED
from honeyguide.signups import delayed_kinds
from honeyguide.signups.delayed_kinds import DelayedKind
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

DELAY_MS = MINUTE_MS
MAY_NOT_UNDO = "Your role may not do this, so it may not undo it either."
LOST_RIGHT = "The member who asked for it may not do it any more."
# The job.
APPLYING = "apply delayed actions"


class DelayedAction(NamedTuple):
    id: str
    account_id: str
    campaign_id: str
    batch_id: str
    actor_kind: ActorKind
    actor_id: str
    kind: str
    subject_id: str
    subject_state: str
    arguments: dict[str, Any]
    due_ms: int

    @property
    def facts(self) -> DelayedKind:
        return delayed_kinds.BY_NAME[self.kind]

    def change(self, tx: Tx, site: Site, now_ms: int) -> Change:
        """By whoever asked for it."""
        tenant = Tenant(self.account_id, self.campaign_id)
        return Change(tx, site, tenant, Actor(self.actor_kind, self.actor_id), now_ms)


class DelayedGroup(NamedTuple):
    """What waits for several subjects and was asked for together."""

    kind: str
    id: str
    """Of the batch: undoing it may undo more than these."""
    n: int
    due_ms: int

    @property
    def facts(self) -> DelayedKind:
        return delayed_kinds.BY_NAME[self.kind]


class Delayed(NamedTuple):
    """What became of a request for several subjects."""

    batch_id: str
    """Undoes all of them; empty if none waits."""
    waiting: int
    refused: Counter[str]
    """How many were refused with which sentence."""


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_OF_SUBJECTS = _sql.query("of_subjects", DelayedAction)
_OF_CODES = _sql.query("of_codes", DelayedAction)
_WAITING = _sql.query("waiting", DelayedAction)
_DUE = _sql.query("due", DelayedAction)
_DELETE = _sql.command("delete")
_UNDO_BATCH = _sql.command("undo_batch")
_KEEP_ONLY = _sql.command("keep_only")

_encode = msgspec.json.Encoder().encode


async def delay(
    change: Change, kind: DelayedKind, subject_ids: Sequence[str], **arguments: Any
) -> Delayed:
    """Asks for something to be done to each of these in a minute. What already waits for the same
    goes on waiting."""
    ids = sorted(set(subject_ids))  # so that two requests insert in the same order
    subjects = await kind.find(change, ids)
    batch_id, rows, refused = new_id(), list[dict[str, str]](), Counter[str]()
    for subject_id in ids:
        try:
            if subject_id not in subjects:
                raise Missing(kind.unknown)
            kind.check(subjects[subject_id])
        except (Invalid, Missing) as fault:
            refused[fault.message] += 1
            continue
        state = _state(kind, subjects[subject_id])
        rows.append({"id": new_id(), "subject_id": subject_id, "state": state})
    await change.run(
        _INSERT,
        rows=rows,
        batch_id=batch_id,
        actor_kind=change.actor.kind,
        actor_id=change.actor.id,
        kind=kind.name,
        arguments=_encode(arguments).decode(),
        due_ms=change.now_ms + DELAY_MS,
    )
    waits = await of_subjects(change, [row["subject_id"] for row in rows])
    for other in [each for each in waits.values() if each.kind != kind.name]:
        refused[_waits_for_another(other)] += 1
        del waits[other.subject_id]
    # A second tab that asks for the same can undo it as well.
    batches = {each.batch_id for each in waits.values()}
    undoes = batch_id if batch_id in batches else next(iter(batches), "")
    return Delayed(undoes, len(waits), refused)


def _state(kind: DelayedKind, subject: Any) -> str:
    return _encode(kind.state(subject)).decode()


def _waits_for_another(action: DelayedAction) -> str:
    kind = action.facts
    return f"This {kind.noun} will be {kind.done} in less than a minute; undo that first."


async def of_subjects(at: Reading, subject_ids: Sequence[str]) -> dict[str, DelayedAction]:
    """What waits, by the id of its subject."""
    found = await at.all(_OF_SUBJECTS, ids=list(subject_ids)) if subject_ids else []
    return {each.subject_id: each for each in found}


async def of_codes(at: Reading, codes: Sequence[str]) -> dict[str, DelayedAction]:
    """What waits for the referrals by these codes, by the id of the subscriber."""
    found = await at.all(_OF_CODES, codes=list(codes))
    return {each.subject_id: each for each in found}


def group(actions: Iterable[DelayedAction]) -> list[DelayedGroup]:
    """Those that were asked for together as one."""
    batches: dict[str, list[DelayedAction]] = {}
    for each in actions:
        batches.setdefault(each.batch_id, []).append(each)
    return [
        DelayedGroup(same[0].kind, batch_id, len(same), max(each.due_ms for each in same))
        for batch_id, same in batches.items()
    ]


async def undo(change: Change, action_or_batch_id: str) -> int:
    """Deletes one action, or all that were asked for together, and returns how many there were.
    None are left of what was done or undone before."""
    id_ = action_or_batch_id
    return await change.run(_DELETE, id=id_) or await change.run(_UNDO_BATCH, id=id_)


async def undo_by_member(
    change: Change, action_or_batch_id: str, may: Callable[[Right], bool]
) -> int:
    """For whoever may do what they undo, which somebody else may have asked for. It is logged."""
    for action in await change.lock(_WAITING, id=action_or_batch_id):
        if not may(action.facts.right):
            raise Forbidden(MAY_NOT_UNDO)
        asked = {"action": action.kind, "asked_by": action.actor_id}
        await change_log.record(change, action.facts.undone, action.subject_id, asked)
    return await undo(change, action_or_batch_id)


async def keep_only(tx: Tx, ids: Collection[str]) -> int:
    """For a restored backup: what is not among these may have been undone since it was made, so it
    is deleted. Returns how many there were."""
    return await tx.run(_KEEP_ONLY, ids=list(ids))


async def due(tx: Tx, *, most: int) -> list[DelayedAction]:
    """Of all accounts. If the clock was set back, what was asked for in its future does not wait
    until then."""
    return await tx.all(_DUE, ahead_ms=tx.now_ms + 2 * DELAY_MS, most=most)


async def apply(tx: Tx, site: Site, action: DelayedAction) -> None:
    """Does it, unless it was undone or done. Raises `Invalid` or `Missing` if it cannot be done any
    more: the caller then calls `drop`."""
    change, kind = action.change(tx, site, tx.now_ms), action.facts
    # The subject first, as everyone who changes it locks it.
    subject = await kind.get_locked(change, action.subject_id)
    if not await change.run(_DELETE, id=action.id) or subject is None:
        return
    await _check_right(change, kind)
    if _state(kind, subject) != action.subject_state:
        raise Invalid("It changed in the minute after your click.")
    await kind.apply(change, subject, action.arguments)


async def _check_right(change: Change, kind: DelayedKind) -> None:
    """The member may have been removed or got another role within the minute."""
    if change.actor.kind is not ActorKind.MEMBER:
        return
    role = await members.role_of(change.tx, change.tenant.account_id, change.actor.id)
    if role is None or not permissions.role_may(role, kind.right, is_admin=False):
        raise Invalid(LOST_RIGHT)


async def drop(tx: Tx, site: Site, action: DelayedAction, fault: Fault) -> None:
    """Deletes what cannot be done any more, and notifies the operator, once for all that were asked
    for together."""
    change, kind = action.change(tx, site, tx.now_ms), action.facts
    if not await change.run(_DELETE, id=action.id):
        return
    message = texts.action_dropped(
        noun=kind.noun, done=kind.done, why=fault.message, page=f"{site.base_url}{kind.page}"
    )
    await accounts.notify_owner(
        change, ACTION_DROPPED.name, action.batch_id, message, link=kind.page
    )
