"""Mailchimp: merge fields of an audience's contacts.

Each contact is written alone, with `status_if_new`: that never changes the status of somebody whom
Mailchimp already knows. The endpoint for 500 at once would make people active again who left
between our last look and the write. Mailchimp takes ten requests at a time.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

import msgspec

from honeyguide.integrations.answers import (
    answer_of,
    first_lists,
    outcome,
    refused,
    time_ms,
    write_at_once,
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
    SyncField,
    WriteOutcome,
    WriteResult,
)
from honeyguide.integrations.problems import (
    AudienceGone,
    FieldsGone,
    TryLater,
    Unexpected,
    WrongCredentials,
    understood,
)

T = TypeVar("T")

KEY = "api_key"
HOOK_ID = "hook_id"
AT_ONCE = 8  # of the ten that Mailchimp takes; it answers 429 to the eleventh
PER_PAGE = 500
# Contacts that receive no newsletter for another reason are no business of ours.
_KIND_OF_STATUS = {
    "subscribed": ChangeKind.JOINED,
    "unsubscribed": ChangeKind.LEFT,
    "cleaned": ChangeKind.BOUNCED,
    "archived": ChangeKind.DELETED,
}
_HAS_LEFT = ("unsubscribed", "cleaned", "archived")


class _Member(msgspec.Struct):
    contact_id: str
    email_address: str
    status: str
    full_name: str = ""
    merge_fields: dict[str, Any] = {}
    timestamp_opt: str = ""


class _Members(msgspec.Struct):
    members: list[_Member]
    total_items: int


class _Account(msgspec.Struct):
    account_name: str = ""


class _Stats(msgspec.Struct):
    member_count: int | None = None


class _List(msgspec.Struct):
    id: str
    name: str
    stats: _Stats


class _Lists(msgspec.Struct):
    lists: list[msgspec.Raw]


class _MergeField(msgspec.Struct):
    tag: str


class _MergeFields(msgspec.Struct):
    merge_fields: list[_MergeField]


class _Webhook(msgspec.Struct):
    id: str


class _Problem(msgspec.Struct):
    """An error as Mailchimp describes it. `detail` may quote an address, so nobody is shown it."""

    title: str = ""
    detail: str = ""


class Mailchimp:
    about = About(
        key="mailchimp",
        name="Mailchimp",
        initials="Mc",
        summary="Writes to merge fields. Reports changes at once.",
        audience="audience",
        inputs=(
            Input(
                name=KEY,
                label="API key",
                help="In Mailchimp: your picture, Account & billing, Extras, API keys.",
                example="0123456789abcdef0123456789abcdef-us19",
            ),
        ),
        limits=Limits(per_batch=100, requests_per_second=20, requests_per_batch=100),
        hooks=Hooks.AUTOMATIC,
        poll_every_s=3600,
        field_pattern=r"[A-Z][A-Z0-9_]{0,9}",
        field_rule="capital letters, digits and underscores, at most 10, beginning with a letter",
        default_names={
            SyncField.HUB_LINK: "RH_HUBLINK",
            SyncField.NEXT_REWARD: "RH_NEXT",
            SyncField.REFERRALS_MISSING: "RH_MISSING",
            SyncField.LAST_REWARD: "RH_LASTRWD",
        },
    )

    def __init__(self, base: str = "https://{server}.api.mailchimp.com/3.0") -> None:
        self._base = base

    async def check(self, access: PlatformAccess) -> str:
        reply = await self._call(access, "GET", "/?fields=account_name")
        return answer_of(reply, _Account).account_name

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        path = "/lists?count=1000&fields=lists.id,lists.name,lists.stats.member_count"
        reply = await self._call(access, "GET", path)
        return [
            Audience(id=each.id, name=each.name, subscribers=each.stats.member_count)
            for each in first_lists(reply, answer_of(reply, _Lists).lists, _List)
        ]

    async def ensure_fields(self, access: PlatformAccess) -> int:
        path = f"{_list(access)}/merge-fields"
        reply = await self._call(access, "GET", f"{path}?count=1000&fields=merge_fields.tag")
        there = {each.tag for each in _in_audience(reply, _MergeFields).merge_fields}
        missing = [name for name in access.field_names.values() if name not in there]
        for name in missing:
            field = {"tag": name, "name": name, "type": "text", "public": False}
            made = await self._call(access, "POST", path, json=field)
            if not made.is_ok:
                raise Unexpected(
                    f"Mailchimp refused to create the merge field {name}. An audience has room for "
                    "30 of them on most plans; delete one that you do not use."
                )
        return len(missing)

    async def write_many(
        self, access: PlatformAccess, contacts: Sequence[Contact]
    ) -> list[WriteOutcome]:
        return await write_at_once(
            access, contacts, lambda contact: self._write(access, contact), at_once=AT_ONCE
        )

    async def _write(self, access: PlatformAccess, contact: Contact) -> WriteOutcome:
        values = {"merge_fields": contact.fields(access)}
        is_here = contact.status == ContactStatus.ACTIVE
        if is_here and contact.may_add and not contact.old_email:
            body = {"email_address": contact.email, "status_if_new": "subscribed", **values}
            reply = await self._call(access, "PUT", _member(access, _hash(contact.email)), body)
            if reply.status == 404:
                raise AudienceGone("The audience was deleted in Mailchimp.")
        else:
            key = contact.remote_id or _hash(contact.old_email or contact.email)
            changed: dict[str, Any] = dict(values)
            if contact.status == ContactStatus.UNSUBSCRIBED:
                changed["status"] = "unsubscribed"
            elif contact.old_email:
                changed["email_address"] = contact.email
            reply = await self._call(access, "PATCH", _member(access, key), changed)
            if reply.status == 404:
                await self._need_audience(access)
                return outcome(contact, WriteResult.ABSENT)
        if not reply.is_ok:
            return _refused(contact, reply)
        member = reply.decode(_Member)
        return written(contact, member.contact_id, has_left=member.status in _HAS_LEFT)

    async def _need_audience(self, access: PlatformAccess) -> None:
        """Nobody was deleted if the whole audience was."""
        _in_audience(await self._call(access, "GET", f"{_list(access)}?fields=id"), dict)

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        """Sorted by the time of the last change, so that nobody is missed who changes meanwhile."""
        offset = int(token or 0)
        asked = {"count": PER_PAGE, "offset": offset, "sort_field": "last_changed"}
        if since_ms is not None:
            since = datetime.fromtimestamp(since_ms / 1000, UTC)
            asked["since_last_changed"] = since.isoformat(timespec="seconds")
        reply = await self._call(access, "GET", f"{_list(access)}/members?{urlencode(asked)}")
        page = _in_audience(reply, _Members)
        following = offset + len(page.members)
        is_last = not page.members or following >= page.total_items
        return ChangePage(
            changes=[
                _change(access, member)
                for member in page.members
                if member.status in _KIND_OF_STATUS
            ],
            seen=[member.contact_id for member in page.members],
            next_token=None if is_last else str(following),
        )

    async def add_hook(self, access: PlatformAccess, url: str) -> dict[str, str]:
        """Mailchimp need not sign, so the URL has a secret. Our own writes come from the API and
        are not reported.
        """
        key = new_key()
        body = {
            "url": keyed_url(url, key),
            "events": {
                "subscribe": True,
                "unsubscribe": True,
                "profile": True,
                "cleaned": True,
                "upemail": True,
                "campaign": False,
            },
            "sources": {"user": True, "admin": True, "api": False},
        }
        reply = await self._call(access, "POST", f"{_list(access)}/webhooks", json=body)
        if not reply.is_ok:
            raise Unexpected(
                "Mailchimp could not reach our URL for webhooks. Changes are read once an hour."
            )
        return {HOOK_ID: answer_of(reply, _Webhook).id, HOOK_KEY: key}

    async def remove_hook(self, access: PlatformAccess) -> None:
        if hook_id := access.credentials.get(HOOK_ID):
            await self._call(access, "DELETE", f"{_list(access)}/webhooks/{quote(hook_id)}")

    def verify_hook(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        check_key(access, hook)
        return ""

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        """Only the address is believed; what happened to it is asked."""
        with understood(access.about.name, "a webhook"):
            said = dict(parse_qsl(hook.body.decode(), strict_parsing=True, max_num_fields=1_000))
        email = said.get("data[new_email]") or said.get("data[email]")
        if not email:
            return []
        reply = await self._call(access, "GET", _member(access, _hash(email)))
        if reply.status == 404:
            return [PlatformChange(kind=ChangeKind.DELETED, email=email)]
        member = reply.decode(_Member)
        if member.status not in _KIND_OF_STATUS:
            return []
        return [_change(access, member, said.get("data[old_email]"))]

    async def _call(
        self, access: PlatformAccess, method: str, path: str, json: Any = None
    ) -> PlatformReply:
        key = access.credentials[KEY].strip()
        _, _, server = key.rpartition("-")
        if not (server.isascii() and server.isalnum() and len(server) <= 10):
            raise WrongCredentials(
                "A Mailchimp key ends with a dash and the name of a server, such as -us19."
            )
        reply = await access.http.call(
            method,
            self._base.format(server=server) + path,
            headers={"Authorization": f"Basic {b64encode(f'any:{key}'.encode()).decode()}"},
            json=json,
            returned={403},
        )
        if reply.status != 403:
            return reply
        if reply.details(_Problem).title:
            raise WrongCredentials("The Mailchimp key lacks a permission, or its user was removed.")
        # Mailchimp's servers refuse like this under load, before anybody looked at the key.
        raise TryLater("Mailchimp asked us to slow down.")


def _list(access: PlatformAccess) -> str:
    return f"/lists/{quote(access.audience_id, safe='')}"


def _member(access: PlatformAccess, key: str) -> str:
    """Mailchimp accepts the hash of the address or the contact's ID."""
    return f"{_list(access)}/members/{quote(key, safe='')}?skip_merge_validation=true"


def _hash(email: str) -> str:
    return hashlib.md5(email.lower().encode(), usedforsecurity=False).hexdigest()


def _in_audience(reply: PlatformReply, kind: type[T]) -> T:
    if reply.status == 404:
        raise AudienceGone("The audience was deleted in Mailchimp.")
    return answer_of(reply, kind)


def _refused(contact: Contact, reply: PlatformReply) -> WriteOutcome:
    problem = reply.details(_Problem)
    if problem.title in ("Member In Compliance State", "Forgotten Email Not Subscribed"):
        return outcome(contact, WriteResult.LEFT)
    if "merge fields were invalid" in problem.detail:
        raise FieldsGone("A merge field of ours was deleted in Mailchimp.")
    reason = "Mailchimp does not accept this address."
    if problem.title == "Member Exists":
        reason = "Another contact in Mailchimp already has the new address."
    return refused(contact, reply, reason)


def _change(
    access: PlatformAccess, member: _Member, old_email: str | None = None
) -> PlatformChange:
    kind = _KIND_OF_STATUS[member.status]
    if old_email and kind == ChangeKind.JOINED:
        kind = ChangeKind.CHANGED_ADDRESS
    code = member.merge_fields.get(access.code_field) if access.code_field else None
    return PlatformChange(
        kind=kind,
        email=member.email_address,
        remote_id=member.contact_id,
        old_email=old_email,
        name=member.full_name or None,
        code=str(code) if code else None,
        created_ms=time_ms(member.timestamp_opt),
    )
