"""Kit (formerly ConvertKit), API v4: custom fields of an account's subscribers.

A key may make 120 requests a minute, and the endpoints for many at once take no keys. So every
subscriber is one request: 50,000 take seven hours. Writing never changes whether somebody is
subscribed; only `unsubscribe` does. So those who may be added are not looked up first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import urlencode

import msgspec

from honeyguide.integrations import policy
from honeyguide.integrations.about import About, Limits, key_input
from honeyguide.integrations.answers import Data, NewHook, answer_of, time_ms, time_of
from honeyguide.integrations.connector import Connector, ContactWrite, FieldKind
from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import Audience, Contact, PlatformAccess
from honeyguide.integrations.platform_api import KeyHeader, PlatformApi, quoted
from honeyguide.integrations.platform_hooks import PlatformWebhook, SignedTime
from honeyguide.integrations.policy import Remote, Update
from honeyguide.integrations.problems import Unexpected
from honeyguide.integrations.reports import ChangeKind, ChangePage, IncomingHook, PlatformChange

PER_PAGE = 500
EVENTS = tuple(
    f"subscriber.{event}"
    for event in ("created", "activated", "unsubscribed", "bounced", "complained")
)
# `inactive` is somebody who has not confirmed yet: no business of ours.
_STATES = {
    "active": ChangeKind.JOINED,
    "cancelled": ChangeKind.LEFT,
    "complained": ChangeKind.COMPLAINED,
    "bounced": ChangeKind.BOUNCED,
}


class _Subscriber(msgspec.Struct):
    id: int
    email_address: str
    state: str
    first_name: str | None = None
    created_at: str = ""
    fields: dict[str, str | None] = {}


class _KitAccount(msgspec.Struct):
    name: str | None = None


class _CurrentAccount(msgspec.Struct):
    account: _KitAccount


class _CustomField(msgspec.Struct):
    key: str


class _CustomFields(msgspec.Struct):
    custom_fields: list[_CustomField]


class _NewEndpoint(Data[NewHook]):
    data: NewHook = msgspec.field(name="webhook_endpoint")


class _Written(Data[_Subscriber]):
    data: _Subscriber = msgspec.field(name="subscriber")


class _Warnings(msgspec.Struct):
    warnings: list[str] = []


class _Pagination(msgspec.Struct):
    has_next_page: bool
    end_cursor: str | None = None


class _Subscribers(msgspec.Struct):
    subscribers: list[_Subscriber]
    pagination: _Pagination


class _EventData(msgspec.Struct):
    subscriber: _Subscriber | None = None


class _KitEvent(msgspec.Struct):
    type: str
    data: _EventData


class _Delivery(msgspec.Struct):
    events: list[_KitEvent]


class Kit(Connector):
    about = About(
        key="kit",
        name="Kit",
        initials="K",
        summary="Writes to custom fields. Reports changes at once. Slow for long lists.",
        audience="account",
        inputs=(
            key_input(
                "In Kit: Settings, Developer, V4 Keys, Add a new key.",
                "kit_0123456789abcdef",
            ),
        ),
        limits=Limits(per_batch=50, requests_per_minute=110, requests_per_batch=100),
        field_pattern=r"[A-Za-z][A-Za-z0-9_]{0,49}",
    )
    api = PlatformApi(
        base="https://api.kit.com/v4",
        auth=KeyHeader("X-Kit-Api-Key"),
        forbidden="The Kit account's plan does not include the API.",
    )
    contact_type = _Written
    field_kind = FieldKind(
        name="custom field",
        advice="An account has room for 140; delete one that you do not use.",
    )
    webhook = PlatformWebhook(
        path="/webhook_endpoints",
        content={"events": EVENTS, "name": "Honeyguide"},
        proof=SignedTime(
            header="x-kit-signature", mac="v1", content=lambda at, body: at + b"." + body
        ),
        answer=_NewEndpoint,
        # Kit's documentation says that keys may create endpoints; some were refused.
        forbidden=(401,),
    )

    async def check(self, access: PlatformAccess) -> str:
        reply = await self.call(access, "GET", "/account")
        return answer_of(reply, _CurrentAccount).account.name or ""

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        return [Audience(id="account", name=await self.check(access) or "All subscribers")]

    async def fields_there(self, access: PlatformAccess) -> Mapping[str, str]:
        """Kit makes the key of a field from its label: `RH_CODE` becomes `rh_code`."""
        reply = await self.call(access, "GET", "/custom_fields?per_page=1000")
        return {each.key: each.key for each in answer_of(reply, _CustomFields).custom_fields}

    async def create_field(self, access: PlatformAccess, name: str) -> PlatformReply:
        return await self.call(access, "POST", "/custom_fields", {"label": name})

    async def find(self, access: PlatformAccess, contact: Contact) -> Remote | None:
        return None if policy.may_be_added(contact) else await super().find(access, contact)

    async def look_up(self, access: PlatformAccess, key: str) -> Remote | None:
        if "@" not in key:
            return self.found(access, await self.call(access, "GET", f"/subscribers/{quoted(key)}"))
        asked = urlencode({"email_address": key, "status": "all"})
        reply = await self.call(access, "GET", f"/subscribers?{asked}")
        found = answer_of(reply, _Subscribers).subscribers
        return self.remote(access, found[0]) if found else None

    async def add(self, write: ContactWrite) -> Remote | None:
        """Without a name: it would replace that of somebody whom Kit knows."""
        body = {"email_address": write.contact.email, "fields": write.fields}
        reply = await self.call(write.access, "POST", "/subscribers", body)
        remote = self._checked(write, reply)
        if remote and reply.status == 201 and write.contact.name:
            body["first_name"] = write.contact.name
            await self.call(write.access, "PUT", f"/subscribers/{remote.id}", body)
        return remote

    async def update(self, write: ContactWrite, remote: Remote, change: Update) -> Remote | None:
        path = f"/subscribers/{remote.id}"
        if change.unsubscribes:
            await self.call(write.access, "POST", f"{path}/unsubscribe", {})
        body = {
            "email_address": change.email or remote.email,
            "first_name": remote.name,
            "fields": write.fields,
        }
        return self._checked(write, await self.call(write.access, "PUT", path, body))

    def _checked(self, write: ContactWrite, reply: PlatformReply) -> Remote | None:
        """Kit's documentation says both that unknown fields are ignored and that they are
        refused."""
        remote = self.written(write, reply)
        warnings = reply.details(_Warnings).warnings
        if any(key in warning for warning in warnings for key in write.fields):
            raise self.fields_gone()
        return remote

    def refuse(self, contact: Contact, reply: PlatformReply, reason: str = "") -> NoReturn:
        if reply.status == 422 and b"custom field" in reply.body.lower():
            raise self.fields_gone()
        super().refuse(contact, reply, reason)

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        asked: dict[str, Any] = {"status": "all", "per_page": PER_PAGE}
        if since_ms is not None:
            asked["updated_after"] = f"{time_of(since_ms):%Y-%m-%dT%H:%M:%SZ}"
        if token:
            asked["after"] = token
        reply = await self.call(access, "GET", f"/subscribers?{urlencode(asked)}")
        page = answer_of(reply, _Subscribers)
        if page.pagination.has_next_page and not page.pagination.end_cursor:
            raise Unexpected("Kit did not say how to read the rest of the list.")
        following = page.pagination.end_cursor if page.pagination.has_next_page else None
        return self.page(access, page.subscribers, following)

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        events = hook.decode(access.about.name, _Delivery).events
        found = [each.data.subscriber for each in events if each.type in EVENTS]
        return self.changes(self.remote(access, each) for each in found if each)

    def remote(self, access: PlatformAccess, found: _Subscriber) -> Remote:
        return Remote(
            id=str(found.id),
            email=found.email_address,
            kind=_STATES.get(found.state),
            name=found.first_name,
            code=self.code_in(access, found.fields),
            fields=self.fields_in(access, found.fields),
            created_ms=time_ms(found.created_at),
        )
