"""listmonk 6, on the operator's own server: attributes of a list's subscribers.

A subscriber of listmonk may be on many lists; we look at one. `PATCH` merges attributes and keeps
lists and statuses. There are no webhooks: we ask for what changed, by an SQL condition, which the
API user must be allowed to send. Only numbers and times of ours are in it, never an address.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from honeyguide.integrations.answers import (
    answer_of,
    first_lists,
    outcome,
    refused,
    time_ms,
    write_in_turn,
    written,
)
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
from honeyguide.integrations.problems import AudienceGone, ForgedHook, WrongCredentials

URL = "url"
USER = "username"
TOKEN = "token"
PER_PAGE = 500
_BAD_ADDRESS = "listmonk does not accept this address."


class _ListmonkMembership(msgspec.Struct):
    id: int
    subscription_status: str = ""
    subscription_created_at: str = ""
    optin: str = ""


class _ListmonkSubscriber(msgspec.Struct):
    id: int
    email: str
    status: str
    name: str = ""
    attribs: dict[str, Any] | None = None
    lists: list[_ListmonkMembership] = []

    def membership(self, access: PlatformAccess) -> _ListmonkMembership | None:
        return next((each for each in self.lists if str(each.id) == access.audience_id), None)

    def has_left(self, access: PlatformAccess) -> bool:
        mine = self.membership(access)
        is_out = mine is not None and mine.subscription_status == "unsubscribed"
        return self.status == "blocklisted" or is_out


class _ListmonkOne(msgspec.Struct):
    data: _ListmonkSubscriber


class _ListmonkPage(msgspec.Struct):
    results: list[_ListmonkSubscriber]
    total: int


class _ListmonkFound(msgspec.Struct):
    data: _ListmonkPage


class _ListmonkList(msgspec.Struct):
    id: int
    name: str
    subscriber_count: int | None = None


class _ListmonkLists(msgspec.Struct):
    results: list[msgspec.Raw]


class _ListmonkAllLists(msgspec.Struct):
    data: _ListmonkLists


class Listmonk:
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
                help="Version 6 or later, as we reach it from here.",
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
        is_lower_case=True,
    )

    async def check(self, access: PlatformAccess) -> str:
        """Also tries whether the user may send an SQL condition."""
        await self._query(access, query="subscribers.id < 0")
        return ""

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        reply = await self._call(access, "GET", "/api/lists?per_page=all")
        found = answer_of(reply, _ListmonkAllLists).data.results
        return [
            Audience(id=str(each.id), name=each.name, subscribers=each.subscriber_count)
            for each in first_lists(reply, found, _ListmonkList)
        ]

    async def ensure_fields(self, access: PlatformAccess) -> int:
        return 0  # attributes are free

    async def write_many(
        self, access: PlatformAccess, contacts: Sequence[Contact]
    ) -> list[WriteOutcome]:
        """Looks at the list first: listmonk adds subscribers to a deleted list without a word."""
        await self._need_list(access)
        return await write_in_turn(access, contacts, lambda contact: self._write(access, contact))

    async def _need_list(self, access: PlatformAccess) -> None:
        path = f"/api/lists/{quote(access.audience_id, safe='')}"
        reply = await self._call(access, "GET", path)
        if reply.status in (400, 404):  # listmonk says 400 about a list that does not exist
            raise AudienceGone("The list was deleted in listmonk.")
        answer_of(reply, dict)

    async def _write(self, access: PlatformAccess, contact: Contact) -> WriteOutcome:
        found = await self._find(access, contact)
        if found is None:
            return await self._add(access, contact)
        is_active = contact.status == ContactStatus.ACTIVE
        has_left, is_added = found.has_left(access), False
        if is_active and found.membership(access) is None:
            if has_left or not contact.may_add:
                result = WriteResult.LEFT if has_left else WriteResult.ABSENT
                return outcome(contact, result, remote_id=str(found.id))
            await self._change_list(access, found, "add")
            is_added = True
        elif contact.may_return and has_left and found.status != "blocklisted":
            await self._change_list(access, found, "add", status="confirmed")
        if contact.status == ContactStatus.UNSUBSCRIBED and not has_left:
            await self._change_list(access, found, "unsubscribe")
        # Without `preconfirm_subscriptions`, listmonk asks everybody for a confirmation who has
        # not given it, after each change. It confirms nobody if no lists are given.
        body: dict[str, Any] = {
            "attribs": _attributes(access, contact),
            "preconfirm_subscriptions": not is_added,
        }
        if is_active and contact.old_email:
            other = await self._by_email(access, contact.email)
            if other is not None and other.id != found.id:
                reason = "Another subscriber in listmonk already has the new address."
                return outcome(contact, WriteResult.REFUSED, reason=reason)
            body["email"] = contact.email
        reply = await self._call(access, "PATCH", f"/api/subscribers/{found.id}", body)
        if not reply.is_ok:
            return refused(contact, reply, _BAD_ADDRESS)
        changed = reply.decode(_ListmonkOne).data
        return written(contact, str(changed.id), has_left=changed.has_left(access))

    async def _find(self, access: PlatformAccess, contact: Contact) -> _ListmonkSubscriber | None:
        if not contact.remote_id:
            return await self._by_email(access, contact.old_email or contact.email)
        path = f"/api/subscribers/{quote(contact.remote_id, safe='')}"
        reply = await self._call(access, "GET", path)
        if reply.status in (400, 404):  # listmonk says 400 about somebody who does not exist
            return None
        return answer_of(reply, _ListmonkOne).data

    async def _by_email(self, access: PlatformAccess, email: str) -> _ListmonkSubscriber | None:
        """Searches by a regular expression, which listmonk also compares with names."""
        pattern = "^" + re.sub(r"[^\w@]", r"\\\g<0>", email) + "$"
        page = await self._query(access, search=pattern)
        return next((each for each in page.results if each.email.lower() == email.lower()), None)

    async def _add(self, access: PlatformAccess, contact: Contact) -> WriteOutcome:
        if not contact.may_add:
            return outcome(contact, WriteResult.ABSENT)
        body = {
            "email": contact.email,
            "name": contact.name or "",
            "status": "enabled",
            "lists": [int(access.audience_id)],
            "attribs": _attributes(access, contact),
        }
        reply = await self._call(access, "POST", "/api/subscribers", body)
        if reply.status == 409:
            reason = "They were added in listmonk at the same moment."
            return outcome(contact, WriteResult.LATER, reason=reason)
        if not reply.is_ok:
            return refused(contact, reply, _BAD_ADDRESS)
        return written(contact, str(reply.decode(_ListmonkOne).data.id))

    async def _change_list(
        self, access: PlatformAccess, found: _ListmonkSubscriber, action: str, **status: str
    ) -> None:
        """`add` without a status never changes that of somebody who is on the list already."""
        lists = [int(access.audience_id)]
        body = {"ids": [found.id], "action": action, "target_list_ids": lists, **status}
        answer_of(await self._call(access, "PUT", "/api/subscribers/lists", body), dict)

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        """In the order of IDs, so that nobody is missed who changes meanwhile."""
        condition = f"subscribers.id > {int(token or 0)}"
        if since_ms is not None:
            since = datetime.fromtimestamp(since_ms / 1000, UTC).isoformat(timespec="seconds")
            # Leaving a list changes only the subscription.
            condition += (
                f" AND (subscribers.updated_at >= '{since}'"
                f" OR subscriber_lists.updated_at >= '{since}')"
            )
        page = await self._query(access, query=condition, list_id=access.audience_id)
        if not page.results and token is None:
            await self._need_list(access)
        is_last = len(page.results) >= page.total
        changes = [_change(access, each) for each in page.results]
        return ChangePage(
            changes=[each for each in changes if each is not None],
            seen=[str(each.id) for each in page.results],
            next_token=None if is_last or not page.results else str(page.results[-1].id),
        )

    async def _query(self, access: PlatformAccess, **asked: str) -> _ListmonkPage:
        parameters = {**asked, "order": "asc", "page": 1, "per_page": PER_PAGE}
        path = f"/api/subscribers?{urlencode(parameters)}"
        return answer_of(await self._call(access, "GET", path), _ListmonkFound).data

    async def add_hook(self, access: PlatformAccess, url: str) -> dict[str, str]:
        return {}

    async def remove_hook(self, access: PlatformAccess) -> None:
        return None

    def verify_hook(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        raise ForgedHook("listmonk has no webhooks.")

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        return []

    async def _call(
        self, access: PlatformAccess, method: str, path: str, json: Any = None
    ) -> PlatformReply:
        user, token = access.credentials[USER].strip(), access.credentials[TOKEN].strip()
        reply = await access.http.call(
            method,
            access.credentials[URL].strip().rstrip("/") + path,
            headers={"Authorization": f"Basic {b64encode(f'{user}:{token}'.encode()).decode()}"},
            json=json,
        )
        if reply.status == 403:
            raise WrongCredentials(
                "listmonk does not accept the API user and token, or its role lacks a permission."
            )
        return reply


def _attributes(access: PlatformAccess, contact: Contact) -> dict[str, str]:
    """In lower case, as the newsletter block has them."""
    return {name.lower(): value for name, value in contact.fields(access).items()}


def _change(access: PlatformAccess, found: _ListmonkSubscriber) -> PlatformChange | None:
    """None for those who still have to confirm that they want the list."""
    mine = found.membership(access)
    has_left = found.has_left(access)
    if mine is None or (
        not has_left and mine.optin == "double" and mine.subscription_status != "confirmed"
    ):
        return None
    code = (found.attribs or {}).get(access.code_field) if access.code_field else None
    return PlatformChange(
        kind=ChangeKind.LEFT if has_left else ChangeKind.JOINED,
        email=found.email,
        remote_id=str(found.id),
        name=found.name or None,
        code=str(code) if code else None,
        created_ms=time_ms(mine.subscription_created_at),
    )
