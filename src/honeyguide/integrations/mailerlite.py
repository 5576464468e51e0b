"""MailerLite: fields of an account's subscribers.

An account may make 120 requests a minute, so every subscriber is one request: 50,000 take seven
hours. Subscribers whose ID we know are updated by it. Others are looked up first, because adding
somebody who is there could make them active without the confirmation that MailerLite waits for.
MailerLite makes nobody active again who unsubscribed, bounced or complained, unless a request has
`resubscribe`, which ours never have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import msgspec

from honeyguide.integrations import policy
from honeyguide.integrations.about import About, Limits, key_input
from honeyguide.integrations.answers import Data, NewHook, answer_of, time_ms
from honeyguide.integrations.connector import Connector, ContactWrite, FieldKind, NotWritten
from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import Audience, Contact, PlatformAccess, WriteResult
from honeyguide.integrations.platform_api import PlatformApi, quoted
from honeyguide.integrations.platform_hooks import PlatformWebhook, SignedBody
from honeyguide.integrations.policy import Remote, Update
from honeyguide.integrations.problems import understood
from honeyguide.integrations.reports import ChangeKind, ChangePage, IncomingHook, PlatformChange

PER_PAGE = 100
# `unconfirmed` is somebody who has not confirmed yet: no business of ours.
_STATES = {
    "active": ChangeKind.JOINED,
    "unsubscribed": ChangeKind.LEFT,
    "junk": ChangeKind.COMPLAINED,
    "bounced": ChangeKind.BOUNCED,
}
# What an event says by itself. `subscriber.updated` is not asked for: it reports our own writes.
_KIND_OF_EVENT = {
    "subscriber.created": None,
    "subscriber.active": None,
    "subscriber.unsubscribed": ChangeKind.LEFT,
    "subscriber.spam_reported": ChangeKind.COMPLAINED,
    "subscriber.bounced": ChangeKind.BOUNCED,
    "subscriber.deleted": ChangeKind.DELETED,
}


class _MailerLiteSubscriber(msgspec.Struct):
    id: str
    email: str
    status: str
    created_at: str | None = None
    subscribed_at: str | None = None
    fields: dict[str, Any] = {}


class _MailerLiteMeta(msgspec.Struct):
    next_cursor: str | None = None


class _MailerLitePage(msgspec.Struct):
    data: list[_MailerLiteSubscriber]
    meta: _MailerLiteMeta


class _MailerLiteTotal(msgspec.Struct):
    total: int


class _MailerLiteField(msgspec.Struct):
    name: str
    key: str


class _MailerLiteEvent(_MailerLiteSubscriber, kw_only=True):
    event: str


class _MailerLiteDelivery(msgspec.Struct):
    events: list[msgspec.Raw] | None = None


class _MailerLiteEventName(msgspec.Struct):
    event: str = ""


class MailerLite(Connector):
    about = About(
        key="mailerlite",
        name="MailerLite",
        initials="Ml",
        summary="Writes to fields. Reports changes at once. Slow for long lists.",
        audience="account",
        inputs=(
            key_input(
                "In MailerLite: Integrations, MailerLite API, Use, Generate new token.",
                "eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9",
                label="API token",
            ),
        ),
        limits=Limits(per_batch=50, requests_per_minute=110, requests_per_batch=51),
        # MailerLite cannot list what changed, so each time all subscribers are read.
        poll_every_s=12 * 3600,
    )
    api = PlatformApi(
        base="https://connect.mailerlite.com/api",
        headers={"Content-Type": "application/json"},  # wanted even without a body
    )
    contact_type = Data[_MailerLiteSubscriber]
    field_kind = FieldKind(name="field", drops_unknown=True)
    webhook = PlatformWebhook(
        path="/webhooks",
        # MailerLite reports deletions only to webhooks that take many events at once.
        content={"name": "Honeyguide", "events": list(_KIND_OF_EVENT), "batchable": True},
        proof=SignedBody("signature"),
        answer=Data[NewHook],
        without="Changes are read twice a day.",
    )

    async def check(self, access: PlatformAccess) -> str:
        await self._total(access)
        return ""

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        total = await self._total(access)
        return [Audience(id="account", name="All subscribers", subscribers=total)]

    async def _total(self, access: PlatformAccess) -> int:
        reply = await self.call(access, "GET", "/subscribers?limit=0")
        return answer_of(reply, _MailerLiteTotal).total

    def field_key(self, name: str) -> str:
        """Without capitals and punctuation."""
        return re.sub("[^a-z0-9]", "", name.lower())

    async def fields_there(self, access: PlatformAccess) -> Mapping[str, str]:
        """The key of each field, by its name or key."""
        reply = await self.call(access, "GET", f"/fields?limit={PER_PAGE}")
        fields = answer_of(reply, Data[list[_MailerLiteField]]).data
        by_name = {self.field_key(each.name): each.key for each in fields}
        return {**by_name, **{self.field_key(each.key): each.key for each in fields}}

    async def create_field(self, access: PlatformAccess, name: str) -> PlatformReply:
        """From `RH_CODE` MailerLite would make the key `r_h__c_o_d_e`."""
        return await self.call(access, "POST", "/fields", {"name": name.lower(), "type": "text"})

    async def find(self, access: PlatformAccess, contact: Contact) -> Remote | None:
        if contact.remote_id:
            return policy.unseen(contact.remote_id)
        return await super().find(access, contact)

    async def look_up(self, access: PlatformAccess, key: str) -> Remote | None:
        return self.found(access, await self.call(access, "GET", f"/subscribers/{quoted(key)}"))

    async def add(self, write: ContactWrite) -> Remote | None:
        email, name = write.contact.email, write.contact.name or ""
        body = {"email": email, "fields": {"name": name, **write.fields}}
        reply = await self.call(write.access, "POST", "/subscribers", body)
        return await self._checked(write, reply, email)

    async def update(self, write: ContactWrite, remote: Remote, change: Update) -> Remote | None:
        status = change.body(email="email", unsubscribed={"status": "unsubscribed"})
        body = {"fields": write.fields, **status}
        path = f"/subscribers/{quoted(remote.id)}"
        reply = await self.call(write.access, "PUT", path, body)
        return await self._checked(write, reply, remote.id)

    async def _checked(self, write: ContactWrite, reply: PlatformReply, key: str) -> Remote | None:
        """MailerLite refuses to write to some who left, as it refuses bad addresses."""
        if not reply.is_ok and reply.status != 404:
            found = await self.look_up(write.access, key)
            if found and found.is_gone:
                raise NotWritten(WriteResult.LEFT, remote_id=found.id)
        return self.written(write, reply)

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        asked = {"limit": str(PER_PAGE), **({"cursor": token} if token else {})}
        reply = await self.call(access, "GET", f"/subscribers?{urlencode(asked)}")
        page = answer_of(reply, _MailerLitePage)
        return self.page(access, page.data, page.meta.next_cursor)

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        with understood(access.about.name, "a webhook"):
            remotes = [self._event(access, each) for each in _events(hook.body)]
        return self.changes(each for each in remotes if each)

    def _event(self, access: PlatformAccess, text: bytes | msgspec.Raw) -> Remote | None:
        if msgspec.json.decode(text, type=_MailerLiteEventName).event not in _KIND_OF_EVENT:
            return None
        event = msgspec.json.decode(text, type=_MailerLiteEvent)
        remote = self.remote(access, event)
        return msgspec.structs.replace(remote, kind=_KIND_OF_EVENT[event.event] or remote.kind)

    def remote(self, access: PlatformAccess, found: _MailerLiteSubscriber) -> Remote:
        values = {self.field_key(key): value for key, value in found.fields.items()}
        return Remote(
            id=found.id,
            email=found.email,
            kind=_STATES.get(found.status),
            name=str(found.fields.get("name") or "") or None,
            code=self.code_in(access, values),
            fields=self.fields_in(access, values),
            created_ms=_utc_ms(found.subscribed_at or found.created_at),
        )


def _events(body: bytes) -> Sequence[bytes | msgspec.Raw]:
    """The events of a delivery, which may be a single one."""
    many = msgspec.json.decode(body, type=_MailerLiteDelivery).events
    return [body] if many is None else many


def _utc_ms(text: str | None) -> int | None:
    """MailerLite's times are in UTC; those in its API do not say so."""
    if text and not text.endswith("Z"):
        text += "+00:00"
    return time_ms(text)
