"""Brevo: attributes of the contacts on a list.

Brevo answers a write without a word about the contact, and changing the address of somebody who
left subscribes them again. So every contact is read before it is written. `emailBlacklisted` means
that they unsubscribed, complained or bounced; a list keeps who left only that list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import urlencode

import msgspec

from honeyguide.integrations import policy
from honeyguide.integrations.about import About, Limits, key_input
from honeyguide.integrations.answers import MOST_PAGES, answer_of, first_lists, time_ms, time_of
from honeyguide.integrations.connector import Connector, ContactWrite, FieldKind, NotWritten
from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import (
    MOST_AUDIENCES,
    Audience,
    Contact,
    PlatformAccess,
    WriteResult,
)
from honeyguide.integrations.platform_api import KeyHeader, PlatformApi, quoted
from honeyguide.integrations.platform_hooks import PlatformWebhook, UrlKey
from honeyguide.integrations.policy import Remote, Update
from honeyguide.integrations.problems import AudienceGone, TryLater
from honeyguide.integrations.reports import ChangeKind, ChangePage, IncomingHook, PlatformChange

PER_PAGE = 500
LISTS_PER_PAGE = 50
LIST = "/contacts/lists/{audience}"
# Not `contactUpdated`, which reports our own writes.
EVENTS = ("listAddition", "unsubscribed", "spam", "hardBounce", "contactDeleted")
# How whoever is blocked there came to be.
_GONE = {"hardbounce": ChangeKind.BOUNCED, "spam": ChangeKind.COMPLAINED}


class _BrevoContact(msgspec.Struct, rename="camel"):
    id: int
    email_blacklisted: bool
    email: str | None = None
    created_at: str = ""
    list_ids: list[int] = []
    list_unsubscribed: list[int] | None = None
    attributes: dict[str, Any] = {}


class _BrevoContacts(msgspec.Struct):
    contacts: list[_BrevoContact]
    count: int


class _BrevoAccount(msgspec.Struct, rename="camel"):
    company_name: str = ""


class _BrevoList(msgspec.Struct, rename="camel"):
    id: int
    name: str
    unique_subscribers: int | None = None


class _BrevoLists(msgspec.Struct):
    lists: list[msgspec.Raw] = []
    count: int = 0


class _BrevoAttribute(msgspec.Struct):
    name: str


class _BrevoAttributes(msgspec.Struct):
    attributes: list[_BrevoAttribute]


class _BrevoMade(msgspec.Struct):
    id: int


class _BrevoProblem(msgspec.Struct):
    """An error as Brevo describes it. `message` may quote an address, so nobody is shown it."""

    message: str = ""


class _BrevoEvent(msgspec.Struct):
    event: str = ""
    email: str | list[str] = ""


class Brevo(Connector):
    about = About(
        key="brevo",
        name="Brevo",
        initials="Br",
        summary="Writes to contact attributes. Reports changes at once.",
        audience="list",
        inputs=(
            key_input(
                "In Brevo: your account menu, Settings, SMTP & API, API keys.",
                "xkeysib-0123456789abcdef-Ab1Cd2Ef3",
            ),
        ),
        limits=Limits(per_batch=50, requests_per_second=9, requests_per_batch=101),
        field_pattern=r"[A-Z][A-Z0-9_]{0,49}",
        field_rule="capital letters, digits and underscores, at most 50, beginning with a letter",
    )
    api = PlatformApi(
        base="https://api.brevo.com/v3",
        auth=KeyHeader("api-key"),
        forbidden="The Brevo key lacks a permission, or its account is not active.",
        own_statuses=(425,),
    )
    contact_type = _BrevoContact
    field_kind = FieldKind(name="contact attribute", drops_unknown=True)
    webhook = PlatformWebhook(
        path="/webhooks",
        content={"description": "Honeyguide", "type": "marketing", "events": EVENTS},
        proof=UrlKey(),
    )

    async def check(self, access: PlatformAccess) -> str:
        return answer_of(await self.call(access, "GET", "/account"), _BrevoAccount).company_name

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        found: list[_BrevoList] = []
        for _ in range(MOST_PAGES):
            asked = urlencode({"limit": LISTS_PER_PAGE, "offset": len(found)})
            reply = await self.call(access, "GET", f"/contacts/lists?{asked}")
            page = answer_of(reply, _BrevoLists)
            found += first_lists(reply, page.lists, _BrevoList)
            if not page.lists or len(found) >= min(page.count, MOST_AUDIENCES + 1):
                break
        return [
            Audience(id=str(each.id), name=each.name, subscribers=each.unique_subscribers)
            for each in found
        ]

    async def fields_there(self, access: PlatformAccess) -> Mapping[str, str]:
        reply = await self.call(access, "GET", "/contacts/attributes")
        return {each.name: each.name for each in answer_of(reply, _BrevoAttributes).attributes}

    async def create_field(self, access: PlatformAccess, name: str) -> PlatformReply:
        path = f"/contacts/attributes/normal/{quoted(name)}"
        return await self.call(access, "POST", path, {"type": "text"})

    async def need_audience(self, access: PlatformAccess) -> None:
        self.in_audience(await self.call(access, "GET", LIST), dict)

    async def look_up(self, access: PlatformAccess, key: str) -> Remote | None:
        kind = "email_id" if "@" in key else "contact_id"
        path = f"/contacts/{quoted(key)}?identifierType={kind}"
        return self.found(access, await self.call(access, "GET", path))

    async def add(self, write: ContactWrite) -> Remote | None:
        """Without `updateEnabled`: somebody who came since we looked is not written to unseen."""
        email = write.contact.email
        body = {
            "email": email,
            "attributes": write.fields,
            "listIds": [int(write.access.audience_id)],
            "updateEnabled": False,
        }
        reply = await self.call(write.access, "POST", "/contacts", body)
        if not reply.is_ok:
            self.refuse(write.contact, reply)
        made = reply.decode(_BrevoMade)
        return Remote(id=str(made.id), email=email, kind=ChangeKind.JOINED)

    async def update(self, write: ContactWrite, remote: Remote, change: Update) -> Remote | None:
        email = {"EMAIL": change.email} if change.email else {}
        body: dict[str, Any] = {"attributes": {**write.fields, **email}}
        if change.joins_list:
            body["listIds"] = [int(write.access.audience_id)]
        if change.unsubscribes or change.returns:
            body["emailBlacklisted"] = change.unsubscribes
        path = f"/contacts/{remote.id}?identifierType=contact_id"
        reply = await self.call(write.access, "PUT", path, body)
        if reply.status == 404:
            return None
        if not reply.is_ok:
            self.refuse(write.contact, reply)
        return policy.as_asked(remote, change)

    def refuse(self, contact: Contact, reply: PlatformReply, reason: str = "") -> NoReturn:
        message = reply.details(_BrevoProblem).message
        if "list id" in message.lower():
            raise AudienceGone("The list was deleted in Brevo.")
        if "already" in message:
            if not contact.old_email:
                raise NotWritten(WriteResult.LATER, "They are being added in Brevo just now.")
            reason = "Another contact in Brevo already has the new address."
        super().refuse(contact, reply, reason)

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        """Oldest first, so that nobody is missed when somebody joins meanwhile."""
        offset = int(token or 0)
        asked: dict[str, Any] = {"limit": PER_PAGE, "offset": offset, "sort": "asc"}
        if since_ms is not None:
            asked["modifiedSince"] = f"{time_of(since_ms):%Y-%m-%dT%H:%M:%S.000Z}"
        path = f"{LIST}/contacts?{urlencode(asked)}"
        page = self.in_audience(await self.call(access, "GET", path), _BrevoContacts)
        following = offset + len(page.contacts)
        is_last = not page.contacts or following >= page.count
        return self.page(access, page.contacts, None if is_last else str(following))

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        """Only the address is believed, and that it bounced or complained; the rest is asked."""
        event = hook.decode(access.about.name, _BrevoEvent)
        kind = _GONE.get(event.event.replace("_", "").lower())
        emails = [event.email] if isinstance(event.email, str) else event.email
        changes: list[PlatformChange] = []
        for email in filter(None, emails):
            changes += await self.ask(access, email)
        return [each.gone_by(kind) for each in changes]

    def judge(self, reply: PlatformReply) -> None:
        raise TryLater("Brevo is still busy with this contact.")

    def remote(self, access: PlatformAccess, found: _BrevoContact) -> Remote:
        """A contact with a telephone number only has no address. Those who left the list are no
        longer on it; those whom we unsubscribed still are, and only they can return."""
        left_lists = map(str, found.list_unsubscribed or [])
        has_left = found.email_blacklisted or access.audience_id in left_lists
        is_on_list = access.audience_id in map(str, found.list_ids)
        kind = ChangeKind.JOINED if is_on_list else None
        return Remote(
            id=str(found.id),
            email=found.email or "",
            kind=ChangeKind.LEFT if has_left else kind,
            is_on_list=is_on_list,
            can_return=is_on_list,
            name=str(found.attributes.get("FIRSTNAME") or "") or None,
            code=self.code_in(access, found.attributes),
            fields=self.fields_in(access, found.attributes),
            created_ms=time_ms(found.created_at),
        )
