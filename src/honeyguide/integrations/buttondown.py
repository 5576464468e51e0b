"""Buttondown: metadata of a newsletter's subscribers.

A change replaces all metadata; so each subscriber is read, and written back with our part changed:
two requests, of 600 a minute. We never send a collision behavior, since `add` makes people active
again who left; and the type only to unsubscribe somebody.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from honeyguide.integrations.answers import (
    answer_of,
    outcome,
    refused,
    time_ms,
    write_in_turn,
    written,
)
from honeyguide.integrations.hook_keys import hook_secret
from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import (
    About,
    Audience,
    ChangeKind,
    ChangePage,
    Contact,
    ContactStatus,
    Hooks,
    IncomingHook,
    Input,
    Limits,
    PlatformAccess,
    PlatformChange,
    WriteOutcome,
    WriteResult,
)
from honeyguide.integrations.problems import ForgedHook, Unexpected, WrongCredentials

KEY = "api_key"
HOOK_ID = "hook_id"
HOOK_SECRET = "hook_secret"
# Not `subscriber.updated`, which our own writes cause.
EVENTS = tuple(
    f"subscriber.{event}"
    for event in (
        "created",
        "confirmed",
        "type.changed",
        "unsubscribed",
        "changed_email",
        "bounced",
        "complained",
        "deleted",
    )
)
# Whoever has not confirmed or not paid yet is no business of ours.
_KIND_OF_TYPE = {
    "regular": ChangeKind.JOINED,
    "premium": ChangeKind.JOINED,
    "gifted": ChangeKind.JOINED,
    "trialed": ChangeKind.JOINED,
    "churning": ChangeKind.JOINED,
    "past_due": ChangeKind.JOINED,
    "paused": ChangeKind.JOINED,
    "unsubscribed": ChangeKind.LEFT,
    "complained": ChangeKind.LEFT,
    "blocked": ChangeKind.LEFT,
    "undeliverable": ChangeKind.BOUNCED,
    "removed": ChangeKind.DELETED,
}
_HAS_LEFT = ("unsubscribed", "complained", "blocked", "undeliverable", "removed")
# Buttondown cannot list what changed, but who joined, left or bounced since a day.
_SINCE = ("date__start", "unsubscription_date__start", "undeliverability_date__start")


class _ButtondownSubscriber(msgspec.Struct):
    id: str
    email_address: str
    type: str
    creation_date: str = ""
    metadata: dict[str, Any] = {}


class _ButtondownSubscribers(msgspec.Struct):
    results: list[_ButtondownSubscriber]
    next: str | None = None


class _ButtondownAccount(msgspec.Struct):
    username: str = ""


class _ButtondownHook(msgspec.Struct):
    id: str


class _ButtondownEventData(msgspec.Struct):
    subscriber: str = ""


class _ButtondownEvent(msgspec.Struct):
    event_type: str
    data: _ButtondownEventData


class _ButtondownError(msgspec.Struct):
    """`detail` may quote an address, so nobody is shown it."""

    code: str = ""


class Buttondown:
    about = About(
        key="buttondown",
        name="Buttondown",
        initials="Bd",
        summary="Writes to metadata. Reports changes at once. Adds 100 subscribers a day.",
        audience="newsletter",
        inputs=(
            Input(
                name=KEY,
                label="API key",
                help="In Buttondown: Settings, API. Each newsletter has a key of its own.",
                example="01234567-89ab-cdef-0123-456789abcdef",
            ),
        ),
        limits=Limits(per_batch=50, requests_per_minute=550, requests_per_batch=100),
        hooks=Hooks.AUTOMATIC,
        poll_every_s=3600,
        is_lower_case=True,
    )

    def __init__(self, base: str = "https://api.buttondown.com/v1") -> None:
        self._base = base

    async def check(self, access: PlatformAccess) -> str:
        reply = await self._call(access, "GET", "/accounts/me")
        return answer_of(reply, _ButtondownAccount).username

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        return [Audience(id="newsletter", name=await self.check(access) or "All subscribers")]

    async def ensure_fields(self, access: PlatformAccess) -> int:
        return 0  # metadata is free

    async def write_many(
        self, access: PlatformAccess, contacts: Sequence[Contact]
    ) -> list[WriteOutcome]:
        return await write_in_turn(access, contacts, lambda contact: self._write(access, contact))

    async def _write(self, access: PlatformAccess, contact: Contact) -> WriteOutcome:
        key = contact.remote_id or contact.old_email or contact.email
        found = await self._find(access, key)
        if found is None:
            return await self._add(access, contact)
        is_active = contact.status == ContactStatus.ACTIVE
        body: dict[str, Any] = {"metadata": {**found.metadata, **_metadata(access, contact)}}
        if contact.status == ContactStatus.UNSUBSCRIBED and found.type not in _HAS_LEFT:
            body["type"] = "unsubscribed"
        elif is_active and contact.old_email:
            body["email_address"] = contact.email
        reply = await self._call(access, "PATCH", f"/subscribers/{quote(found.id, safe='')}", body)
        if reply.status == 404:
            return outcome(contact, WriteResult.ABSENT)
        if not reply.is_ok:
            return _refused(contact, reply)
        changed = reply.decode(_ButtondownSubscriber)
        return written(contact, changed.id, has_left=changed.type in _HAS_LEFT)

    async def _find(self, access: PlatformAccess, key: str) -> _ButtondownSubscriber | None:
        reply = await self._call(access, "GET", f"/subscribers/{quote(key, safe='')}")
        return None if reply.status == 404 else answer_of(reply, _ButtondownSubscriber)

    async def _add(self, access: PlatformAccess, contact: Contact) -> WriteOutcome:
        """Without a type, so that Buttondown asks them to confirm."""
        if not contact.may_add:
            return outcome(contact, WriteResult.ABSENT)
        body = {"email_address": contact.email, "metadata": _metadata(access, contact)}
        reply = await self._call(access, "POST", "/subscribers", body)
        if not reply.is_ok:
            return _refused(contact, reply)
        return written(contact, reply.decode(_ButtondownSubscriber).id)

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        """The token is the number of the list in `_SINCE`, and of the page in it."""
        part, page = (int(each) for each in (token or "0-1").split("-"))
        asked: dict[str, Any] = {"ordering": "creation_date", "page": page}
        if since_ms is not None:
            day = datetime.fromtimestamp(since_ms / 1000, UTC) - timedelta(days=1)
            asked[_SINCE[part]] = day.date().isoformat()  # a day earlier, whatever the time zone
        reply = await self._call(access, "GET", f"/subscribers?{urlencode(asked)}")
        found = answer_of(reply, _ButtondownSubscribers)
        following = None
        if found.next:
            following = f"{part}-{page + 1}"
        elif since_ms is not None and part + 1 < len(_SINCE):
            following = f"{part + 1}-1"
        return ChangePage(
            changes=[_change(access, each) for each in found.results if each.type in _KIND_OF_TYPE],
            seen=[each.id for each in found.results],
            next_token=following,
        )

    async def add_hook(self, access: PlatformAccess, url: str) -> dict[str, str]:
        secret = secrets.token_urlsafe(32)
        body = {
            "url": url,
            "event_types": list(EVENTS),
            "description": "Honeyguide",
            "signing_key": secret,
        }
        reply = await self._call(access, "POST", "/webhooks", body)
        if not reply.is_ok:
            raise Unexpected(
                "Buttondown does not accept our URL for webhooks. Changes are read once an hour."
            )
        return {HOOK_ID: answer_of(reply, _ButtondownHook).id, HOOK_SECRET: secret}

    async def remove_hook(self, access: PlatformAccess) -> None:
        if hook_id := access.credentials.get(HOOK_ID):
            await self._call(access, "DELETE", f"/webhooks/{quote(hook_id, safe='')}")

    def verify_hook(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        """The signature has no time; an old webhook does no harm, since we ask what is true now."""
        key = hook_secret(access, HOOK_SECRET)
        signed = hmac.new(key, hook.body, hashlib.sha256).hexdigest()
        given = hook.headers.get("x-buttondown-signature", "")
        if not hmac.compare_digest(f"sha256={signed}".encode(), given.encode()):
            raise ForgedHook("The header X-Buttondown-Signature is missing or wrong.")
        return ""

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        """A webhook has only the ID of the subscriber."""
        event = hook.decode(access.about.name, _ButtondownEvent)
        key = event.data.subscriber
        if event.event_type not in EVENTS or not key:
            return []
        found = await self._find(access, key)
        if found is None:
            return [PlatformChange(kind=ChangeKind.DELETED, email="", remote_id=key)]
        return [_change(access, found)] if found.type in _KIND_OF_TYPE else []

    async def _call(
        self, access: PlatformAccess, method: str, path: str, json: Any = None
    ) -> PlatformReply:
        reply = await access.http.call(
            method,
            self._base + path,
            headers={"Authorization": f"Token {access.credentials[KEY].strip()}"},
            json=json,
        )
        if reply.status == 403:
            raise WrongCredentials(
                "The Buttondown key lacks a permission: it needs to read and write subscribers "
                "and webhooks."
            )
        return reply


def _metadata(access: PlatformAccess, contact: Contact) -> dict[str, str]:
    """In lower case, as the newsletter block has them."""
    return {name.lower(): value for name, value in contact.fields(access).items()}


def _refused(contact: Contact, reply: PlatformReply) -> WriteOutcome:
    code = reply.details(_ButtondownError).code
    if code in ("subscriber_suppressed", "subscriber_blocked"):
        return outcome(contact, WriteResult.LEFT)
    if code == "rate_limited":
        reason = "Buttondown adds at most 100 subscribers a day."
        return outcome(contact, WriteResult.LATER, reason=reason)
    reason = "Buttondown does not accept this address."
    if code in ("email_already_exists", "subscriber_already_exists"):
        reason = "Another subscriber in Buttondown already has this address."
    return refused(contact, reply, reason)


def _change(access: PlatformAccess, found: _ButtondownSubscriber) -> PlatformChange:
    code = found.metadata.get(access.code_field) if access.code_field else None
    return PlatformChange(
        kind=_KIND_OF_TYPE[found.type],
        email=found.email_address,
        remote_id=found.id,
        code=str(code) if code else None,
        created_ms=time_ms(found.creation_date),
    )
