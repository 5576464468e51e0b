"""What a platform says about its subscribers, by webhook or when it is asked, applied here.

Each change is a whole transaction, and repeating one is harmless. Nobody who unsubscribed becomes
active by what a platform says. Those who left, bounced, complained or were deleted there are
unsubscribed here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from honeyguide.events import changes
from honeyguide.integrations import outgoing
from honeyguide.integrations.contacts import UNSUBSCRIBED, WrittenState
from honeyguide.integrations.integrations import Integration
from honeyguide.integrations.leases import LeasedIntegration
from honeyguide.integrations.platform import ContactStatus
from honeyguide.integrations.policy import GONE
from honeyguide.integrations.reports import ChangeKind, IncomingHook, PlatformChange
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS, iso
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ids import new_id
from honeyguide.screening.signals import Signal
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber, SubscriberChanges
from honeyguide.store.purging import Purge
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import subscribers
from honeyguide.subscribers.origins import Origin
from honeyguide.subscribers.subscribers import Subscriber

# Wakes the workers when a webhook has come.
TOPIC = "integration events"
EVENT_BATCH = 20
EVENT_TRIES = 10
# A repeated webhook is recognized for this long.
KEPT_MS = 7 * DAY_MS
# One that is not applied yet waits for this long while its integration is paused. No longer,
# because an erasure cannot look into what a platform sent.
WAITING_KEPT_MS = 30 * DAY_MS
PURGE_BATCH = 1_000
# What the platform says about somebody after we had them removed there.
REMOVALS = (ChangeKind.LEFT, ChangeKind.DELETED)
# When whoever is on a list joined there, if it does not say.
ANY_TIME = 0


class StoredHook(NamedTuple):
    id: str
    content: str
    received_ms: int
    tries: int

    @property
    def hook(self) -> IncomingHook:
        return msgspec.json.decode(self.content, type=IncomingHook)


class _OldHook(NamedTuple):
    id: str
    received_ms: int


class _Known(NamedTuple):
    email_key: str
    status: str
    unsubscribed_ms: int | None
    remote_id: str | None
    has_state: bool
    removed_ms: int | None


_sql = beside(__file__)
_INSERT_EVENT = _sql.command("insert_event")
_NOTE_REFUSED = _sql.command("note_refused")
_DUE_EVENTS = _sql.query("due_events", StoredHook)
_FINISH_EVENT = _sql.command("finish_event")
_DELAY_EVENT = _sql.command("delay_event")
_OLD = _sql.query("old", _OldHook)
_PURGE = _sql.command("purge")
_BY_REMOTE_ID = _sql.value("by_remote_id", str)
_KNOWN = _sql.query("known", _Known)
_SET_REMOTE = _sql.command("set_remote")
_WRITTEN = _sql.value("written", WrittenState)
_REMOVED = _sql.value("removed", str)
_SET_WRITTEN = _sql.command("set_written")
_ERASED_SINCE = _sql.value("erased_since", str)
_NOTE_RECEIVED = _sql.command("note_received")


# -- webhooks


async def store_hook(
    tx: Tx, integration: Integration, hook: IncomingHook, *, signed_at: str
) -> bool:
    """Stores a webhook as it came; False if it came before. `signed_at` is what `verify_hook`
    returned. Without it, nobody can tell a repeated webhook from somebody who left, came back and
    left again in the same words. So it is a repeat only until the first one has been applied."""
    digest = hashlib.sha256(signed_at.encode() + b"\0" + hook.body).hexdigest()
    stored = await tx.run(
        _INSERT_EVENT,
        id=new_id(),
        integration_id=integration.id,
        account_id=integration.account_id,
        digest=digest,
        content=msgspec.json.encode(hook).decode(),
        has_time=bool(signed_at),
    )
    if stored:
        tx.wake(TOPIC)
    return bool(stored)


async def note_refused(tx: Tx, integration: Integration, reason: str) -> None:
    """For the dashboard: a webhook was not taken. `reason` is a sentence."""
    await tx.run(
        _NOTE_REFUSED,
        account_id=integration.account_id,
        id=integration.id,
        reason=reason,
    )


async def due_hooks(at: Reading, integration: Integration) -> list[StoredHook]:
    return await at.all(_DUE_EVENTS, integration_id=integration.id, most=EVENT_BATCH)


async def finish_hook(leased: LeasedIntegration, stored: StoredHook) -> None:
    await leased.run(_FINISH_EVENT, id=stored.id)


async def delay_hook(leased: LeasedIntegration, stored: StoredHook, reason: str) -> None:
    """Tries again later, and gives up in the end; the nightly pass finds what was missed."""
    if stored.tries + 1 >= EVENT_TRIES:
        await finish_hook(leased, stored)
        given_up = f"We tried {EVENT_TRIES} times to apply it. {reason}"
        await note_refused(leased.tx, leased.integration, given_up)
        return
    due_ms = leased.now_ms + MINUTE_MS * 2**stored.tries
    await leased.run(_DELAY_EVENT, id=stored.id, due_ms=due_ms)


def _purge_limits(now_ms: int) -> dict[str, int]:
    return {"before_ms": now_ms - KEPT_MS, "waiting_before_ms": now_ms - WAITING_KEPT_MS}


purge = Purge(_OLD, _PURGE, _purge_limits, batch=PURGE_BATCH)


# -- applying


async def unknown_changes(
    at: Reading, integration: Integration, reported: Sequence[PlatformChange]
) -> list[PlatformChange]:
    """Those that may change something here. Most of a whole list is as we know it."""
    keys = {_key(each.email): each for each in reported if _key(each.email)}
    found = await at.all(_KNOWN, email_keys=list(keys), integration_id=integration.id)
    known = {each.email_key: each for each in found}
    return [
        each for each in reported if not _is_known(integration, each, known.get(_key(each.email)))
    ]


def _is_known(integration: Integration, change: PlatformChange, known: _Known | None) -> bool:
    if known is None:
        return change.kind in GONE and change.remote_id is None
    if change.kind in GONE:
        was_removed = known.removed_ms is not None and change.kind in REMOVALS
        return known.status == UNSUBSCRIBED or was_removed
    if not known.has_state and _left_later(integration, change, known.unsubscribed_ms):
        return False
    return (
        change.kind == ChangeKind.JOINED
        and change.remote_id == known.remote_id
        and known.remote_id is not None
    )


def _left_later(integration: Integration, change: PlatformChange, left_ms: int | None) -> bool:
    """Whether they left here after they joined there. Somebody who left before it was
    connected, or before they joined there, is on that list by their own wish."""
    joined_ms = change.created_ms
    if left_ms is None or joined_ms is None:
        return False
    return left_ms >= max(joined_ms, integration.created_ms)


def _key(email: str) -> str:
    try:
        return EmailAddress.parse(email).key
    except Invalid:
        return ""


async def apply(leased: LeasedIntegration, reported: PlatformChange, *, joined_ms: int) -> None:
    """One change. An address that makes no sense, or that somebody else has, changes nothing.
    `joined_ms` is when whoever is new here joined there, if the change does not say it."""
    found = await _find(leased, reported)
    if reported.kind in GONE:
        if found is not None:
            await _leave(leased, found, reported)
    elif found is None:
        await _join(leased, reported, joined_ms=joined_ms)
    else:
        await _update(leased, found, reported)
    # If it was disconnected meanwhile, nothing may be kept about it.
    await leased.update(_NOTE_RECEIVED, kind=reported.kind)


async def _find(leased: LeasedIntegration, reported: PlatformChange) -> Subscriber | None:
    """By the platform's ID, else by the old address, else by the address."""
    if reported.remote_id is not None:
        subscriber_id = await leased.one(_BY_REMOTE_ID, remote_id=reported.remote_id)
        found = subscriber_id and await subscribers.find(leased, subscriber_id)
        if found:
            return found
    for email in (reported.old_email, reported.email):
        if email:
            found = await subscribers.find(leased, email)
            if found:
                return found
    return None


async def _join(leased: LeasedIntegration, reported: PlatformChange, *, joined_ms: int) -> None:
    try:
        email = EmailAddress.parse(reported.email)
    except Invalid:
        return
    if await _stays_erased(leased, reported, email, joined_ms):
        return
    is_past = reported.created_ms is not None and reported.created_ms < leased.now_ms
    new = NewSubscriber(
        email=reported.email,
        name=(reported.name or "").strip()[:100] or None,
        referrer_code=(reported.code or "").strip()[:100] or None,
        origin=_origin(leased.integration, reported),
        status="confirmed" if reported.kind == ChangeKind.CONFIRMED else "active",
        created_at=iso(reported.created_ms) if is_past and reported.created_ms else None,
    )
    subscriber = await signups.sign_up(leased, new, email=email)
    await leased.tx.flush()
    await _link(leased, subscriber.id, reported.remote_id)
    await _note_there(leased, subscriber.id, email=email.text)


async def _stays_erased(
    leased: LeasedIntegration, reported: PlatformChange, email: EmailAddress, joined_ms: int
) -> bool:
    """Whoever was erased here comes back only by joining there after that: they may be on a list
    there for as long as the platform likes, and click or get another address."""
    emails = [email, EmailAddress(reported.old_email)] if reported.old_email else [email]
    since_ms = reported.created_ms
    if since_ms is None:
        since_ms = joined_ms if reported.kind == ChangeKind.JOINED else ANY_TIME
    person_keys = [key for each in emails for key in leased.site.person_keys(each)]
    found = await leased.one(_ERASED_SINCE, person_keys=person_keys, since_ms=since_ms)
    return found is not None


def _origin(integration: Integration, reported: PlatformChange) -> str:
    """Somebody who was on the list before it was connected is an import; others joined there."""
    if reported.created_ms is None:
        was_there = integration.first_sync_ms is None
    else:
        was_there = reported.created_ms < integration.created_ms
    return Origin.IMPORT if was_there else Origin.PLATFORM


async def _update(leased: LeasedIntegration, found: Subscriber, reported: PlatformChange) -> None:
    """A new address, a confirmation, a sign of life, or nothing new. Those who unsubscribed here
    stay unsubscribed; if we wrote nothing about them before they did, the platform is told. An
    address that the platform had before is no news: it was changed here, and is not written yet.
    """
    await _link(leased, found.id, reported.remote_id)
    before = await _state_there(leased, found.id)
    known = {"", EmailAddress(found.email).key, _key(before.email) if before else ""}
    is_here = found.status != UNSUBSCRIBED
    left_later = _left_later(leased.integration, reported, found.unsubscribed_ms)
    if is_here or (before is None and left_later):
        there = EmailAddress.parse(reported.email).text if _key(reported.email) else found.email
        await _note_there(leased, found.id, email=there)
        await changes.record(leased, found.id)
    fields: dict[str, str] = {}
    if _key(reported.email) not in known:
        fields["email"] = reported.email
    if reported.kind == ChangeKind.CONFIRMED and found.status == "active":
        fields["status"] = "confirmed"
    if fields:
        await signups.update(leased, found.id, SubscriberChanges(**fields))
    if reported.kind == ChangeKind.ENGAGED and is_here:
        await signups.record_sign_of_life(leased, found.id, Signal.ACTIVE_ON_PLATFORM)


async def _leave(leased: LeasedIntegration, found: Subscriber, reported: PlatformChange) -> None:
    """Somebody whom the operator had removed there before they confirmed did not leave."""
    is_gone = reported.kind == ChangeKind.DELETED
    await _link(leased, found.id, None if is_gone else reported.remote_id)
    await _note_there(leased, found.id, email=found.email, has_left=True, is_gone=is_gone)
    removed = await leased.one(_REMOVED, subscriber_id=found.id)
    was_removed = removed is not None and reported.kind in REMOVALS
    if not was_removed:
        await outgoing.depart(leased, found.id, reported.kind)


async def _link(leased: LeasedIntegration, subscriber_id: str, remote_id: str | None) -> None:
    await leased.run(_SET_REMOTE, subscriber_id=subscriber_id, remote_id=remote_id)


async def _state_there(leased: LeasedIntegration, subscriber_id: str) -> WrittenState | None:
    return await leased.one(_WRITTEN, subscriber_id=subscriber_id)


async def _note_there(
    leased: LeasedIntegration,
    subscriber_id: str,
    *,
    email: str,
    has_left: bool = False,
    is_gone: bool = False,
) -> None:
    """Remembers what the platform has now, so that it is not written back to it."""
    before = await _state_there(leased, subscriber_id)
    state = WrittenState(
        email=email,
        status=ContactStatus.UNSUBSCRIBED if has_left else ContactStatus.ACTIVE,
        fields=before.fields if before else {},
    )
    await leased.run(
        _SET_WRITTEN,
        subscriber_id=subscriber_id,
        written=msgspec.json.encode(state).decode(),
        is_gone=is_gone,
        has_left=has_left,
    )
