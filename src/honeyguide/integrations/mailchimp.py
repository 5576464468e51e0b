"""Mailchimp: merge fields of an audience's contacts.

Each contact is written alone, with `status_if_new`: that never changes the status of somebody whom
Mailchimp already knows. The endpoint for 500 at once would make people active again who left
between our last look and the write. Mailchimp takes ten requests at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import parse_qsl, urlencode

import msgspec

from honeyguide.integrations import policy
from honeyguide.integrations.about import KEY, About, Limits, SyncField, key_input
from honeyguide.integrations.answers import answer_of, first_lists, time_ms, time_of
from honeyguide.integrations.connector import Connector, ContactWrite, FieldKind, NotWritten
from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import Audience, Contact, PlatformAccess, WriteResult
from honeyguide.integrations.platform_api import Basic, PlatformApi, quoted
from honeyguide.integrations.platform_hooks import PlatformWebhook, UrlKey
from honeyguide.integrations.policy import Remote, Update
from honeyguide.integrations.problems import TryLater, WrongCredentials, understood
from honeyguide.integrations.reports import ChangeKind, ChangePage, IncomingHook, PlatformChange

PER_PAGE = 500
LIST = "/lists/{audience}"
# Contacts that receive no newsletter for another reason are no business of ours.
_STATES = {
    "subscribed": ChangeKind.JOINED,
    "unsubscribed": ChangeKind.LEFT,
    "cleaned": ChangeKind.BOUNCED,
    "archived": ChangeKind.DELETED,
}


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


class _Problem(msgspec.Struct):
    """An error as Mailchimp describes it. `detail` may quote an address, so nobody is shown it."""

    title: str = ""
    detail: str = ""


class Mailchimp(Connector):
    about = About(
        key="mailchimp",
        name="Mailchimp",
        initials="Mc",
        summary="Writes to merge fields. Reports changes at once.",
        audience="audience",
        inputs=(
            key_input(
                "In Mailchimp: your picture, Account & billing, Extras, API keys.",
                "0123456789abcdef0123456789abcdef-us19",
            ),
        ),
        limits=Limits(per_batch=100, requests_per_second=20, requests_per_batch=100),
        field_pattern=r"[A-Z][A-Z0-9_]{0,9}",
        field_rule="capital letters, digits and underscores, at most 10, beginning with a letter",
        default_names={
            SyncField.HUB_LINK: "RH_HUBLINK",
            SyncField.NEXT_REWARD: "RH_NEXT",
            SyncField.REFERRALS_MISSING: "RH_MISSING",
            SyncField.LAST_REWARD: "RH_LASTRWD",
        },
    )
    api = PlatformApi(
        base="https://{server}.api.mailchimp.com/3.0", auth=Basic(), own_statuses=(403,)
    )
    contact_type = _Member
    at_once = 8  # of the ten that Mailchimp takes; it answers 429 to the eleventh
    field_kind = FieldKind(
        name="merge field",
        advice="An audience has room for 30 of them on most plans; delete one that you do not use.",
    )
    webhook = PlatformWebhook(
        path=f"{LIST}/webhooks",
        content={
            "events": {
                "subscribe": True,
                "unsubscribe": True,
                "profile": True,
                "cleaned": True,
                "upemail": True,
                "campaign": False,
            },
            # Our own writes come from the API and are not reported.
            "sources": {"user": True, "admin": True, "api": False},
        },
        proof=UrlKey(),
    )

    def base_url(self, credentials: Mapping[str, str]) -> str:
        _, _, server = credentials[KEY].strip().rpartition("-")
        if not (server.isascii() and server.isalnum() and len(server) <= 10):
            raise WrongCredentials(
                "A Mailchimp key ends with a dash and the name of a server, such as -us19."
            )
        return self._base.format(server=server)

    def judge(self, reply: PlatformReply) -> None:
        """Mailchimp's servers refuse without a title under load, before anybody looked at the
        key."""
        if reply.details(_Problem).title:
            raise WrongCredentials("The Mailchimp key lacks a permission, or its user was removed.")
        raise TryLater("Mailchimp asked us to slow down.")

    async def check(self, access: PlatformAccess) -> str:
        reply = await self.call(access, "GET", "/?fields=account_name")
        return answer_of(reply, _Account).account_name

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        path = "/lists?count=1000&fields=lists.id,lists.name,lists.stats.member_count"
        reply = await self.call(access, "GET", path)
        return [
            Audience(id=each.id, name=each.name, subscribers=each.stats.member_count)
            for each in first_lists(reply, answer_of(reply, _Lists).lists, _List)
        ]

    async def fields_there(self, access: PlatformAccess) -> Mapping[str, str]:
        path = f"{LIST}/merge-fields?count=1000&fields=merge_fields.tag"
        found = self.in_audience(await self.call(access, "GET", path), _MergeFields)
        return {each.tag: each.tag for each in found.merge_fields}

    async def create_field(self, access: PlatformAccess, name: str) -> PlatformReply:
        field = {"tag": name, "name": name, "type": "text", "public": False}
        return await self.call(access, "POST", f"{LIST}/merge-fields", field)

    async def need_audience(self, access: PlatformAccess) -> None:
        self.in_audience(await self.call(access, "GET", f"{LIST}?fields=id"), dict)

    async def find(self, access: PlatformAccess, contact: Contact) -> Remote | None:
        """A member who is there keeps their status, also when we add them."""
        key = "" if policy.may_be_added(contact) else contact.key_there
        return policy.unseen(key) if key else None

    async def look_up(self, access: PlatformAccess, key: str) -> Remote | None:
        return self.found(access, await self.call(access, "GET", _member(key)))

    async def add(self, write: ContactWrite) -> Remote | None:
        email = write.contact.email
        body = {
            "email_address": email,
            "status_if_new": "subscribed",
            "merge_fields": write.fields,
        }
        return self.written(write, await self.call(write.access, "PUT", _member(email), body))

    async def update(self, write: ContactWrite, remote: Remote, change: Update) -> Remote | None:
        status = change.body(email="email_address", unsubscribed={"status": "unsubscribed"})
        body = {"merge_fields": write.fields, **status}
        return self.written(write, await self.call(write.access, "PATCH", _member(remote.id), body))

    def refuse(self, contact: Contact, reply: PlatformReply, reason: str = "") -> NoReturn:
        problem = reply.details(_Problem)
        if problem.title in ("Member In Compliance State", "Forgotten Email Not Subscribed"):
            raise NotWritten(WriteResult.LEFT)
        if "merge fields were invalid" in problem.detail:
            raise self.fields_gone()
        if problem.title == "Member Exists":
            reason = "Another contact in Mailchimp already has the new address."
        super().refuse(contact, reply, reason)

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        """Sorted by the time of the last change, so that nobody is missed who changes meanwhile."""
        offset = int(token or 0)
        asked = {"count": PER_PAGE, "offset": offset, "sort_field": "last_changed"}
        if since_ms is not None:
            asked["since_last_changed"] = time_of(since_ms).isoformat(timespec="seconds")
        path = f"{LIST}/members?{urlencode(asked)}"
        page = self.in_audience(await self.call(access, "GET", path), _Members)
        following = offset + len(page.members)
        is_last = not page.members or following >= page.total_items
        return self.page(access, page.members, None if is_last else str(following))

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        """Only the address is believed, and that it complained; what happened to it is asked."""
        with understood(access.about.name, "a webhook"):
            form = dict(parse_qsl(hook.body.decode(), strict_parsing=True, max_num_fields=1_000))
        email = form.get("data[new_email]") or form.get("data[email]")
        changes = await self.ask(access, email, form.get("data[old_email]", "")) if email else []
        kind = ChangeKind.COMPLAINED if form.get("data[reason]") == "abuse" else None
        return [each.gone_by(kind) for each in changes]

    def remote(self, access: PlatformAccess, member: _Member) -> Remote:
        return Remote(
            id=member.contact_id,
            email=member.email_address,
            kind=_STATES.get(member.status),
            name=member.full_name or None,
            code=self.code_in(access, member.merge_fields),
            fields=self.fields_in(access, member.merge_fields),
            created_ms=time_ms(member.timestamp_opt),
        )


def _member(key: str) -> str:
    """Mailchimp accepts the contact's ID or the hash of the address."""
    if "@" in key:
        key = hashlib.md5(key.lower().encode(), usedforsecurity=False).hexdigest()
    return f"{LIST}/members/{quoted(key)}?skip_merge_validation=true"
