"""What is to be written to a platform: the queue, the pass over all subscribers that fills it, and
what becomes of each write. The worker holds the integration's lease while it calls these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from honeyguide.events import changes
from honeyguide.integrations import contacts, leases
from honeyguide.integrations.about import About
from honeyguide.integrations.contacts import PlannedWrite, QueuedWrite, WrittenState
from honeyguide.integrations.integrations import TOP_MS, Integration
from honeyguide.integrations.leases import LostLease
from honeyguide.integrations.platform import Contact, ContactStatus, WriteOutcome, WriteResult
from honeyguide.kernel.clock import HOUR_MS, MINUTE_MS
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.site import Site
from honeyguide.referrals.lifecycle import SubscriberChanges
from honeyguide.signups import signups
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# Each subscriber is written at most once in this time, unless they leave.
GAP_MS = MINUTE_MS
MOST_CHANGES = 500
PASS_BATCH = 500
# After the last one, we give up on the subscriber.
RETRY_MS = (MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 8 * HOUR_MS)
ADVOCATES, ALL = "advocates", "all"


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


async def queue_changes(tx: Tx, integration: Integration, token: str, *, now_ms: int) -> bool:
    """Moves changes from the feed to the queue, each subscriber once. Tells whether there were
    any."""
    ids = await changes.take(tx, integration.tenant, most=MOST_CHANGES)
    if ids:
        await leases.lock(tx, integration, token)
        await tx.run(
            _QUEUE_CHANGED,
            integration_id=integration.id,
            account_id=integration.account_id,
            campaign_id=integration.campaign_id,
            ids=ids,
            gap_ms=GAP_MS,
            now_ms=now_ms,
        )
    return bool(ids)


async def queue_pass(tx: Tx, integration: Integration, token: str, *, now_ms: int) -> bool:
    """Queues the next subscribers of the pass: advocates first, then everybody, newest first."""
    kind = integration.pass_list
    if kind is None:
        return False
    found = await tx.all(
        _NEXT[kind],
        account_id=integration.account_id,
        campaign_id=integration.campaign_id,
        below_ms=integration.pass_ms,
        below_id=integration.pass_id,
        most=PASS_BATCH,
    )
    if found:
        await tx.run(
            _QUEUE_PASS,
            integration_id=integration.id,
            account_id=integration.account_id,
            campaign_id=integration.campaign_id,
            ids=[place.id for place in found],
            now_ms=now_ms,
        )
        to: tuple[str | None, int, str] = (kind, found[-1].created_ms, found[-1].id)
    else:
        to = (ALL if kind == ADVOCATES else None, TOP_MS, "")
    await _move_pass(tx, integration, token, *to)
    return True


async def write_all_again(tx: Tx, integration: Integration, token: str, *, now_ms: int) -> None:
    """A field of ours was deleted there, and with it what it said about everybody."""
    if not await tx.run(
        _WRITE_ALL_AGAIN,
        account_id=integration.account_id,
        id=integration.id,
        token=token,
        top_ms=TOP_MS,
        now_ms=now_ms,
    ):
        raise LostLease


async def _move_pass(
    tx: Tx, integration: Integration, token: str, kind: str | None, pass_ms: int, pass_id: str
) -> None:
    moved = await tx.run(
        _MOVE_PASS,
        account_id=integration.account_id,
        id=integration.id,
        token=token,
        pass_list=kind,
        pass_ms=pass_ms,
        pass_id=pass_id,
    )
    if not moved:
        raise LostLease


async def plan_writes(
    tx: Tx, site: Site, integration: Integration, *, most: int, now_ms: int
) -> list[PlannedWrite]:
    """The next in the queue, as they are now."""
    queue = await tx.all(
        _DUE,
        account_id=integration.account_id,
        integration_id=integration.id,
        now_ms=now_ms,
        most=most,
    )
    return await contacts.plan(tx, site, integration, queue) if queue else []


async def begin_writes(
    tx: Tx, integration: Integration, token: str, planned: Sequence[PlannedWrite]
) -> None:
    """Remembers what is about to be written to those of whom nothing was written before. If we
    never learn whether it arrived, and they leave or change their address meanwhile, the platform
    is told."""
    await leases.lock(tx, integration, token)
    states = [
        {
            "integration_id": integration.id,
            "subscriber_id": each.contact.subscriber_id,
            "written": _encoded(each.state),
        }
        for each in planned
    ]
    await tx.run(_SET_WRITTEN, account_id=integration.account_id, states=states)


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


def unchanged(planned: PlannedWrite) -> SettledWrite:
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


def has_left(planned: PlannedWrite, outcome: WriteOutcome) -> bool:
    """Whether the platform told us that they left, and we did not know."""
    return _result(planned.contact, outcome) == WriteResult.LEFT and not _came_back(planned)


async def record(
    tx: Tx,
    site: Site,
    integration: Integration,
    token: str,
    settled: Sequence[SettledWrite],
    *,
    erased: Sequence[str],
    left: Sequence[str],
    newly: int,
    written: int,
    is_garbled: bool,
    next_call_ms: int,
    now_ms: int,
) -> None:
    """Stores what became of a batch. `left` become unsubscribed here too. An answer that was
    `is_garbled` ends no trouble."""
    bound: dict[str, Any] = {"account_id": integration.account_id, "id": integration.id}
    if not await tx.run(
        _COUNT_WRITTEN,
        newly=newly,
        written=written,
        is_garbled=int(is_garbled),
        next_call_ms=next_call_ms,
        token=token,
        now_ms=now_ms,
        **bound,
    ):
        raise LostLease
    account_id = integration.account_id
    if settled:
        outcomes = [
            {"integration_id": integration.id, **msgspec.to_builtins(each)} for each in settled
        ]
        await tx.run(_SET_OUTCOMES, account_id=account_id, outcomes=outcomes)
    if erased:
        await tx.run(
            _DELETE_ERASED,
            account_id=account_id,
            integration_id=integration.id,
            ids=list(erased),
        )
        tx.scrub()
    for subscriber_id in left:
        await unsubscribe(tx, site, integration, subscriber_id, now_ms=now_ms)


async def unsubscribe(
    tx: Tx, site: Site, integration: Integration, subscriber_id: str, *, now_ms: int
) -> None:
    change = Change(tx, site, integration.tenant, integration.actor, now_ms)
    left = SubscriberChanges(status=contacts.UNSUBSCRIBED)
    try:
        await signups.update(change, subscriber_id, left)
    except Missing:  # erased meanwhile
        return


async def finish_first_sync(tx: Tx, integration: Integration, token: str, *, now_ms: int) -> None:
    """The queue is empty. If it was filled for the first time, the first sync is done."""
    await tx.run(
        _FINISH_FIRST_SYNC,
        account_id=integration.account_id,
        id=integration.id,
        token=token,
        now_ms=now_ms,
    )
