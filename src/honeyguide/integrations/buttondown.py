"""Buttondown: metadata of a newsletter's subscribers.

A change replaces all metadata; so each subscriber is read, and written back with our part changed:
two requests, of 600 a minute. We never send a collision behavior, since `add` makes people active
again who left; and the type only to unsubscribe somebody. A webhook's signature has no time; an old
one does no harm, since we ask what is true now.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NoReturn
from urllib.parse import urlencode

import msgspec

from honeyguide.integrations.about import About, Limits, key_input
from honeyguide.integrations.answers import answer_of, time_ms, time_of
from honeyguide.integrations.connector import Connector, ContactWrite, NotWritten
from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import Audience, Contact, PlatformAccess, WriteResult
from honeyguide.integrations.platform_api import KeyHeader, PlatformApi, quoted
from honeyguide.integrations.platform_hooks import PlatformWebhook, SignedBody
from honeyguide.integrations.policy import Remote, Update
from honeyguide.integrations.reports import ChangeKind, ChangePage, IncomingHook, PlatformChange

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
# Those who have not confirmed or not paid yet are no business of ours.
_STATES = {
    "regular": ChangeKind.JOINED,
    "premium": ChangeKind.JOINED,
    "gifted": ChangeKind.JOINED,
    "trialed": ChangeKind.JOINED,
    "churning": ChangeKind.JOINED,
    "past_due": ChangeKind.JOINED,
    "paused": ChangeKind.JOINED,
    "unsubscribed": ChangeKind.LEFT,
    "complained": ChangeKind.COMPLAINED,
    "blocked": ChangeKind.LEFT,
    "undeliverable": ChangeKind.BOUNCED,
    "removed": ChangeKind.DELETED,
}
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


class _ButtondownEventData(msgspec.Struct):
    subscriber: str = ""


class _ButtondownEvent(msgspec.Struct):
    event_type: str
    data: _ButtondownEventData


class _ButtondownError(msgspec.Struct):
    """`detail` may quote an address, so nobody is shown it."""

    code: str = ""


class Buttondown(Connector):
    about = About(
        key="buttondown",
        name="Buttondown",
        initials="Bd",
        summary="Writes to metadata. Reports changes at once. Adds 100 subscribers a day.",
        audience="newsletter",
        inputs=(
            key_input(
                "In Buttondown: Settings, API. Each newsletter has a key of its own.",
                "01234567-89ab-cdef-0123-456789abcdef",
            ),
        ),
        limits=Limits(per_batch=50, requests_per_minute=550, requests_per_batch=100),
    )
    api = PlatformApi(
        base="https://api.buttondown.com/v1",
        auth=KeyHeader(prefix="Token "),
        forbidden="The Buttondown key lacks a permission: it needs to read and write subscribers "
        "and webhooks.",
    )
    contact_type = _ButtondownSubscriber
    webhook = PlatformWebhook(
        path="/webhooks",
        content={"event_types": EVENTS, "description": "Honeyguide"},
        proof=SignedBody("x-buttondown-signature", "sha256="),
        secret_name="signing_key",
    )

    async def check(self, access: PlatformAccess) -> str:
        reply = await self.call(access, "GET", "/accounts/me")
        return answer_of(reply, _ButtondownAccount).username

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        return [Audience(id="newsletter", name=await self.check(access) or "All subscribers")]

    async def look_up(self, access: PlatformAccess, key: str) -> Remote | None:
        return self.found(access, await self.call(access, "GET", f"/subscribers/{quoted(key)}"))

    async def add(self, write: ContactWrite) -> Remote | None:
        """Without a type, so that Buttondown asks them to confirm."""
        body = {"email_address": write.contact.email, "metadata": write.fields}
        return self.written(write, await self.call(write.access, "POST", "/subscribers", body))

    async def update(self, write: ContactWrite, remote: Remote, change: Update) -> Remote | None:
        status = change.body(email="email_address", unsubscribed={"type": "unsubscribed"})
        body = {"metadata": {**remote.record.metadata, **write.fields}, **status}
        path = f"/subscribers/{quoted(remote.id)}"
        return self.written(write, await self.call(write.access, "PATCH", path, body))

    def refuse(self, contact: Contact, reply: PlatformReply, reason: str = "") -> NoReturn:
        code = reply.details(_ButtondownError).code
        if code in ("subscriber_suppressed", "subscriber_blocked"):
            raise NotWritten(WriteResult.LEFT)
        if code == "rate_limited":
            raise NotWritten(WriteResult.LATER, "Buttondown adds at most 100 subscribers a day.")
        if code in ("email_already_exists", "subscriber_already_exists"):
            reason = "Another subscriber in Buttondown already has this address."
        super().refuse(contact, reply, reason)

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        """The token is the number of the list in `_SINCE`, and of the page in it."""
        part, page = (int(each) for each in (token or "0-1").split("-"))
        asked: dict[str, Any] = {"ordering": "creation_date", "page": page}
        if since_ms is not None:
            day = time_of(since_ms) - timedelta(days=1)
            asked[_SINCE[part]] = day.date().isoformat()  # a day earlier, whatever the time zone
        reply = await self.call(access, "GET", f"/subscribers?{urlencode(asked)}")
        found = answer_of(reply, _ButtondownSubscribers)
        following = None
        if found.next:
            following = f"{part}-{page + 1}"
        elif since_ms is not None and part + 1 < len(_SINCE):
            following = f"{part + 1}-1"
        return self.page(access, found.results, following)

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        """A webhook has only the ID of the subscriber."""
        event = hook.decode(access.about.name, _ButtondownEvent)
        is_ours = event.event_type in EVENTS and event.data.subscriber
        return await self.ask(access, event.data.subscriber) if is_ours else []

    def remote(self, access: PlatformAccess, found: _ButtondownSubscriber) -> Remote:
        return Remote(
            id=found.id,
            email=found.email_address,
            kind=_STATES.get(found.type),
            code=self.code_in(access, found.metadata),
            fields=self.fields_in(access, found.metadata),
            created_ms=time_ms(found.creation_date),
            record=found,
        )
