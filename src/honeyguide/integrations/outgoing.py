"""What is to be written to a platform: the queue, the pass over all subscribers that fills it, and
what becomes of each write. The worker holds the integration's lease while it calls these.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from honeyguide.events import changes
from honeyguide.integrations import contacts
from honeyguide.integrations.about import About
from honeyguide.integrations.contacts import PlannedWrite, QueuedWrite, WrittenState
from honeyguide.integrations.integrations import TOP_MS, Integration
from honeyguide.integrations.leases import LeasedIntegration
from honeyguide.integrations.platform import Contact, ContactStatus, WriteOutcome, WriteResult
from honeyguide.integrations.reports import ChangeKind
from honeyguide.kernel.clock import HOUR_MS, MINUTE_MS
from honeyguide.kernel.errors import Missing
from honeyguide.signups import signups
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers.reasons import Reason

# Each subscriber is written at most once in this time, unless they leave.
GAP_MS = MINUTE_MS
MOST_CHANGES = 500
PASS_BATCH = 500
# After the last one, we give up on the subscriber.
RETRY_MS = (MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 8 * HOUR_MS)
ADVOCATES, ALL = "advocates", "all"
_HOW = {each.value: each for each in Reason if each.facts.is_after_fee}


class _Place(NamedTuple):
    id: str
    created_ms: int


class SettledWrite(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the queue after a write."""

    subscriber_id: str
    remote_id: str | None
    written: str | None
    synced_ms: int | None
    due_ms: int | None = None
    tries: int = 0
    reason: str | None = None
    failed_ms: int | None = None
    is_active: int = 0
    """Whether they are on the list there now. Then nobody has removed them."""


class SettledBatch(msgspec.Struct):
    """What became of a batch of writes."""

    settled: list[SettledWrite] = []
    erased: list[str] = []
    left: dict[str, ChangeKind | None] = {}
    """Those who left there, and how; they become unsubscribed here, too."""
    newly: int = 0
    """How many more are synced now; fewer, if more of those who were are erased."""
    written: int = 0


_sql = beside(__file__)
_QUEUE_CHANGED = _sql.command("queue_changed")
_NEXT = {
    ADVOCATES: _sql.query("next_advocates", _Place),
    ALL: _sql.query("next_all", _Place),
}
_QUEUE_PASS = _sql.command("queue_pass")
_MOVE_PASS = _sql.command("move_pass")
_WRITE_ALL_AGAIN = _sql.command("write_all_again")
_DUE = _sql.query("due", QueuedWrite)
_SET_WRITTEN = _sql.command("set_written")
_SET_OUTCOMES = _sql.command("set_outcomes")
_DELETE_ERASED = _sql.command("delete_erased")
_COUNT_WRITTEN = _sql.command("count_written")
_FINISH_FIRST_SYNC = _sql.command("finish_first_sync")


async def queue_changes(leased: LeasedIntegration) -> bool:
    """Moves changes from the feed to the queue, each subscriber once. Tells whether there were
    any."""
    ids = await changes.take(leased, most=MOST_CHANGES)
    if ids:
        await leased.lock_lease()
        await leased.run(_QUEUE_CHANGED, ids=ids, gap_ms=GAP_MS)
    return bool(ids)


async def queue_pass(leased: LeasedIntegration) -> bool:
    """Queues the next subscribers of the pass: advocates first, then everybody, newest first."""
    integration = leased.integration
    kind = integration.pass_list
    if kind is None:
        return False
    found = await leased.all(
        _NEXT[kind], below_ms=integration.pass_ms, below_id=integration.pass_id, most=PASS_BATCH
    )
    if found:
        await leased.run(_QUEUE_PASS, ids=[place.id for place in found])
        to: tuple[str | None, int, str] = (kind, found[-1].created_ms, found[-1].id)
    else:
        to = (ALL if kind == ADVOCATES else None, TOP_MS, "")
    pass_list, pass_ms, pass_id = to
    await leased.update(_MOVE_PASS, pass_list=pass_list, pass_ms=pass_ms, pass_id=pass_id)
    return True


async def write_all_again(leased: LeasedIntegration) -> None:
    """A field of ours was deleted there, and with it what it said about everybody."""
    await leased.update(_WRITE_ALL_AGAIN, top_ms=TOP_MS)


async def plan_writes(at: Reading, integration: Integration, *, most: int) -> list[PlannedWrite]:
    """The next in the queue, as they are now."""
    queue = await at.all(_DUE, integration_id=integration.id, most=most)
    return await contacts.plan(at, integration, queue) if queue else []


async def begin_writes(leased: LeasedIntegration, planned: Sequence[PlannedWrite]) -> None:
    """Remembers what is about to be written to those of whom nothing was written before. If we
    never learn whether it arrived, and they leave or change their address meanwhile, the platform
    is told."""
    await leased.lock_lease()
    states = [
        {
            "integration_id": leased.integration.id,
            "subscriber_id": each.contact.subscriber_id,
            "written": _encoded(each.state),
        }
        for each in planned
    ]
    await leased.run(_SET_WRITTEN, states=states)


def _encoded(state: WrittenState) -> str:
    return msgspec.json.encode(state).decode()


def settle(
    about: About, planned: PlannedWrite, outcome: WriteOutcome, *, now_ms: int
) -> SettledWrite:
    """What becomes of the row, by what the platform said."""
    queued, contact = planned.queued, planned.contact
    remote_id = outcome.remote_id or queued.remote_id
    result, reason = _result(contact, outcome), outcome.reason
    if result == WriteResult.WRITTEN:
        return _done(queued.subscriber_id, remote_id, planned.state, now_ms)
    if result == WriteResult.LEFT:
        if not _came_back(planned):
            left = WrittenState(
                planned.state.email, ContactStatus.UNSUBSCRIBED, planned.state.fields
            )
            return _done(queued.subscriber_id, remote_id, left, now_ms)
        reason = _why_away(about, queued)
    elif result == WriteResult.ABSENT and contact.may_add and contact.old_email:
        # The first write never arrived. They are added by their new address next.
        return SettledWrite(
            subscriber_id=queued.subscriber_id,
            remote_id=None,
            written=None,
            synced_ms=None,
            due_ms=now_ms,
            tries=queued.tries,
        )
    elif result == WriteResult.ABSENT:
        reason = f"They are not on the list in {about.name}."
    tries = queued.tries + 1
    may_retry = result == WriteResult.LATER and tries <= len(RETRY_MS)
    return SettledWrite(
        subscriber_id=queued.subscriber_id,
        remote_id=remote_id,
        # It may have arrived.
        written=_encoded(planned.state) if may_retry and planned.is_first else queued.written,
        synced_ms=queued.synced_ms,
        due_ms=now_ms + RETRY_MS[tries - 1] if may_retry else None,
        tries=tries,
        reason=reason or f"{about.name} refused them without a reason.",
        failed_ms=None if may_retry else now_ms,
    )


def _why_away(about: About, queued: QueuedWrite) -> str:
    if queued.removed_ms is not None:
        return (
            f"They were removed from {about.name} before they confirmed, and we make nobody active "
            f"there again. Subscribe them in {about.name}."
        )
    return (
        f"They left the list in {about.name} and signed up here again. Only they themselves can "
        f"come back there."
    )


def _result(contact: Contact, outcome: WriteOutcome) -> WriteResult:
    """What the platform's answer means for us."""
    if outcome.result not in (WriteResult.LEFT, WriteResult.ABSENT):
        return outcome.result
    if contact.status != ContactStatus.ACTIVE:
        return WriteResult.WRITTEN  # they are not active there, as they should be
    if contact.remote_id is not None:
        return WriteResult.LEFT  # the platform knew them: they were deleted there
    return outcome.result


def _unchanged(planned: PlannedWrite) -> SettledWrite:
    """The platform knows all this already."""
    queued = planned.queued
    return SettledWrite(
        subscriber_id=queued.subscriber_id,
        remote_id=queued.remote_id,
        written=queued.written,
        synced_ms=queued.synced_ms,
    )


def _done(
    subscriber_id: str, remote_id: str | None, state: WrittenState, now_ms: int
) -> SettledWrite:
    return SettledWrite(
        subscriber_id=subscriber_id,
        remote_id=remote_id,
        written=_encoded(state),
        synced_ms=now_ms,
        is_active=int(state.status == ContactStatus.ACTIVE),
    )


def _came_back(planned: PlannedWrite) -> bool:
    """Whether we knew that they left there: then they are active here by their own wish."""
    before = planned.queued.last_written
    return before is not None and before.status == ContactStatus.UNSUBSCRIBED


def _has_left(planned: PlannedWrite, outcome: WriteOutcome) -> bool:
    """Whether the platform told us that they left, and we did not know."""
    return _result(planned.contact, outcome) == WriteResult.LEFT and not _came_back(planned)


def settle_batch(
    about: About,
    planned: Sequence[PlannedWrite],
    outcomes: Mapping[str, WriteOutcome],
    *,
    now_ms: int,
) -> SettledBatch:
    batch = SettledBatch()
    for each in planned:
        subscriber_id = each.contact.subscriber_id
        outcome = outcomes.get(subscriber_id)
        row = _unchanged(each) if outcome is None else settle(about, each, outcome, now_ms=now_ms)
        is_written = outcome is not None and row.failed_ms is None and row.due_ms is None
        batch.written += int(is_written)
        if each.contact.status == ContactStatus.ERASED and row.due_ms is None:
            batch.erased.append(subscriber_id)
            batch.newly -= int(each.queued.synced_ms is not None)
            continue
        batch.settled.append(row)
        batch.newly += int(is_written and each.queued.synced_ms is None)
        if outcome is not None and _has_left(each, outcome):
            batch.left[subscriber_id] = outcome.gone
    return batch


async def record(
    leased: LeasedIntegration, batch: SettledBatch, *, is_garbled: bool, next_call_ms: int
) -> None:
    """Stores what became of a batch. An answer that was `is_garbled` does not clear the problem
    that the integration has."""
    await leased.update(
        _COUNT_WRITTEN,
        newly=batch.newly,
        written=batch.written,
        is_garbled=int(is_garbled),
        next_call_ms=next_call_ms,
    )
    if batch.settled:
        integration_id = leased.integration.id
        outcomes = [
            {"integration_id": integration_id, **msgspec.to_builtins(row)} for row in batch.settled
        ]
        await leased.run(_SET_OUTCOMES, outcomes=outcomes)
    if batch.erased:
        await leased.run(_DELETE_ERASED, ids=batch.erased)
        leased.tx.scrub()
    for subscriber_id, kind in batch.left.items():
        await depart(leased, subscriber_id, kind)


async def depart(leased: LeasedIntegration, subscriber_id: str, kind: ChangeKind | None) -> None:
    how = _HOW.get(str(kind), Reason.LEFT_DURING_HOLD)
    with contextlib.suppress(Missing):  # erased meanwhile
        await signups.depart(leased, subscriber_id, how)


async def finish_first_sync(leased: LeasedIntegration) -> None:
    """The queue is empty. If it was filled for the first time, the first sync is done."""
    await leased.run(_FINISH_FIRST_SYNC)
