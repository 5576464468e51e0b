"""listmonk 6, on the operator's own server: attributes of a list's subscribers.

A subscriber of listmonk may be on many lists; we look at one. `PATCH` merges attributes and keeps
lists and statuses. There are no webhooks: we ask for what changed, by an SQL condition, which the
API user must be allowed to send. Only numbers and times of ours are in it, never an address.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import msgspec

from honeyguide.integrations.about import About, Hooks, Input, Limits
from honeyguide.integrations.answers import Data, answer_of, first_lists, time_ms, time_of
from honeyguide.integrations.connector import Connector, ContactWrite, NotWritten
from honeyguide.integrations.platform import (
    Audience,
    Contact,
    PlatformAccess,
    WriteOutcome,
    WriteResult,
)
from honeyguide.integrations.platform_api import Basic, PlatformApi, quoted
from honeyguide.integrations.policy import Remote, Update
from honeyguide.integrations.reports import ChangeKind, ChangePage

URL, USER, TOKEN = "url", "username", "token"
PER_PAGE = 500


class _ListmonkMembership(msgspec.Struct):
    id: int
    subscription_status: str = ""
    subscription_created_at: str = ""
    optin: str = ""

    @property
    def kind(self) -> ChangeKind | None:
        """None for those who still have to confirm that they want the list."""
        if self.subscription_status == "unsubscribed":
            return ChangeKind.LEFT
        is_waiting = self.optin == "double" and self.subscription_status != "confirmed"
        return None if is_waiting else ChangeKind.JOINED


class _ListmonkSubscriber(msgspec.Struct):
    id: int
    email: str
    status: str
    name: str = ""
    attribs: dict[str, Any] | None = None
    lists: list[_ListmonkMembership] = []


class _ListmonkPage(msgspec.Struct):
    results: list[_ListmonkSubscriber]
    total: int


class _ListmonkList(msgspec.Struct):
    id: int
    name: str
    subscriber_count: int | None = None


class _ListmonkLists(msgspec.Struct):
    results: list[msgspec.Raw]


class Listmonk(Connector):
    about = About(
        key="listmonk",
        name="listmonk",
        initials="lm",
        summary="Writes to attributes. Changes are read every ten minutes.",
        audience="list",
        inputs=(
            Input(
                name=URL,
                label="URL of your listmonk",
                help="Version 6 or later. The URL must be reachable from this server.",
                example="https://listmonk.example.org",
                is_secret=False,
            ),
            Input(
                name=USER,
                label="API user",
                help="In listmonk: Admin, Users, New, type API. Its role needs "
                "subscribers:get_all, subscribers:manage, subscribers:sql_query, lists:get_all "
                "and lists:manage_all.",
                example="honeyguide",
                is_secret=False,
            ),
            Input(name=TOKEN, label="Token", help="listmonk shows it once, with the new user."),
        ),
        limits=Limits(per_batch=50, requests_per_second=30, requests_per_batch=101),
        hooks=Hooks.NONE,
        poll_every_s=600,
    )
    api = PlatformApi(
        auth=Basic(user=USER, password=TOKEN),
        forbidden="listmonk does not accept the API user and token, or its role lacks a "
        "permission.",
        unknown=(400, 404),  # listmonk says 400 about a list or somebody that does not exist
    )
    contact_type = Data[_ListmonkSubscriber]

    def base_url(self, credentials: Mapping[str, str]) -> str:
        return f"{credentials[URL].strip().rstrip('/')}/api"

    async def check(self, access: PlatformAccess) -> str:
        """Also tries whether the user may send an SQL condition."""
        await self._query(access, query="subscribers.id < 0")
        return ""

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        reply = await self.call(access, "GET", "/lists?per_page=all")
        found = answer_of(reply, Data[_ListmonkLists]).data.results
        return [
            Audience(id=str(each.id), name=each.name, subscribers=each.subscriber_count)
            for each in first_lists(reply, found, _ListmonkList)
        ]

    async def write_many(
        self, access: PlatformAccess, contacts: Sequence[Contact]
    ) -> list[WriteOutcome]:
        """Looks at the list first: listmonk adds subscribers to a deleted list without a word."""
        await self._need_list(access)
        return await super().write_many(access, contacts)

    async def _need_list(self, access: PlatformAccess) -> None:
        self.in_audience(await self.call(access, "GET", "/lists/{audience}"), dict)

    async def look_up(self, access: PlatformAccess, key: str) -> Remote | None:
        """An address is searched by a regular expression, which listmonk also compares with
        names."""
        if "@" not in key:
            return self.found(access, await self.call(access, "GET", f"/subscribers/{quoted(key)}"))
        pattern = "^" + re.sub(r"[^\w@]", r"\\\g<0>", key) + "$"
        page = await self._query(access, search=pattern)
        same = [each for each in page.results if each.email.lower() == key.lower()]
        return self.remote(access, same[0]) if same else None

    async def add(self, write: ContactWrite) -> Remote | None:
        body = {
            "email": write.contact.email,
            "name": write.contact.name or "",
            "status": "enabled",
            "lists": [int(write.access.audience_id)],
            "attribs": write.fields,
        }
        reply = await self.call(write.access, "POST", "/subscribers", body)
        if reply.status == 409:
            raise NotWritten(WriteResult.LATER, "They were added in listmonk at the same moment.")
        return self.written(write, reply)

    async def update(self, write: ContactWrite, remote: Remote, change: Update) -> Remote | None:
        """Without `preconfirm_subscriptions`, listmonk asks everybody for a confirmation who has
        not given it, after each change. It confirms nobody if no lists are given."""
        access = write.access
        if change.joins_list:
            await self._change_list(access, remote, "add")
        elif change.returns:
            await self._change_list(access, remote, "add", status="confirmed")
        elif change.unsubscribes:
            await self._change_list(access, remote, "unsubscribe")
        if change.email:
            other = await self.look_up(access, change.email)
            if other is not None and other.id != remote.id:
                reason = "Another subscriber in listmonk already has the new address."
                raise NotWritten(WriteResult.REFUSED, reason)
        email = {"email": change.email} if change.email else {}
        is_asked = change.joins_list
        body = {"attribs": write.fields, "preconfirm_subscriptions": not is_asked, **email}
        path = f"/subscribers/{remote.id}"
        return self.written(write, await self.call(access, "PATCH", path, body))

    async def _change_list(
        self, access: PlatformAccess, remote: Remote, action: str, **status: str
    ) -> None:
        """`add` without a status never changes that of somebody who is on the list already."""
        lists = [int(access.audience_id)]
        body = {"ids": [int(remote.id)], "action": action, "target_list_ids": lists, **status}
        answer_of(await self.call(access, "PUT", "/subscribers/lists", body), dict)

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        """In the order of IDs, so that nobody is missed who changes meanwhile."""
        condition = f"subscribers.id > {int(token or 0)}"
        if since_ms is not None:
            since = time_of(since_ms).isoformat(timespec="seconds")
            # Leaving a list changes only the subscription.
            condition += (
                f" AND (subscribers.updated_at >= '{since}'"
                f" OR subscriber_lists.updated_at >= '{since}')"
            )
        page = await self._query(access, query=condition, list_id=access.audience_id)
        if not page.results and token is None:
            await self._need_list(access)
        is_last = len(page.results) >= page.total or not page.results
        return self.page(access, page.results, None if is_last else str(page.results[-1].id))

    async def _query(self, access: PlatformAccess, **asked: str) -> _ListmonkPage:
        parameters = {**asked, "order": "asc", "page": 1, "per_page": PER_PAGE}
        path = f"/subscribers?{urlencode(parameters)}"
        return answer_of(await self.call(access, "GET", path), Data[_ListmonkPage]).data

    def remote(self, access: PlatformAccess, found: _ListmonkSubscriber) -> Remote:
        ours = next((each for each in found.lists if str(each.id) == access.audience_id), None)
        is_blocked = found.status == "blocklisted"
        kind = ours.kind if ours else None
        return Remote(
            id=str(found.id),
            email=found.email,
            kind=ChangeKind.LEFT if is_blocked else kind,
            is_on_list=ours is not None,
            can_return=not is_blocked,
            name=found.name or None,
            code=self.code_in(access, found.attribs or {}),
            fields=self.fields_in(access, found.attribs or {}),
            created_ms=time_ms(ours.subscription_created_at) if ours else None,
        )
