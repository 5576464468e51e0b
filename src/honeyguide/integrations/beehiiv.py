"""beehiiv, API v2: custom fields of a publication's subscriptions.

An organization may make 180 requests a minute. The endpoints for many at once answer before they
have written, so every subscription is one request: 50,000 take five hours. beehiiv drops values of
fields that do not exist without a word; so each batch looks at the fields first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from honeyguide.events.outbound import retry_after_s
from honeyguide.integrations.answers import (
    MOST_PAGES,
    answer_of,
    first_lists,
    outcome,
    refused,
    write_in_turn,
    written,
)
from honeyguide.integrations.hook_keys import HOOK_KEY, check_key, keyed_url, new_key
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
    AudienceGone,
    FieldsGone,
    TryLater,
    Unexpected,
    WrongCredentials,
)
from honeyguide.kernel.clock import system_clock

T = TypeVar("T")

KEY = "api_key"
HOOK_ID = "hook_id"
PER_PAGE = 100
LONGEST_WAIT_S = 120  # for the end of a minute, if beehiiv's clock or ours is wrong
# There is none for unsubscribing, only for leaving one of several newsletters.
EVENTS = ("subscription.created", "subscription.confirmed", "subscription.deleted")
# Those who have not confirmed yet, wait for approval or paused are no business of ours.
_KIND_OF_STATUS = {
    "active": ChangeKind.JOINED,
    "inactive": ChangeKind.LEFT,
    "invalid": ChangeKind.BOUNCED,
}
_HAS_LEFT = ("inactive", "invalid")


class _BeehiivValue(msgspec.Struct):
    name: str
    value: Any = None


class _BeehiivSubscription(msgspec.Struct):
    id: str
    email: str
    status: str
    created: int | None = None
    custom_fields: list[_BeehiivValue] = []


class _BeehiivOne(msgspec.Struct):
    data: _BeehiivSubscription


class _BeehiivSubscriptions(msgspec.Struct):
    data: list[_BeehiivSubscription]
    has_more: bool = False
    next_cursor: str | None = None
    total_pages: int = 1
    """Only said if the answer has no cursor."""


class _BeehiivPublication(msgspec.Struct):
    id: str
    name: str
    organization_name: str = ""


class _BeehiivPublications(msgspec.Struct):
    data: list[msgspec.Raw]


class _BeehiivField(msgspec.Struct):
    display: str


class _BeehiivFields(msgspec.Struct):
    data: list[_BeehiivField]
    total_pages: int = 1


class _BeehiivHook(msgspec.Struct):
    id: str


class _BeehiivNewHook(msgspec.Struct):
    data: _BeehiivHook


class _BeehiivEventData(msgspec.Struct):
    email: str = ""


class _BeehiivEvent(msgspec.Struct):
    event_type: str
    data: _BeehiivEventData


class Beehiiv:
    about = About(
        key="beehiiv",
        name="beehiiv",
        initials="b",
        summary="Writes to custom fields. Reports joins at once, leaves within the hour.",
        audience="publication",
        inputs=(
            Input(
                name=KEY,
                label="API key",
                help="In beehiiv: Settings, API, Create new API key.",
                example="0123456789abcdef0123456789abcdef",
            ),
        ),
        limits=Limits(per_batch=50, requests_per_minute=170, requests_per_batch=51),
        hooks=Hooks.AUTOMATIC,
        poll_every_s=3600,
    )

    def __init__(self, base: str = "https://api.beehiiv.com/v2") -> None:
        self._base = base

    async def check(self, access: PlatformAccess) -> str:
        found = await self._publications(access)
        return found[0].organization_name if found else ""

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        found = await self._publications(access)
        return [Audience(id=each.id, name=each.name) for each in found]

    async def _publications(self, access: PlatformAccess) -> list[_BeehiivPublication]:
        reply = await self._call(access, "GET", f"/publications?limit={PER_PAGE}")
        found = answer_of(reply, _BeehiivPublications).data
        return first_lists(reply, found, _BeehiivPublication)

    async def ensure_fields(self, access: PlatformAccess) -> int:
        missing = await self._missing_fields(access)
        path = f"{_publication(access)}/custom_fields"
        for name in missing:
            made = await self._call(access, "POST", path, {"kind": "string", "display": name})
            if not made.is_ok:
                raise Unexpected(f"beehiiv refused to create the custom field {name}.")
        return len(missing)

    async def _missing_fields(self, access: PlatformAccess) -> list[str]:
        there: set[str] = set()
        page, pages = 0, 1
        while page < pages:
            page += 1
            path = f"{_publication(access)}/custom_fields?limit={PER_PAGE}&page={page}"
            fields = _in_publication(await self._call(access, "GET", path), _BeehiivFields)
            there |= {each.display for each in fields.data}
            pages = min(fields.total_pages, MOST_PAGES)
        return [name for name in access.field_names.values() if name not in there]

    async def write_many(
        self, access: PlatformAccess, contacts: Sequence[Contact]
    ) -> list[WriteOutcome]:
        if await self._missing_fields(access):
            raise FieldsGone("A custom field of ours was deleted in beehiiv.")
        return await write_in_turn(access, contacts, lambda contact: self._write(access, contact))

    async def _write(self, access: PlatformAccess, contact: Contact) -> WriteOutcome:
        """Updates, and adds only whom beehiiv does not know. Without `unsubscribe` the status stays
        as it is."""
        body: dict[str, Any] = {"custom_fields": _values(access, contact)}
        if contact.status == ContactStatus.UNSUBSCRIBED:
            body["unsubscribe"] = True
        elif contact.status == ContactStatus.ACTIVE and contact.old_email:
            body["email"] = contact.email
        reply = await self._call(access, "PUT", _subscription(access, contact), body)
        if reply.status == 404 and contact.may_add:
            reply = await self._add(access, contact)
        if reply.status == 404:
            return outcome(contact, WriteResult.ABSENT)
        if not reply.is_ok:
            return refused(contact, reply, "beehiiv does not accept this address.")
        found = reply.decode(_BeehiivOne).data
        if contact.may_return and found.status == "inactive":
            reply = await self._add(access, contact, is_return=True)
            found = answer_of(reply, _BeehiivOne).data
        return written(contact, found.id, has_left=found.status in _HAS_LEFT)

    async def _add(
        self, access: PlatformAccess, contact: Contact, *, is_return: bool = False
    ) -> PlatformReply:
        body = {
            "email": contact.email,
            "reactivate_existing": is_return,
            "send_welcome_email": False,
            "custom_fields": _values(access, contact),
        }
        return await self._call(access, "POST", f"{_publication(access)}/subscriptions", body)

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        """beehiiv cannot list what changed. Joins are reported by webhook; so between two whole
        passes, all those who left are read."""
        asked: dict[str, Any] = {"limit": PER_PAGE, "expand[]": "custom_fields"}
        asked["status"] = "all" if since_ms is None else "inactive"
        if token:
            asked["cursor"] = token
        path = f"{_publication(access)}/subscriptions?{urlencode(asked)}"
        page = _in_publication(await self._call(access, "GET", path), _BeehiivSubscriptions)
        if page.next_cursor is None and (page.has_more or page.total_pages > 1):
            raise Unexpected("beehiiv did not say how to read the rest of the list.")
        return ChangePage(
            changes=[_change(access, each) for each in page.data if each.status in _KIND_OF_STATUS],
            seen=[each.id for each in page.data],
            next_token=page.next_cursor if page.has_more else None,
        )

    async def add_hook(self, access: PlatformAccess, url: str) -> dict[str, str]:
        key = new_key()
        body = {
            "url": keyed_url(url, key),
            "event_types": list(EVENTS),
            "description": "Honeyguide",
        }
        reply = await self._call(access, "POST", f"{_publication(access)}/webhooks", body)
        if not reply.is_ok:
            raise Unexpected(
                "beehiiv does not accept our URL for webhooks, which must begin with https. Joins "
                "are read each night, and leaves once an hour."
            )
        return {HOOK_ID: answer_of(reply, _BeehiivNewHook).data.id, HOOK_KEY: key}

    async def remove_hook(self, access: PlatformAccess) -> None:
        if hook_id := access.credentials.get(HOOK_ID):
            path = f"{_publication(access)}/webhooks/{quote(hook_id, safe='')}"
            await self._call(access, "DELETE", path)

    def verify_hook(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        check_key(access, hook)
        return ""

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        """Only the address is believed; what happened to it is asked."""
        event = hook.decode(access.about.name, _BeehiivEvent)
        email = event.data.email
        if event.event_type not in EVENTS or not email:
            return []
        path = f"{_by_email(access, email)}?{urlencode({'expand[]': 'custom_fields'})}"
        reply = await self._call(access, "GET", path)
        if reply.status == 404:
            return [PlatformChange(kind=ChangeKind.DELETED, email=email)]
        found = answer_of(reply, _BeehiivOne).data
        return [_change(access, found)] if found.status in _KIND_OF_STATUS else []

    async def _call(
        self, access: PlatformAccess, method: str, path: str, json: Any = None
    ) -> PlatformReply:
        reply = await access.http.call(
            method,
            self._base + path,
            headers={"Authorization": f"Bearer {access.credentials[KEY].strip()}"},
            json=json,
            returned={429},
        )
        if reply.status == 429:
            raise TryLater("beehiiv asked us to slow down.", after_s=_wait_s(reply))
        if reply.status == 403:
            raise WrongCredentials("The beehiiv key lacks a permission, or the plan has no API.")
        return reply


def _publication(access: PlatformAccess) -> str:
    return f"/publications/{quote(access.audience_id, safe='')}"


def _by_email(access: PlatformAccess, email: str) -> str:
    return f"{_publication(access)}/subscriptions/by_email/{quote(email, safe='')}"


def _subscription(access: PlatformAccess, contact: Contact) -> str:
    if contact.remote_id:
        return f"{_publication(access)}/subscriptions/{quote(contact.remote_id, safe='')}"
    return _by_email(access, contact.old_email or contact.email)


def _in_publication(reply: PlatformReply, kind: type[T]) -> T:
    if reply.status == 404:
        raise AudienceGone("The publication was deleted in beehiiv.")
    return answer_of(reply, kind)


def _wait_s(reply: PlatformReply) -> int | None:
    """beehiiv says at what second since 1970 the minute ends; Retry-After is not documented."""
    now_s = system_clock() // 1000
    reset_s = reply.headers.get("ratelimit-reset", "")
    if not (reset_s.isascii() and reset_s.isdigit() and len(reset_s) < 12):
        return retry_after_s(reply.headers.get("retry-after"), now_s)
    return min(max(1, int(reset_s) - now_s), LONGEST_WAIT_S)


def _values(access: PlatformAccess, contact: Contact) -> list[dict[str, Any]]:
    fields = contact.fields(access)
    if contact.status == ContactStatus.ERASED:
        return [{"name": name, "delete": True} for name in fields]
    return [{"name": name, "value": value} for name, value in fields.items()]


def _change(access: PlatformAccess, found: _BeehiivSubscription) -> PlatformChange:
    values = {each.name: each.value for each in found.custom_fields}
    code = values.get(access.code_field) if access.code_field else None
    return PlatformChange(
        kind=_KIND_OF_STATUS[found.status],
        email=found.email,
        remote_id=found.id,
        code=str(code) if code else None,
        created_ms=found.created * 1000 if found.created else None,
    )
