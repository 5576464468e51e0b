"""Kit (formerly ConvertKit), API v4: custom fields of an account's subscribers.

A key may make 120 requests a minute, and the endpoints for many at once take no keys. So every
subscriber is one request: 50,000 take seven hours. Writing never changes whether somebody is
subscribed; only `unsubscribe` does.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
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
from honeyguide.integrations.problems import (
    FieldsGone,
    ForgedHook,
    Unexpected,
    WrongCredentials,
)

KEY = "api_key"
HOOK_SECRET = "hook_secret"
HOOK_ID = "hook_id"
PER_PAGE = 500
TOLERANCE_S = 5 * 60
EVENTS = tuple(
    f"subscriber.{event}"
    for event in ("created", "activated", "unsubscribed", "bounced", "complained")
)
# `inactive` is somebody who has not confirmed yet: no business of ours.
_KIND_OF_STATE = {
    "active": ChangeKind.JOINED,
    "cancelled": ChangeKind.LEFT,
    "complained": ChangeKind.LEFT,
    "bounced": ChangeKind.BOUNCED,
}
_HAS_LEFT = ("cancelled", "complained", "bounced")


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


class _Endpoint(msgspec.Struct):
    id: int | str
    secret: str


class _NewEndpoint(msgspec.Struct):
    webhook_endpoint: _Endpoint


class _Written(msgspec.Struct):
    subscriber: _Subscriber
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


class Kit:
    about = About(
        key="kit",
        name="Kit",
        initials="K",
        summary="Writes to custom fields. Reports changes at once. Slow for long lists.",
        audience="account",
        inputs=(
            Input(
                name=KEY,
                label="API key",
                help="In Kit: Settings, Developer, V4 Keys, Add a new key.",
                example="kit_0123456789abcdef",
            ),
        ),
        limits=Limits(per_batch=50, requests_per_minute=110, requests_per_batch=100),
        hooks=Hooks.AUTOMATIC,
        poll_every_s=3600,
        is_lower_case=True,
        field_pattern=r"[A-Za-z][A-Za-z0-9_]{0,49}",
    )

    def __init__(self, base: str = "https://api.kit.com") -> None:
        self._base = base

    async def check(self, access: PlatformAccess) -> str:
        reply = await self._call(access, "GET", "/v4/account")
        return answer_of(reply, _CurrentAccount).account.name or ""

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        return [Audience(id="account", name=await self.check(access) or "All subscribers")]

    async def ensure_fields(self, access: PlatformAccess) -> int:
        reply = await self._call(access, "GET", "/v4/custom_fields?per_page=1000")
        there = {each.key for each in answer_of(reply, _CustomFields).custom_fields}
        missing = [name for name in access.field_names.values() if _key(name) not in there]
        for name in missing:
            made = await self._call(access, "POST", "/v4/custom_fields", json={"label": name})
            if not made.is_ok:
                raise Unexpected(
                    f"Kit refused to create the custom field {name}. An account has room for 140; "
                    "delete one that you do not use."
                )
        return len(missing)

    async def write_many(
        self, access: PlatformAccess, contacts: Sequence[Contact]
    ) -> list[WriteOutcome]:
        return await write_in_turn(access, contacts, lambda contact: self._write(access, contact))

    async def _write(self, access: PlatformAccess, contact: Contact) -> WriteOutcome:
        fields = {_key(name): value for name, value in contact.fields(access).items()}
        if contact.status == ContactStatus.ACTIVE and contact.may_add and not contact.old_email:
            # Without a name: it would replace that of somebody whom Kit knows.
            body: dict[str, Any] = {"email_address": contact.email, "fields": fields}
            reply = await self._call(access, "POST", "/v4/subscribers", json=body)
        else:
            found = await self._find(access, contact)
            if found is None:
                return outcome(contact, WriteResult.ABSENT)
            is_renamed = contact.old_email and contact.status == ContactStatus.ACTIVE
            email = contact.email if is_renamed else found.email_address
            path = f"/v4/subscribers/{found.id}"
            if contact.status == ContactStatus.UNSUBSCRIBED and found.state not in _HAS_LEFT:
                await self._call(access, "POST", f"{path}/unsubscribe", json={})
            body = {"email_address": email, "first_name": found.first_name, "fields": fields}
            reply = await self._call(access, "PUT", path, json=body)
        if reply.status == 404:
            return outcome(contact, WriteResult.ABSENT)
        # Kit's documentation says both that unknown fields are ignored and that they are refused.
        if reply.status == 422 and b"custom field" in reply.body.lower():
            raise FieldsGone("A custom field of ours was deleted in Kit.")
        if not reply.is_ok:
            return refused(contact, reply, "Kit does not accept this address.")
        answer = reply.decode(_Written)
        if any(key in warning for warning in answer.warnings for key in fields):
            raise FieldsGone("A custom field of ours was deleted in Kit.")
        subscriber = answer.subscriber
        if reply.status == 201 and contact.name:
            body["first_name"] = contact.name
            await self._call(access, "PUT", f"/v4/subscribers/{subscriber.id}", json=body)
        return written(contact, str(subscriber.id), has_left=subscriber.state in _HAS_LEFT)

    async def _find(self, access: PlatformAccess, contact: Contact) -> _Subscriber | None:
        if contact.remote_id:
            path = f"/v4/subscribers/{quote(contact.remote_id, safe='')}"
            reply = await self._call(access, "GET", path)
            return None if reply.status == 404 else reply.decode(_Written).subscriber
        asked = urlencode({"email_address": contact.old_email or contact.email, "status": "all"})
        reply = await self._call(access, "GET", f"/v4/subscribers?{asked}")
        found = reply.decode(_Subscribers).subscribers
        return found[0] if found else None

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        asked: dict[str, Any] = {"status": "all", "per_page": PER_PAGE}
        if since_ms is not None:
            since = datetime.fromtimestamp(since_ms / 1000, UTC)
            asked["updated_after"] = since.strftime("%Y-%m-%dT%H:%M:%SZ")
        if token:
            asked["after"] = token
        reply = await self._call(access, "GET", f"/v4/subscribers?{urlencode(asked)}")
        page = answer_of(reply, _Subscribers)
        if page.pagination.has_next_page and not page.pagination.end_cursor:
            raise Unexpected("Kit did not say how to read the rest of the list.")
        return ChangePage(
            changes=_changes(access, page.subscribers),
            seen=[str(each.id) for each in page.subscribers],
            next_token=page.pagination.end_cursor if page.pagination.has_next_page else None,
        )

    async def add_hook(self, access: PlatformAccess, url: str) -> dict[str, str]:
        body = {"url": url, "events": list(EVENTS), "name": "Honeyguide"}
        # Kit's documentation says that keys may create endpoints; some were refused with 401.
        reply = await self._call(access, "POST", "/v4/webhook_endpoints", json=body, returned={401})
        if reply.status == 401:
            raise Unexpected("Kit lets this key create no webhook. Changes are read once an hour.")
        if not reply.is_ok:
            raise Unexpected(
                "Kit does not accept our URL for webhooks. Changes are read once an hour."
            )
        made = answer_of(reply, _NewEndpoint).webhook_endpoint
        return {HOOK_ID: str(made.id), HOOK_SECRET: made.secret}

    async def remove_hook(self, access: PlatformAccess) -> None:
        if hook_id := access.credentials.get(HOOK_ID):
            await self._call(access, "DELETE", f"/v4/webhook_endpoints/{quote(hook_id, safe='')}")

    def verify_hook(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        """`t=1753797130,v1=8f4b…`, with two `v1` while the secret is being replaced."""
        parts = [
            part.strip().partition("=")
            for part in hook.headers.get("x-kit-signature", "").split(",")
        ]
        sent_s = next((value for name, _, value in parts if name == "t"), "")
        if not (sent_s.isascii() and sent_s.isdigit() and len(sent_s) < 12):
            raise ForgedHook("The header X-Kit-Signature is missing.")
        if abs(now_s - int(sent_s)) > TOLERANCE_S:
            raise ForgedHook("The webhook is more than five minutes old.")
        key = hook_secret(access, HOOK_SECRET)
        signed = hmac.new(key, f"{sent_s}.".encode() + hook.body, hashlib.sha256)
        expected = signed.hexdigest().encode()
        given = [value.encode() for name, _, value in parts if name == "v1"]
        if not any(hmac.compare_digest(expected, each) for each in given):
            raise ForgedHook("The signature is wrong.")
        return sent_s

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        delivery = hook.decode(access.about.name, _Delivery)
        events = [each for each in delivery.events if each.type in EVENTS and each.data.subscriber]
        return _changes(access, [each.data.subscriber for each in events if each.data.subscriber])

    async def _call(
        self,
        access: PlatformAccess,
        method: str,
        path: str,
        json: Any = None,
        returned: Collection[int] = (),
    ) -> PlatformReply:
        reply = await access.http.call(
            method,
            self._base + path,
            headers={"X-Kit-Api-Key": access.credentials[KEY].strip()},
            json=json,
            returned=returned,
        )
        if reply.status == 403:
            raise WrongCredentials("The Kit account's plan does not include the API.")
        return reply


def _key(name: str) -> str:
    """Kit makes the key of a field from its label: `RH_CODE` becomes `rh_code`."""
    return name.lower()


def _changes(access: PlatformAccess, found: Sequence[_Subscriber]) -> list[PlatformChange]:
    return [_change(access, each) for each in found if each.state in _KIND_OF_STATE]


def _change(access: PlatformAccess, found: _Subscriber) -> PlatformChange:
    code = found.fields.get(_key(access.code_field)) if access.code_field else None
    return PlatformChange(
        kind=_KIND_OF_STATE[found.state],
        email=found.email_address,
        remote_id=str(found.id),
        name=found.first_name or None,
        code=code or None,
        created_ms=time_ms(found.created_at),
    )
