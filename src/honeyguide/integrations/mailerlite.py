"""MailerLite: fields of an account's subscribers.

An account may make 120 requests a minute, so every subscriber is one request: 50,000 take seven
hours. Subscribers whose ID we know are updated by it. Others are looked up first, because adding
somebody who is there could make them active without the confirmation that MailerLite waits for.
MailerLite makes nobody active again who unsubscribed, bounced or complained, unless a request has
`resubscribe`, which ours never have.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
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
from honeyguide.integrations.problems import FieldsGone, ForgedHook, Unexpected, understood

KEY = "api_key"
HOOK_SECRET = "hook_secret"
HOOK_ID = "hook_id"
PER_PAGE = 100
# `unconfirmed` is somebody who has not confirmed yet: no business of ours.
_KIND_OF_STATUS = {
    "active": ChangeKind.JOINED,
    "unsubscribed": ChangeKind.LEFT,
    "junk": ChangeKind.LEFT,
    "bounced": ChangeKind.BOUNCED,
}
_HAS_LEFT = ("unsubscribed", "junk", "bounced")
# What an event says by itself. `subscriber.updated` is not asked for: it reports our own writes.
_KIND_OF_EVENT = {
    "subscriber.created": None,
    "subscriber.active": None,
    "subscriber.unsubscribed": ChangeKind.LEFT,
    "subscriber.spam_reported": ChangeKind.LEFT,
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


class _MailerLiteFound(msgspec.Struct):
    data: _MailerLiteSubscriber


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


class _MailerLiteFields(msgspec.Struct):
    data: list[_MailerLiteField]


class _MailerLiteWebhook(msgspec.Struct):
    id: str
    secret: str


class _MailerLiteNewWebhook(msgspec.Struct):
    data: _MailerLiteWebhook


class _MailerLiteEvent(_MailerLiteSubscriber, kw_only=True):
    event: str


class _MailerLiteDelivery(msgspec.Struct):
    events: list[msgspec.Raw] | None = None


class _MailerLiteEventName(msgspec.Struct):
    event: str = ""


class MailerLite:
    about = About(
        key="mailerlite",
        name="MailerLite",
        initials="Ml",
        summary="Writes to fields. Reports changes at once. Slow for long lists.",
        audience="account",
        inputs=(
            Input(
                name=KEY,
                label="API token",
                help="In MailerLite: Integrations, MailerLite API, Use, Generate new token.",
                example="eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9",
            ),
        ),
        limits=Limits(per_batch=50, requests_per_minute=110, requests_per_batch=51),
        hooks=Hooks.AUTOMATIC,
        # MailerLite cannot list what changed, so each time all subscribers are read.
        poll_every_s=12 * 3600,
        is_lower_case=True,
    )

    def __init__(self, base: str = "https://connect.mailerlite.com") -> None:
        self._base = base

    async def check(self, access: PlatformAccess) -> str:
        await self._total(access)
        return ""

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        total = await self._total(access)
        return [Audience(id="account", name="All subscribers", subscribers=total)]

    async def _total(self, access: PlatformAccess) -> int:
        reply = await self._call(access, "GET", "/api/subscribers?limit=0")
        return answer_of(reply, _MailerLiteTotal).total

    async def ensure_fields(self, access: PlatformAccess) -> int:
        there = await self._field_keys(access)
        missing = [name for name in access.field_names.values() if _plain(name) not in there]
        for name in missing:
            # From `RH_CODE` MailerLite would make the key `r_h__c_o_d_e`.
            body = {"name": name.lower(), "type": "text"}
            made = await self._call(access, "POST", "/api/fields", json=body)
            if not made.is_ok:
                raise Unexpected(f"MailerLite refused to create the field {name}.")
        return len(missing)

    async def _field_keys(self, access: PlatformAccess) -> dict[str, str]:
        """The key of each field, by its name or key without capitals and punctuation."""
        reply = await self._call(access, "GET", f"/api/fields?limit={PER_PAGE}")
        fields = answer_of(reply, _MailerLiteFields).data
        by_name = {_plain(each.name): each.key for each in fields}
        return {**by_name, **{_plain(each.key): each.key for each in fields}}

    async def write_many(
        self, access: PlatformAccess, contacts: Sequence[Contact]
    ) -> list[WriteOutcome]:
        # MailerLite ignores values for fields that it does not know, without a word.
        keys = await self._field_keys(access)
        if any(_plain(name) not in keys for name in access.field_names.values()):
            raise FieldsGone("A field of ours was deleted in MailerLite.")
        return await write_in_turn(
            access, contacts, lambda contact: self._write(access, keys, contact)
        )

    async def _write(
        self, access: PlatformAccess, keys: Mapping[str, str], contact: Contact
    ) -> WriteOutcome:
        values = {keys[_plain(name)]: value for name, value in contact.fields(access).items()}
        is_here = contact.status == ContactStatus.ACTIVE
        key = contact.remote_id
        if key is None:
            found = await self._find(access, contact.old_email or contact.email)
            if is_here and found and found.status in _HAS_LEFT:
                return outcome(contact, WriteResult.LEFT, remote_id=found.id)
            key = found.id if found else None
        if key is not None:
            body: dict[str, Any] = {"fields": values}
            if contact.status == ContactStatus.UNSUBSCRIBED:
                body["status"] = "unsubscribed"
            elif is_here and contact.old_email:
                body["email"] = contact.email
            path = f"/api/subscribers/{quote(key, safe='')}"
            reply = await self._call(access, "PUT", path, json=body)
        elif is_here and contact.may_add and not contact.old_email:
            body = {"email": contact.email, "fields": {"name": contact.name or "", **values}}
            reply = await self._call(access, "POST", "/api/subscribers", json=body)
        else:
            return outcome(contact, WriteResult.ABSENT)
        if reply.status == 404:
            return outcome(contact, WriteResult.ABSENT)
        if not reply.is_ok:
            return await self._refused(access, contact, key, reply)
        subscriber = reply.decode(_MailerLiteFound).data
        return written(contact, subscriber.id, has_left=subscriber.status in _HAS_LEFT)

    async def _refused(
        self, access: PlatformAccess, contact: Contact, key: str | None, reply: PlatformReply
    ) -> WriteOutcome:
        """MailerLite refuses to write to some who left, as it refuses bad addresses."""
        found = await self._find(access, key or contact.email)
        if found and found.status in _HAS_LEFT:
            return outcome(contact, WriteResult.LEFT, remote_id=found.id)
        return refused(contact, reply, "MailerLite does not accept this address.")

    async def _find(self, access: PlatformAccess, key: str) -> _MailerLiteSubscriber | None:
        """By ID or address. Erased subscribers have neither if they were never written."""
        if not key:
            return None
        reply = await self._call(access, "GET", f"/api/subscribers/{quote(key, safe='')}")
        return None if reply.status == 404 else answer_of(reply, _MailerLiteFound).data

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        asked = {"limit": str(PER_PAGE), **({"cursor": token} if token else {})}
        reply = await self._call(access, "GET", f"/api/subscribers?{urlencode(asked)}")
        page = answer_of(reply, _MailerLitePage)
        found = [_change(access, each, _KIND_OF_STATUS.get(each.status)) for each in page.data]
        return ChangePage(
            changes=[change for change in found if change],
            seen=[each.id for each in page.data],
            next_token=page.meta.next_cursor,
        )

    async def add_hook(self, access: PlatformAccess, url: str) -> dict[str, str]:
        # MailerLite reports deletions only to webhooks that take many events at once.
        body = {"name": "Honeyguide", "url": url, "events": list(_KIND_OF_EVENT), "batchable": True}
        reply = await self._call(access, "POST", "/api/webhooks", json=body)
        if not reply.is_ok:
            raise Unexpected(
                "MailerLite does not accept our URL for webhooks. Changes are read twice a day."
            )
        made = answer_of(reply, _MailerLiteNewWebhook).data
        return {HOOK_ID: made.id, HOOK_SECRET: made.secret}

    async def remove_hook(self, access: PlatformAccess) -> None:
        if hook_id := access.credentials.get(HOOK_ID):
            await self._call(access, "DELETE", f"/api/webhooks/{quote(hook_id, safe='')}")

    def verify_hook(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        key = hook_secret(access, HOOK_SECRET)
        expected = hmac.new(key, hook.body, hashlib.sha256).hexdigest()
        given = hook.headers.get("signature", "")
        if not hmac.compare_digest(expected.encode(), given.encode()):
            raise ForgedHook("The signature is wrong.")
        return ""

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        with understood(access.about.name, "a webhook"):
            changes = [_event(access, each) for each in _events(hook.body)]
        return [change for change in changes if change]

    async def _call(
        self, access: PlatformAccess, method: str, path: str, json: Any = None
    ) -> PlatformReply:
        headers = {
            "Authorization": f"Bearer {access.credentials[KEY].strip()}",
            "Content-Type": "application/json",  # MailerLite wants it even without a body
        }
        return await access.http.call(method, self._base + path, headers=headers, json=json)


def _plain(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())


def _events(body: bytes) -> Sequence[bytes | msgspec.Raw]:
    """The events of a delivery, which may be a single one."""
    many = msgspec.json.decode(body, type=_MailerLiteDelivery).events
    return [body] if many is None else many


def _event(access: PlatformAccess, text: bytes | msgspec.Raw) -> PlatformChange | None:
    if msgspec.json.decode(text, type=_MailerLiteEventName).event not in _KIND_OF_EVENT:
        return None
    event = msgspec.json.decode(text, type=_MailerLiteEvent)
    kind = _KIND_OF_EVENT[event.event] or _KIND_OF_STATUS.get(event.status)
    return _change(access, event, kind)


def _change(
    access: PlatformAccess, found: _MailerLiteSubscriber, kind: ChangeKind | None
) -> PlatformChange | None:
    if kind is None:
        return None
    wanted = _plain(access.code_field)
    code = next((v for k, v in found.fields.items() if wanted and _plain(k) == wanted), None)
    return PlatformChange(
        kind=kind,
        email=found.email,
        remote_id=found.id,
        name=str(found.fields.get("name") or "") or None,
        code=str(code) if code else None,
        created_ms=_utc_ms(found.subscribed_at or found.created_at),
    )


def _utc_ms(text: str | None) -> int | None:
    """MailerLite's times are in UTC; those in its API do not say so."""
    if text and not text.endswith("Z"):
        text += "+00:00"
    return time_ms(text)
