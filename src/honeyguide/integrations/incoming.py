"""What a platform says about its subscribers, by webhook or when it is asked, applied here.

Each change is a whole transaction, and repeating one is harmless. Nobody who unsubscribed becomes
active by what a platform says. Those who left, bounced or were deleted there are unsubscribed here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from honeyguide.events import changes
from honeyguide.integrations import outgoing
from honeyguide.integrations.contacts import UNSUBSCRIBED, WrittenState
from honeyguide.integrations.integrations import Integration
from honeyguide.integrations.leases import LostLease
from honeyguide.integrations.platform import ContactStatus
from honeyguide.integrations.reports import ChangeKind, IncomingHook, PlatformChange
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS, iso
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.site import Site
from honeyguide.referrals import subscribers
from honeyguide.referrals.lifecycle import NewSubscriber, SubscriberChanges
from honeyguide.referrals.origins import Origin
from honeyguide.referrals.signals import Signal
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.signups import signups
from honeyguide.store.change import Change
from honeyguide.store.purging import Purge
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

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
LEAVES = (ChangeKind.LEFT, ChangeKind.BOUNCED, ChangeKind.DELETED)
# What the platform says about somebody after we had them removed there.
REMOVALS = (ChangeKind.LEFT, ChangeKind.DELETED)


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
    has_state: int
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
_WRITTEN = _sql.value("written", str)
_REMOVED = _sql.value("removed", str)
_SET_WRITTEN = _sql.command("set_written")
_ERASED_SINCE = _sql.value("erased_since", str)
_NOTE_RECEIVED = _sql.command("note_received")


# -- webhooks


async def store_hook(
    tx: Tx, integration: Integration, hook: IncomingHook, *, signed_at: str, now_ms: int
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
        has_time=int(bool(signed_at)),
        now_ms=now_ms,
    )
    if stored:
        tx.wake(TOPIC)
    return bool(stored)


async def note_refused(tx: Tx, integration: Integration, reason: str, *, now_ms: int) -> None:
    """For the dashboard: a webhook was not taken. `reason` is a sentence."""
    await tx.run(
        _NOTE_REFUSED,
        account_id=integration.account_id,
        id=integration.id,
        reason=reason,
        now_ms=now_ms,
    )


async def due_hooks(tx: Tx, integration: Integration, *, now_ms: int) -> list[StoredHook]:
    return await tx.all(_DUE_EVENTS, now_ms=now_ms, most=EVENT_BATCH, **_rows(integration))


async def finish_hook(tx: Tx, integration: Integration, stored: StoredHook) -> None:
    await tx.run(_FINISH_EVENT, id=stored.id, **_rows(integration))


async def delay_hook(
    tx: Tx, integration: Integration, stored: StoredHook, reason: str, *, now_ms: int
) -> None:
    """Tries again later, and gives up in the end; the nightly pass finds what was missed."""
    if stored.tries + 1 >= EVENT_TRIES:
        await finish_hook(tx, integration, stored)
        given_up = f"We tried {EVENT_TRIES} times to apply it. {reason}"
        await note_refused(tx, integration, given_up, now_ms=now_ms)
        return
    due_ms = now_ms + MINUTE_MS * 2**stored.tries
    await tx.run(_DELAY_EVENT, id=stored.id, due_ms=due_ms, **_rows(integration))


def _purge_limits(now_ms: int) -> dict[str, int]:
    return {"before_ms": now_ms - KEPT_MS, "waiting_before_ms": now_ms - WAITING_KEPT_MS}


purge = Purge(_OLD, _PURGE, _purge_limits, batch=PURGE_BATCH)


# -- applying


async def unknown_changes(
    tx: Tx, integration: Integration, reported: Sequence[PlatformChange]
) -> list[PlatformChange]:
    """Those that may change something here. Most of a whole list is as we know it."""
    keys = {_key(each.email): each for each in reported if _key(each.email)}
    found = await tx.all(
        _KNOWN,
        email_keys=list(keys),
        integration_id=integration.id,
        account_id=integration.account_id,
        campaign_id=integration.campaign_id,
    )
    known = {each.email_key: each for each in found}
    return [
        each for each in reported if not _is_known(integration, each, known.get(_key(each.email)))
    ]


def _is_known(integration: Integration, change: PlatformChange, known: _Known | None) -> bool:
    if known is None:
        return change.kind in LEAVES and change.remote_id is None
    if change.kind in LEAVES:
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


async def apply(
    tx: Tx,
    site: Site,
    integration: Integration,
    change: PlatformChange,
    *,
    received_ms: int,
    now_ms: int,
) -> None:
    """One change. An address that makes no sense, or that somebody else has, changes nothing."""
    found = await _find(tx, integration, change)
    if change.kind in LEAVES:
        if found is not None:
            await _leave(tx, site, integration, found, change, now_ms=now_ms)
    elif found is None:
        await _join(tx, site, integration, change, received_ms=received_ms, now_ms=now_ms)
    else:
        await _update(tx, site, integration, found, change, now_ms=now_ms)
    if not await tx.run(
        _NOTE_RECEIVED,
        account_id=integration.account_id,
        id=integration.id,
        kind=change.kind,
        now_ms=now_ms,
    ):
        raise LostLease  # disconnected meanwhile; nothing may be kept about it


async def _find(tx: Tx, integration: Integration, change: PlatformChange) -> Subscriber | None:
    """By the platform's ID, else by the old address, else by the address."""
    if change.remote_id is not None:
        subscriber_id = await tx.one(
            _BY_REMOTE_ID, remote_id=change.remote_id, **_rows(integration)
        )
        found = subscriber_id and await subscribers.find(tx, integration.tenant, subscriber_id)
        if found:
            return found
    for email in (change.old_email, change.email):
        if email:
            found = await subscribers.find(tx, integration.tenant, email)
            if found:
                return found
    return None


async def _join(
    tx: Tx,
    site: Site,
    integration: Integration,
    change: PlatformChange,
    *,
    received_ms: int,
    now_ms: int,
) -> None:
    try:
        email = EmailAddress.parse(change.email)
    except Invalid:
        return
    if await tx.one(
        _ERASED_SINCE,
        account_id=integration.account_id,
        campaign_id=integration.campaign_id,
        person_key=site.person_key(email),
        since_ms=received_ms,
    ):
        return
    is_past = change.created_ms is not None and change.created_ms < now_ms
    new = NewSubscriber(
        email=change.email,
        name=(change.name or "").strip()[:100] or None,
        referrer_code=(change.code or "").strip()[:100] or None,
        origin=_origin(integration, change),
        status="confirmed" if change.kind == ChangeKind.CONFIRMED else "active",
        created_at=iso(change.created_ms) if is_past and change.created_ms else None,
    )
    subscriber = await signups.sign_up(
        Change(tx, site, integration.tenant, integration.actor, now_ms), new, email=email
    )
    await tx.flush()
    await _link(tx, integration, subscriber.id, change.remote_id)
    await _note_there(tx, integration, subscriber.id, email=email.text)


def _origin(integration: Integration, change: PlatformChange) -> str:
    """Somebody who was on the list before it was connected is an import; others joined there."""
    if change.created_ms is None:
        was_there = integration.first_sync_ms is None
    else:
        was_there = change.created_ms < integration.created_ms
    return Origin.IMPORT if was_there else Origin.PLATFORM


async def _update(
    tx: Tx,
    site: Site,
    integration: Integration,
    found: Subscriber,
    change: PlatformChange,
    *,
    now_ms: int,
) -> None:
    """A new address, a confirmation, a sign of life, or nothing new. Those who unsubscribed here
    stay unsubscribed; if we wrote nothing about them before they did, the platform is told. An
    address that the platform had before is no news: it was changed here, and is not written yet.
    """
    await _link(tx, integration, found.id, change.remote_id)
    before = await _state_there(tx, integration, found.id)
    known = {"", EmailAddress(found.email).key, _key(before.email) if before else ""}
    is_here = found.status != UNSUBSCRIBED
    if is_here or (before is None and _left_later(integration, change, found.unsubscribed_ms)):
        there = EmailAddress.parse(change.email).text if _key(change.email) else found.email
        await _note_there(tx, integration, found.id, email=there)
        await changes.record(tx, integration.tenant, found.id)
    fields: dict[str, str] = {}
    if _key(change.email) not in known:
        fields["email"] = change.email
    if change.kind == ChangeKind.CONFIRMED and found.status == "active":
        fields["status"] = "confirmed"
    made = Change(tx, site, integration.tenant, integration.actor, now_ms)
    if fields:
        await signups.update(made, found.id, SubscriberChanges(**fields))
    if change.kind == ChangeKind.ENGAGED and is_here:
        await signups.record_sign_of_life(made, found.id, Signal.ACTIVE_ON_PLATFORM)


async def _leave(
    tx: Tx,
    site: Site,
    integration: Integration,
    found: Subscriber,
    change: PlatformChange,
    *,
    now_ms: int,
) -> None:
    """Somebody whom the operator had removed there before they confirmed did not leave."""
    is_gone = change.kind == ChangeKind.DELETED
    await _link(tx, integration, found.id, None if is_gone else change.remote_id)
    await _note_there(tx, integration, found.id, email=found.email, has_left=True, is_gone=is_gone)
    removed = await tx.one(_REMOVED, subscriber_id=found.id, **_rows(integration))
    was_removed = removed is not None and change.kind in REMOVALS
    if found.status != UNSUBSCRIBED and not was_removed:
        await outgoing.unsubscribe(tx, site, integration, found.id, now_ms=now_ms)


async def _link(
    tx: Tx, integration: Integration, subscriber_id: str, remote_id: str | None
) -> None:
    await tx.run(
        _SET_REMOTE,
        integration_id=integration.id,
        account_id=integration.account_id,
        campaign_id=integration.campaign_id,
        subscriber_id=subscriber_id,
        remote_id=remote_id,
    )


async def _state_there(tx: Tx, integration: Integration, subscriber_id: str) -> WrittenState | None:
    text = await tx.one(_WRITTEN, subscriber_id=subscriber_id, **_rows(integration))
    return msgspec.json.decode(text, type=WrittenState) if text else None


async def _note_there(
    tx: Tx,
    integration: Integration,
    subscriber_id: str,
    *,
    email: str,
    has_left: bool = False,
    is_gone: bool = False,
) -> None:
    """Remembers what the platform has now, so that it is not written back to it."""
    bound = {**_rows(integration), "subscriber_id": subscriber_id}
    before = await _state_there(tx, integration, subscriber_id)
    state = WrittenState(
        email=email,
        status=ContactStatus.UNSUBSCRIBED if has_left else ContactStatus.ACTIVE,
        fields=before.fields if before else {},
    )
    written = msgspec.json.encode(state).decode()
    await tx.run(
        _SET_WRITTEN, written=written, is_gone=int(is_gone), has_left=int(has_left), **bound
    )


def _rows(integration: Integration) -> dict[str, Any]:
    return {"account_id": integration.account_id, "integration_id": integration.id}
