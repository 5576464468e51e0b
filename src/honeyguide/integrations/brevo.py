"""Brevo: attributes of the contacts on a list.

Brevo answers a write without a word about the contact, and changing the address of somebody who
left subscribes them again. So every contact is read before it is written. `emailBlacklisted` means
that they unsubscribed, complained or bounced; a list keeps who left only that list.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from honeyguide.integrations.answers import (
    MOST_PAGES,
    answer_of,
    first_lists,
    outcome,
    refused,
    time_ms,
    write_in_turn,
    written,
)
from honeyguide.integrations.hook_keys import HOOK_KEY, check_key, keyed_url, new_key
from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import (
    MOST_AUDIENCES,
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

T = TypeVar("T")

KEY = "api_key"
HOOK_ID = "hook_id"
PER_PAGE = 500
LISTS_PER_PAGE = 50
# Not `contactUpdated`, which reports our own writes.
EVENTS = ("listAddition", "unsubscribed", "spam", "hardBounce", "contactDeleted")


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

    code: str = ""
    message: str = ""


class _BrevoEvent(msgspec.Struct):
    event: str = ""
    email: str | list[str] = ""


class Brevo:
    about = About(
        key="brevo",
        name="Brevo",
        initials="Br",
        summary="Writes to contact attributes. Reports changes at once.",
        audience="list",
        inputs=(
            Input(
                name=KEY,
                label="API key",
                help="In Brevo: your account menu, Settings, SMTP & API, API keys.",
                example="xkeysib-0123456789abcdef-Ab1Cd2Ef3",
            ),
        ),
        limits=Limits(per_batch=50, requests_per_second=9, requests_per_batch=101),
        hooks=Hooks.AUTOMATIC,
        poll_every_s=3600,
        field_pattern=r"[A-Z][A-Z0-9_]{0,49}",
        field_rule="capital letters, digits and underscores, at most 50, beginning with a letter",
    )

    def __init__(self, base: str = "https://api.brevo.com/v3") -> None:
        self._base = base

    async def check(self, access: PlatformAccess) -> str:
        return answer_of(await self._call(access, "GET", "/account"), _BrevoAccount).company_name

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        found: list[_BrevoList] = []
        for _ in range(MOST_PAGES):
            asked = urlencode({"limit": LISTS_PER_PAGE, "offset": len(found)})
            reply = await self._call(access, "GET", f"/contacts/lists?{asked}")
            page = answer_of(reply, _BrevoLists)
            found += first_lists(reply, page.lists, _BrevoList)
            if not page.lists or len(found) >= min(page.count, MOST_AUDIENCES + 1):
                break
        return [
            Audience(id=str(each.id), name=each.name, subscribers=each.unique_subscribers)
            for each in found
        ]

    async def ensure_fields(self, access: PlatformAccess) -> int:
        missing = await self._missing_fields(access)
        for name in missing:
            path = f"/contacts/attributes/normal/{quote(name, safe='')}"
            made = await self._call(access, "POST", path, json={"type": "text"})
            if not made.is_ok:
                raise Unexpected(f"Brevo refused to create the contact attribute {name}.")
        return len(missing)

    async def _missing_fields(self, access: PlatformAccess) -> list[str]:
        reply = await self._call(access, "GET", "/contacts/attributes")
        there = {each.name for each in answer_of(reply, _BrevoAttributes).attributes}
        return [name for name in access.field_names.values() if name not in there]

    async def write_many(
        self, access: PlatformAccess, contacts: Sequence[Contact]
    ) -> list[WriteOutcome]:
        if await self._missing_fields(access):
            raise FieldsGone("A contact attribute of ours was deleted in Brevo.")
        return await write_in_turn(access, contacts, lambda contact: self._write(access, contact))

    async def _write(self, access: PlatformAccess, contact: Contact) -> WriteOutcome:
        is_here = contact.status == ContactStatus.ACTIVE
        may_add = is_here and contact.may_add and not contact.remote_id and not contact.old_email
        found = await self._find(access, contact)
        if found is None:
            if may_add:
                return await self._add(access, contact)
            return outcome(contact, WriteResult.ABSENT)
        remote_id = str(found.id)
        if is_here and _has_left(access, found) and not contact.may_return:
            return outcome(contact, WriteResult.LEFT, remote_id=remote_id)
        attributes: dict[str, str] = contact.fields(access)
        body: dict[str, Any] = {"attributes": attributes}
        if contact.status != ContactStatus.ERASED and not _is_on_list(access, found):
            if not may_add:  # a contact for other purposes, or one taken off the list
                await self._need_list(access)
                return outcome(contact, WriteResult.ABSENT)
            body["listIds"] = [int(access.audience_id)]
        elif contact.status == ContactStatus.UNSUBSCRIBED:
            body["emailBlacklisted"] = True
        elif contact.may_return:
            body["emailBlacklisted"] = False
        if is_here and contact.old_email and found.email != contact.email:
            attributes["EMAIL"] = contact.email
        path = f"/contacts/{found.id}?identifierType=contact_id"
        reply = await self._call(access, "PUT", path, json=body)
        if reply.status == 404:
            return outcome(contact, WriteResult.ABSENT)
        if not reply.is_ok:
            return _refused(contact, reply)
        return written(contact, remote_id)

    async def _need_list(self, access: PlatformAccess) -> None:
        """Nobody was taken off the list if it was deleted."""
        path = f"/contacts/lists/{quote(access.audience_id, safe='')}"
        _of_list(await self._call(access, "GET", path), dict)

    async def _add(self, access: PlatformAccess, contact: Contact) -> WriteOutcome:
        """Without `updateEnabled`: somebody who came since we looked is not written to unseen."""
        body = {
            "email": contact.email,
            "attributes": contact.fields(access),
            "listIds": [int(access.audience_id)],
            "updateEnabled": False,
        }
        reply = await self._call(access, "POST", "/contacts", json=body)
        if not reply.is_ok:
            return _refused(contact, reply)
        return written(contact, str(reply.decode(_BrevoMade).id))

    async def _find(self, access: PlatformAccess, contact: Contact) -> _BrevoContact | None:
        if contact.remote_id:
            return await self._get(access, contact.remote_id, "contact_id")
        email = contact.old_email or contact.email
        return await self._get(access, email, "email_id") if email else None

    async def _get(self, access: PlatformAccess, key: str, kind: str) -> _BrevoContact | None:
        path = f"/contacts/{quote(key, safe='')}?identifierType={kind}"
        reply = await self._call(access, "GET", path)
        return None if reply.status == 404 else answer_of(reply, _BrevoContact)

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        """Oldest first, so that nobody is missed when somebody joins meanwhile."""
        offset = int(token or 0)
        asked: dict[str, Any] = {"limit": PER_PAGE, "offset": offset, "sort": "asc"}
        if since_ms is not None:
            since = datetime.fromtimestamp(since_ms / 1000, UTC)
            asked["modifiedSince"] = since.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        path = f"/contacts/lists/{quote(access.audience_id, safe='')}/contacts?{urlencode(asked)}"
        page = _of_list(await self._call(access, "GET", path), _BrevoContacts)
        following = offset + len(page.contacts)
        is_last = not page.contacts or following >= page.count
        found = [_change(access, each) for each in page.contacts]
        return ChangePage(
            changes=[change for change in found if change],
            seen=[str(each.id) for each in page.contacts],
            next_token=None if is_last else str(following),
        )

    async def add_hook(self, access: PlatformAccess, url: str) -> dict[str, str]:
        """Brevo does not sign, so the URL has a secret."""
        key = new_key()
        body = {
            "url": keyed_url(url, key),
            "description": "Honeyguide",
            "type": "marketing",
            "events": list(EVENTS),
        }
        reply = await self._call(access, "POST", "/webhooks", json=body)
        if not reply.is_ok:
            raise Unexpected(
                "Brevo does not accept our URL for webhooks. Changes are read once an hour."
            )
        return {HOOK_ID: str(answer_of(reply, _BrevoMade).id), HOOK_KEY: key}

    async def remove_hook(self, access: PlatformAccess) -> None:
        if hook_id := access.credentials.get(HOOK_ID):
            await self._call(access, "DELETE", f"/webhooks/{quote(hook_id, safe='')}")

    def verify_hook(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        check_key(access, hook)
        return ""

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        """Only the address is believed, and that it bounced; the rest is asked."""
        said = hook.decode(access.about.name, _BrevoEvent)
        is_bounce = said.event.replace("_", "").lower() == "hardbounce"
        emails = [said.email] if isinstance(said.email, str) else said.email
        changes: list[PlatformChange] = []
        for email in filter(None, emails):
            found = await self._get(access, email, "email_id")
            if found is None:
                changes.append(PlatformChange(kind=ChangeKind.DELETED, email=email))
            elif change := _change(access, found, is_bounce=is_bounce):
                changes.append(change)
        return changes

    async def _call(
        self, access: PlatformAccess, method: str, path: str, json: Any = None
    ) -> PlatformReply:
        headers = {"api-key": access.credentials[KEY].strip()}
        reply = await access.http.call(method, self._base + path, headers=headers, json=json)
        if reply.status == 403:
            raise WrongCredentials(
                "The Brevo key lacks a permission, or its account is not active."
            )
        if reply.status == 425:
            raise TryLater("Brevo is still busy with this contact.")
        return reply


def _of_list(reply: PlatformReply, kind: type[T]) -> T:
    if reply.status == 404:
        raise AudienceGone("The list was deleted in Brevo.")
    return answer_of(reply, kind)


def _refused(contact: Contact, reply: PlatformReply) -> WriteOutcome:
    problem = reply.details(_BrevoProblem)
    if "list id" in problem.message.lower():
        raise AudienceGone("The list was deleted in Brevo.")
    is_taken = "already" in problem.message
    if is_taken and not contact.old_email:
        return outcome(contact, WriteResult.LATER, reason="They are being added in Brevo just now.")
    reason = "Brevo does not accept this address."
    if is_taken:
        reason = "Another contact in Brevo already has the new address."
    return refused(contact, reply, reason)


def _is_on_list(access: PlatformAccess, found: _BrevoContact) -> bool:
    return access.audience_id in map(str, found.list_ids)


def _has_left(access: PlatformAccess, found: _BrevoContact) -> bool:
    left = found.list_unsubscribed or []
    return found.email_blacklisted or access.audience_id in map(str, left)


def _change(
    access: PlatformAccess, found: _BrevoContact, *, is_bounce: bool = False
) -> PlatformChange | None:
    if _has_left(access, found):
        kind = ChangeKind.BOUNCED if is_bounce else ChangeKind.LEFT
    elif _is_on_list(access, found):
        kind = ChangeKind.JOINED
    else:
        return None
    if not found.email:  # a contact with a telephone number only
        return None
    code = found.attributes.get(access.code_field) if access.code_field else None
    return PlatformChange(
        kind=kind,
        email=found.email,
        remote_id=str(found.id),
        name=str(found.attributes.get("FIRSTNAME") or "") or None,
        code=str(code) if code else None,
        created_ms=time_ms(found.created_at),
    )
