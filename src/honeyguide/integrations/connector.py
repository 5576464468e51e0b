"""What all platforms share that have a list of contacts: how a contact is written, and how fields
and webhooks are made. `policy.decide` decides what becomes of a contact; a module says only what
its API is called.

Its class has `about` and `api`; `contact_type`, what an answer about one contact looks like, and
`remote`, what that means; and the methods `check`, `audiences`, `look_up`, `add`, `update` and
`read_changes`. If fields must exist before they are written, also `field_kind`, `fields_there` and
`create_field`; if the platform has webhooks, `webhook` and `understand_hook`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import msgspec

from honeyguide.integrations import policy
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.answers import NewHook, answer_of, unwrapped
from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import Contact, PlatformAccess, WriteOutcome, WriteResult
from honeyguide.integrations.platform_api import ApiClient, quoted
from honeyguide.integrations.platform_hooks import HOOK_ID, HOOK_SECRET, PlatformWebhook
from honeyguide.integrations.policy import Add, Remote, Update
from honeyguide.integrations.problems import FieldsGone, ForgedHook, PlatformError, Unexpected
from honeyguide.integrations.reports import (
    ChangeKind,
    ChangePage,
    FoundValues,
    IncomingHook,
    PlatformChange,
)
from honeyguide.integrations.write_order import outcome, write_at_once, write_in_turn

# About the contact that was sent. Another status is about us.
REFUSALS = (400, 409, 422)


class NotWritten(PlatformError):
    """This contact could not be written; the others can."""

    def __init__(
        self, result: WriteResult, reason: str = "", *, remote_id: str | None = None
    ) -> None:
        super().__init__(reason)
        self.result = result
        self.remote_id = remote_id


class ContactWrite(msgspec.Struct, frozen=True):
    """One contact to write, with our fields as the platform calls them."""

    access: PlatformAccess
    contact: Contact
    fields: Mapping[str, str]


class FieldKind(msgspec.Struct, frozen=True, kw_only=True):
    """Fields that must exist before a value is written."""

    name: str
    """What a field is called there, such as `merge field`."""
    advice: str = ""
    """What helps if the platform refuses to create one."""
    drops_unknown: bool = False
    """Whether it drops values of fields that do not exist without a word. Then each batch looks
    at the fields first."""


class Connector(ApiClient, ABC):
    contact_type: Any
    """The struct of an answer about one contact, which may be wrapped in `Data`."""
    at_once: int = 1
    """How many contacts are written at the same time."""
    field_kind: FieldKind | None = None
    webhook: PlatformWebhook | None = None

    # -- what a module says

    @abstractmethod
    def remote(self, access: PlatformAccess, found: Any) -> Remote:
        """What the platform's own struct says about a contact."""

    @abstractmethod
    async def look_up(self, access: PlatformAccess, key: str) -> Remote | None:
        """Somebody by ID or address; None if the platform does not know them."""

    async def find(self, access: PlatformAccess, contact: Contact) -> Remote | None:
        """The contact there. A module may answer without a request: `policy.unseen` if an update
        keeps the state of whoever it finds, and None for those who `policy.may_be_added` if adding
        somebody who is there keeps their state."""
        key = contact.key_there
        return await self.look_up(access, key) if key else None

    @abstractmethod
    async def add(self, write: ContactWrite) -> Remote | None:
        """Add them; None if the platform says that there is no such list."""

    @abstractmethod
    async def update(self, write: ContactWrite, remote: Remote, change: Update) -> Remote | None:
        """Write our fields and `change`; None if the platform does not know them."""

    def refuse(self, contact: Contact, reply: PlatformReply, reason: str = "") -> NoReturn:
        """The platform does not take this contact. A module that knows more raises `NotWritten`
        itself, or passes the reason on."""
        if reply.status not in REFUSALS:
            raise Unexpected(f"{reply.platform} answered with status {reply.status}.")
        reason = reason or f"{self.about.name} does not accept this address."
        raise NotWritten(WriteResult.REFUSED, reason)

    async def need_audience(self, access: PlatformAccess) -> None:
        """Raise `AudienceGone` if the list was deleted. Asked before somebody who was there counts
        as absent: nobody was deleted if the whole list was."""

    def field_key(self, name: str) -> str:
        """By what `fields_there` knows a field."""
        return name.lower() if self.about.is_lower_case else name

    async def fields_there(self, access: PlatformAccess) -> Mapping[str, str]:
        """The names to write values under, by `field_key`."""
        raise NotImplementedError

    async def create_field(self, access: PlatformAccess, name: str) -> PlatformReply:
        raise NotImplementedError

    # -- reading

    def found(self, access: PlatformAccess, reply: PlatformReply) -> Remote | None:
        """The contact that an answer is about; None if it says that there is nobody."""
        if reply.status in self.api.unknown:
            return None
        return self.remote(access, unwrapped(answer_of(reply, self.contact_type)))

    def written(self, write: ContactWrite, reply: PlatformReply) -> Remote | None:
        """The contact that the answer to a write is about; None if it says that there is nobody."""
        if reply.status == 404:
            return None
        if not reply.is_ok:
            self.refuse(write.contact, reply)
        return self.remote(write.access, unwrapped(reply.decode(self.contact_type)))

    def code_in(self, access: PlatformAccess, values: Mapping[str, Any]) -> str | None:
        """The referral code in the fields of a contact."""
        name = access.code_field
        code = (values.get(name) or values.get(self.field_key(name))) if name else None
        return str(code) if code else None

    def fields_in(self, access: PlatformAccess, values: Mapping[str, Any]) -> dict[SyncField, str]:
        """What the fields of a contact have of ours, if it may be another tool's."""
        if not access.reads_fields:
            return {}
        found = {}
        for field, name in access.field_names.items():
            value = values.get(name)
            if value is None:
                value = values.get(self.field_key(name))
            if value is not None and value != "":
                found[field] = str(value)
        return found

    def change(self, remote: Remote, old_email: str = "") -> PlatformChange | None:
        """What a contact's state says; None if it says nothing about our list."""
        kind = remote.kind
        if kind is None or not remote.email:
            return None
        if kind == ChangeKind.JOINED and old_email and old_email != remote.email:
            kind = ChangeKind.CHANGED_ADDRESS
        return PlatformChange(
            kind=kind,
            email=remote.email,
            remote_id=remote.id,
            old_email=old_email or None,
            name=remote.name,
            code=remote.code,
            created_ms=remote.created_ms,
            fields=remote.fields,
        )

    def changes(self, remotes: Iterable[Remote]) -> list[PlatformChange]:
        return [change for change in map(self.change, remotes) if change]

    def page(self, access: PlatformAccess, found: Sequence[Any], token: str | None) -> ChangePage:
        remotes = [self.remote(access, each) for each in found]
        seen = [each.id for each in remotes]
        found = [FoundValues(each.email, each.fields) for each in remotes if access.reads_fields]
        return ChangePage(changes=self.changes(remotes), seen=seen, next_token=token, found=found)

    async def ask(
        self, access: PlatformAccess, key: str, old_email: str = ""
    ) -> list[PlatformChange]:
        """What is true now of somebody whom a webhook names by ID or address."""
        remote = await self.look_up(access, key)
        if remote is not None:
            change = self.change(remote, old_email)
            return [change] if change else []
        email, remote_id = (key, None) if "@" in key else ("", key)
        return [PlatformChange(kind=ChangeKind.DELETED, email=email, remote_id=remote_id)]

    # -- writing

    async def write_many(
        self, access: PlatformAccess, contacts: Sequence[Contact]
    ) -> list[WriteOutcome]:
        names = await self._names_there(access)

        async def write(contact: Contact) -> WriteOutcome:
            fields = contact.fields(access)
            values = {names[name]: value for name, value in fields.items()}
            return await self._write(ContactWrite(access, contact, values))

        if self.at_once > 1:
            return await write_at_once(access, contacts, write, at_once=self.at_once)
        return await write_in_turn(access, contacts, write)

    async def _names_there(self, access: PlatformAccess) -> dict[str, str]:
        """What our fields are called there, by the names that the operator chose."""
        keys = {name: self.field_key(name) for name in access.field_names.values()}
        if self.field_kind is None or not self.field_kind.drops_unknown:
            return keys
        there = await self.fields_there(access)
        if any(key not in there for key in keys.values()):
            raise self.fields_gone()
        return {name: there[key] for name, key in keys.items()}

    def fields_gone(self) -> FieldsGone:
        name = self.field_kind.name if self.field_kind else "field"
        return FieldsGone(f"A {name} of ours was deleted in {self.about.name}.")

    async def _write(self, write: ContactWrite) -> WriteOutcome:
        try:
            remote = await self.find(write.access, write.contact)
            if remote is not None and not remote.is_seen:
                return await self._write_unseen(write, remote)
            return await self._write_seen(write, remote)
        except NotWritten as refusal:
            result, remote_id = refusal.result, refusal.remote_id
            return outcome(write.contact, result, remote_id=remote_id, reason=refusal.reason)

    async def _write_unseen(self, write: ContactWrite, remote: Remote) -> WriteOutcome:
        """The answer to the update tells who they are. There may be more to do: add them
        if it found nobody, or let them return."""
        change = policy.decide(write.contact, remote)
        assert isinstance(change, Update)
        seen = await self.update(write, remote, change)
        rest = policy.decide(write.contact, seen)
        if isinstance(rest, Add) or (isinstance(rest, Update) and rest.returns):
            return await self._write_seen(write, seen)
        if seen is None:
            await self.need_audience(write.access)
        return _judged(write.contact, seen)

    async def _write_seen(self, write: ContactWrite, remote: Remote | None) -> WriteOutcome:
        contact, decision = write.contact, policy.decide(write.contact, remote)
        if isinstance(decision, Add):
            added = await self.add(write)
            if added is None:
                await self.need_audience(write.access)
                raise Unexpected(f"{self.about.name} found nothing to add a contact to.")
            return _judged(contact, added)
        if remote is None:
            return outcome(contact, WriteResult.ABSENT)
        if isinstance(decision, Update):
            return _judged(contact, await self.update(write, remote, decision))
        if decision == WriteResult.ABSENT:
            await self.need_audience(write.access)
            return outcome(contact, decision)
        return outcome(contact, decision, remote_id=remote.id, gone=remote.kind)

    # -- fields and webhooks

    async def has_fields(self, access: PlatformAccess) -> bool:
        """Where a field needs no making, nobody knows its name before it is written."""
        if self.field_kind is None:
            return bool(access.field_names)
        there = await self.fields_there(access)
        return any(self.field_key(name) in there for name in access.field_names.values())

    async def ensure_fields(self, access: PlatformAccess) -> int:
        if self.field_kind is None:
            return 0
        there = await self.fields_there(access)
        names = access.field_names.values()
        missing = [name for name in names if self.field_key(name) not in there]
        for name in missing:
            made = await self.create_field(access, name)
            if not made.is_ok:
                refused = f"{self.about.name} refused to create the {self.field_kind.name} {name}."
                raise Unexpected(f"{refused} {self.field_kind.advice}".rstrip())
        return len(missing)

    async def add_hook(self, access: PlatformAccess, url: str) -> dict[str, str]:
        if self.webhook is None:
            return {}
        kept, forbidden = self.webhook.kept(), self.webhook.forbidden
        body = self.webhook.body(url, kept)
        reply = await self.call(access, "POST", self.webhook.path, body, returned=forbidden)
        if not reply.is_ok:
            is_key = reply.status in forbidden
            refused = "this key" if is_key else "our URL"
            raise Unexpected(
                f"{self.about.name} does not accept {refused} for webhooks. {self.webhook.without}"
            )
        made: NewHook = unwrapped(answer_of(reply, self.webhook.answer))
        kept = kept or {HOOK_SECRET: made.secret}
        if not all(kept.values()):
            raise Unexpected(f"{self.about.name} sent no secret for its webhook.")
        return {HOOK_ID: str(made.id), **kept}

    async def remove_hook(self, access: PlatformAccess) -> None:
        hook_id = access.credentials.get(HOOK_ID)
        if self.webhook and hook_id:
            await self.call(access, "DELETE", f"{self.webhook.path}/{quoted(hook_id)}")

    def verify_hook(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        if self.webhook is None:
            raise ForgedHook(f"{self.about.name} has no webhooks.")
        return self.webhook.proof.verify(access, hook, now_s=now_s)

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        return []


def _judged(contact: Contact, remote: Remote | None) -> WriteOutcome:
    if remote is None:
        return outcome(contact, WriteResult.ABSENT)
    result = policy.after(contact, remote)
    return outcome(contact, result, remote_id=remote.id, gone=remote.kind)
