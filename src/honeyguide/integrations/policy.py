"""What is done with a contact, by what the platform knows of them. The same on every platform.

*   **Nobody there** is added only if we may add them, their address did not change since the last
    write and we never knew an ID of theirs. With an old address we looked for the old one; nobody
    looked whether somebody with the new one left there. `outgoing.settle` queues them again without
    the old address, and the next write looks up the new one first. An ID that is gone was deleted.
*   **Active here, gone there** (left, bounced, complained, deleted): they left, and nothing is
    written. Fields of somebody who left are no business of ours. Only somebody whom we took off the
    list ourselves, and who has confirmed since, comes back, where the platform can do that.
*   **Known there, but not on our list** (a contact for other purposes): they join the list if they
    might be added. Otherwise they are absent, as if nobody knew them, and no ID is kept: with one,
    the next write would take them for somebody who was deleted.
*   **Not confirmed there yet**: our fields are written, and the platform goes on waiting.
*   **Unsubscribed here**: our fields are written, and they are unsubscribed unless they left there.
*   **Erased here**: our fields are emptied, whatever else is true there.
*   **A new address** is written only for those who are active here, and only if it differs there.

docs/decisions/0027-one-write-policy.md says what was decided otherwise before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from honeyguide.integrations.about import SyncField
from honeyguide.integrations.platform import Contact, ContactStatus, WriteResult
from honeyguide.integrations.reports import ChangeKind

GONE = (ChangeKind.LEFT, ChangeKind.BOUNCED, ChangeKind.COMPLAINED, ChangeKind.DELETED)


class Remote(msgspec.Struct, frozen=True, kw_only=True):
    """What a platform knows of a contact."""

    id: str
    email: str
    kind: ChangeKind | None
    """What their state there means. None: they have not confirmed yet, or are not on our list."""
    is_on_list: bool = True
    can_return: bool = False
    """Whether the platform lets us make them active again who left."""
    name: str | None = None
    code: str | None = None
    created_ms: int | None = None
    fields: Mapping[SyncField, str] = {}
    """As in `PlatformChange`."""
    record: Any = None
    """The module's own struct, for its `update`."""
    is_seen: bool = True
    """False: see `unseen`."""

    @property
    def is_gone(self) -> bool:
        return self.kind in GONE


def unseen(key: str) -> Remote:
    """Somebody who was not looked up, by ID or address: an update of this platform keeps their
    state, and its answer tells it."""
    return Remote(id=key, email="", kind=None, is_seen=False)


class Add(msgspec.Struct, frozen=True):
    """Add them."""


class Update(msgspec.Struct, frozen=True, kw_only=True):
    """Write our fields, and what is set here."""

    email: str | None = None
    unsubscribes: bool = False
    returns: bool = False
    joins_list: bool = False

    def body(self, *, email: str, unsubscribed: Mapping[str, Any]) -> dict[str, Any]:
        """For platforms that take both in the body: what the address is called there, and what
        unsubscribes somebody."""
        changed = {email: self.email} if self.email else {}
        return {**changed, **unsubscribed} if self.unsubscribes else changed


Decision = Add | Update | WriteResult


def may_be_added(contact: Contact) -> bool:
    is_new = contact.remote_id is None and not contact.old_email
    return contact.status == ContactStatus.ACTIVE and contact.may_add and is_new


def decide(contact: Contact, remote: Remote | None) -> Decision:
    if remote is None:
        return Add() if may_be_added(contact) else WriteResult.ABSENT
    if contact.status == ContactStatus.ERASED:
        return Update()
    if contact.status == ContactStatus.UNSUBSCRIBED:
        if remote.is_gone or remote.is_on_list:
            return Update(unsubscribes=not remote.is_gone)
        return WriteResult.ABSENT
    return _decide_active(contact, remote)


def _decide_active(contact: Contact, remote: Remote) -> Decision:
    email = contact.email if contact.old_email and contact.email != remote.email else None
    if remote.is_gone:
        if contact.may_return and remote.can_return:
            return Update(email=email, returns=True)
        return WriteResult.LEFT
    if remote.is_on_list:
        return Update(email=email)
    return Update(joins_list=True) if may_be_added(contact) else WriteResult.ABSENT


def after(contact: Contact, remote: Remote) -> WriteResult:
    """What a write came to: somebody who should be active may have left there."""
    is_gone = remote.is_gone and contact.status == ContactStatus.ACTIVE
    return WriteResult.LEFT if is_gone else WriteResult.WRITTEN


def as_asked(remote: Remote, change: Update) -> Remote:
    """The contact after an update whose answer does not say their state."""
    if change.returns or change.joins_list:
        return msgspec.structs.replace(remote, kind=ChangeKind.JOINED, is_on_list=True)
    return remote
