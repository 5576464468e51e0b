"""beehiiv, API v2: custom fields of a publication's subscriptions.

An organization may make 180 requests a minute. The endpoints for many at once answer before they
have written, so every subscription is one request: 50,000 take five hours. beehiiv drops values of
fields that do not exist without a word; so each batch looks at the fields first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec

from honeyguide.events.outbound import retry_after_s
from honeyguide.integrations import policy
from honeyguide.integrations.about import About, Limits, key_input
from honeyguide.integrations.answers import MOST_PAGES, Data, NewHook, answer_of, first_lists
from honeyguide.integrations.connector import Connector, ContactWrite, FieldKind
from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import Audience, Contact, ContactStatus, PlatformAccess
from honeyguide.integrations.platform_api import PlatformApi, quoted
from honeyguide.integrations.platform_hooks import PlatformWebhook, UrlKey
from honeyguide.integrations.policy import Remote, Update
from honeyguide.integrations.problems import TryLater, Unexpected
from honeyguide.integrations.reports import ChangeKind, ChangePage, IncomingHook, PlatformChange
from honeyguide.kernel.clock import system_clock

PER_PAGE = 100
PUBLICATION = "/publications/{audience}"
LONGEST_WAIT_S = 120  # for the end of a minute, if beehiiv's clock or ours is wrong
# There is none for unsubscribing, only for leaving one of several newsletters.
EVENTS = ("subscription.created", "subscription.confirmed", "subscription.deleted")
# Those who have not confirmed yet, wait for approval or paused are no business of ours.
_STATES = {
    "active": ChangeKind.JOINED,
    "inactive": ChangeKind.LEFT,
    "invalid": ChangeKind.BOUNCED,
}


class _BeehiivValue(msgspec.Struct):
    name: str
    value: Any = None


class _BeehiivSubscription(msgspec.Struct):
    id: str
    email: str
    status: str
    created: int | None = None
    custom_fields: list[_BeehiivValue] = []


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


class _BeehiivField(msgspec.Struct):
    display: str


class _BeehiivFields(msgspec.Struct):
    data: list[_BeehiivField]
    total_pages: int = 1


class _BeehiivEventData(msgspec.Struct):
    email: str = ""


class _BeehiivEvent(msgspec.Struct):
    event_type: str
    data: _BeehiivEventData


class Beehiiv(Connector):
    about = About(
        key="beehiiv",
        name="beehiiv",
        initials="b",
        summary="Writes to custom fields. Reports joins at once, leaves within the hour.",
        audience="publication",
        inputs=(
            key_input(
                "In beehiiv: Settings, API, Create new API key.",
                "0123456789abcdef0123456789abcdef",
            ),
        ),
        limits=Limits(per_batch=50, requests_per_minute=170, requests_per_batch=51),
        keeps_capitals=True,
    )
    api = PlatformApi(
        base="https://api.beehiiv.com/v2",
        forbidden="The beehiiv key lacks a permission, or the plan has no API.",
        own_statuses=(429,),
    )
    contact_type = Data[_BeehiivSubscription]
    field_kind = FieldKind(name="custom field", drops_unknown=True)
    webhook = PlatformWebhook(
        path=f"{PUBLICATION}/webhooks",
        content={"event_types": EVENTS, "description": "Honeyguide"},
        proof=UrlKey(),
        answer=Data[NewHook],
        without="It must begin with https. Joins are read each night, and leaves once an hour.",
    )

    async def check(self, access: PlatformAccess) -> str:
        found = await self._publications(access)
        return found[0].organization_name if found else ""

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        found = await self._publications(access)
        return [Audience(id=each.id, name=each.name) for each in found]

    async def _publications(self, access: PlatformAccess) -> list[_BeehiivPublication]:
        reply = await self.call(access, "GET", f"/publications?limit={PER_PAGE}")
        found = answer_of(reply, Data[list[msgspec.Raw]]).data
        return first_lists(reply, found, _BeehiivPublication)

    async def fields_there(self, access: PlatformAccess) -> Mapping[str, str]:
        there: dict[str, str] = {}
        page, pages = 0, 1
        while page < pages:
            page += 1
            path = f"{PUBLICATION}/custom_fields?limit={PER_PAGE}&page={page}"
            fields = self.in_audience(await self.call(access, "GET", path), _BeehiivFields)
            there |= {each.display: each.display for each in fields.data}
            pages = min(fields.total_pages, MOST_PAGES)
        return there

    async def create_field(self, access: PlatformAccess, name: str) -> PlatformReply:
        body = {"kind": "string", "display": name}
        return await self.call(access, "POST", f"{PUBLICATION}/custom_fields", body)

    async def find(self, access: PlatformAccess, contact: Contact) -> Remote | None:
        """Without `unsubscribe`, an update leaves the status as it is."""
        return policy.unseen(contact.key_there) if contact.key_there else None

    async def look_up(self, access: PlatformAccess, key: str) -> Remote | None:
        path = f"{_subscription(key)}?{urlencode({'expand[]': 'custom_fields'})}"
        return self.found(access, await self.call(access, "GET", path))

    async def add(self, write: ContactWrite) -> Remote | None:
        return await self._post(write, is_return=False)

    async def update(self, write: ContactWrite, remote: Remote, change: Update) -> Remote | None:
        if change.returns:
            return await self._post(write, is_return=True)
        status = change.body(email="email", unsubscribed={"unsubscribe": True})
        body = {"custom_fields": _values(write), **status}
        return self.written(
            write, await self.call(write.access, "PUT", _subscription(remote.id), body)
        )

    async def _post(self, write: ContactWrite, *, is_return: bool) -> Remote | None:
        body = {
            "email": write.contact.email,
            "reactivate_existing": is_return,
            "send_welcome_email": False,
            "custom_fields": _values(write),
        }
        path = f"{PUBLICATION}/subscriptions"
        return self.written(write, await self.call(write.access, "POST", path, body))

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        """beehiiv cannot list what changed. Joins are reported by webhook; so between two whole
        passes, all those who left are read."""
        asked: dict[str, Any] = {"limit": PER_PAGE, "expand[]": "custom_fields"}
        asked["status"] = "all" if since_ms is None else "inactive"
        if token:
            asked["cursor"] = token
        path = f"{PUBLICATION}/subscriptions?{urlencode(asked)}"
        page = self.in_audience(await self.call(access, "GET", path), _BeehiivSubscriptions)
        if page.next_cursor is None and (page.has_more or page.total_pages > 1):
            raise Unexpected("beehiiv did not say how to read the rest of the list.")
        return self.page(access, page.data, page.next_cursor if page.has_more else None)

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        """Only the address is believed; what happened to it is asked."""
        event = hook.decode(access.about.name, _BeehiivEvent)
        is_ours = event.event_type in EVENTS and event.data.email
        return await self.ask(access, event.data.email) if is_ours else []

    def judge(self, reply: PlatformReply) -> None:
        raise TryLater("beehiiv asked us to slow down.", after_s=_wait_s(reply))

    def remote(self, access: PlatformAccess, found: _BeehiivSubscription) -> Remote:
        values = {each.name: each.value for each in found.custom_fields}
        return Remote(
            id=found.id,
            email=found.email,
            kind=_STATES.get(found.status),
            can_return=found.status == "inactive",
            code=self.code_in(access, values),
            fields=self.fields_in(access, values),
            created_ms=found.created * 1000 if found.created else None,
        )


def _subscription(key: str) -> str:
    """By ID or address."""
    by = "by_email/" if "@" in key else ""
    return f"{PUBLICATION}/subscriptions/{by}{quoted(key)}"


def _wait_s(reply: PlatformReply) -> int | None:
    """beehiiv says at what second since 1970 the minute ends; Retry-After is not documented."""
    now_s = system_clock() // 1000
    reset_s = reply.headers.get("ratelimit-reset", "")
    if not (reset_s.isascii() and reset_s.isdigit() and len(reset_s) < 12):
        return retry_after_s(reply.headers.get("retry-after"), now_s)
    return min(max(1, int(reset_s) - now_s), LONGEST_WAIT_S)


def _values(write: ContactWrite) -> list[dict[str, Any]]:
    if write.contact.status == ContactStatus.ERASED:
        return [{"name": name, "delete": True} for name in write.fields]
    return [{"name": name, "value": value} for name, value in write.fields.items()]
