"""What a platform tells us about its contacts, by webhook or when it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

import msgspec

from honeyguide.integrations.about import SyncField
from honeyguide.integrations.problems import understood

T = TypeVar("T")


class ChangeKind(StrEnum):
    JOINED = "joined"  # is on the list, new or not
    CONFIRMED = "confirmed"  # confirmed their address there
    ENGAGED = "engaged"  # did what no mail scanner does, such as a reply or a purchase
    LEFT = "left"
    CHANGED_ADDRESS = "changed_address"  # from `old_email`, or whoever has `remote_id`
    BOUNCED = "bounced"
    COMPLAINED = "complained"  # reported an email as spam
    DELETED = "deleted"


class PlatformChange(msgspec.Struct, frozen=True, kw_only=True):
    """What the platform says about one contact. `email` may be empty if `remote_id` is known."""

    kind: ChangeKind
    email: str
    remote_id: str | None = None
    old_email: str | None = None
    name: str | None = None
    code: str | None = None
    """What the field `access.code_field` says: whose link brought them."""
    created_ms: int | None = None
    """When they joined there, if it says so."""
    fields: Mapping[SyncField, str] = msgspec.field(default_factory=dict)
    """What they have in our fields, if `access.reads_fields`."""

    def gone_by(self, kind: ChangeKind | None) -> PlatformChange:
        """With what a webhook says of how they left, if they did."""
        is_told = kind is not None and self.kind == ChangeKind.LEFT
        return msgspec.structs.replace(self, kind=kind) if is_told else self


class FoundValues(msgspec.Struct, frozen=True):
    """What a contact has in our fields."""

    email: str
    fields: Mapping[SyncField, str]


class ChangePage(msgspec.Struct, frozen=True, kw_only=True):
    changes: Sequence[PlatformChange]
    seen: Sequence[str]
    """The IDs of everybody on the page, also of those about whom there is nothing to say."""
    next_token: str | None
    """What to pass for the next page; None after the last one."""
    found: Sequence[FoundValues] = ()
    """Everybody on the page, also those about whom there is nothing to say, if
    `access.reads_fields`."""


class IncomingHook(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook as it came. Header names are in lower case."""

    headers: Mapping[str, str]
    body: bytes
    query: Mapping[str, str] = msgspec.field(default_factory=dict)

    def decode(self, platform: str, type_: type[T]) -> T:
        """The body as this struct. Fields that the struct does not name are ignored."""
        with understood(platform, "a webhook"):
            return msgspec.json.decode(self.body, type=type_)
