"""The one interface between Honeyguide and an email platform.

A platform is one small module here, such as `buttondown.py`, with one class, and one line in
`platforms.py`. Most are a `Connector`, which has all that platforms share; a tool without a list,
such as `generic.py`, just fits `Platform`. The module knows the platform's API and nothing else: no
database, no schedule. The worker decides what to call and when, and keeps the pace that `Limits`
states. What a module must know:

*   **Requests** go through `access.http.call(method, url, ...)`, which is guarded against private
    addresses, keeps the pace and raises `TryLater` for 429, 5xx, timeouts and lost connections, and
    `WrongCredentials` for 401. Every other status is returned for the module to judge. A module
    that knows better, such as that a 403 is overload, passes `returned={403}` and raises itself.
*   **Errors** are `PlatformError`s. Their text is one sentence for the operator, without secrets
    and without email addresses.
*   **`write_many`** gets at most `limits.per_batch` contacts and returns one `WriteOutcome` for
    each, in any order. `policy.py` says what becomes of each: in short, it updates our fields and
    the address, adds people only if `contact.may_add`, and never makes somebody active who left
    there. It never deletes a contact. Writing a contact twice must be harmless.
*   **`read_changes`** reads one page of the contacts that changed since a time, or of all. It may
    return more than was asked for; each change is applied once, and repeating one is harmless.
    A whole list must show everybody: we write to those who are missing, and if `write_many` finds
    them `ABSENT` too, they were deleted there.
*   **Incoming webhooks** are verified when they come (`verify_hook`: fast, no requests) and stored.
    Later `understand_hook` turns them into changes, and may ask the platform again.

Test each module with a strict stand-in (`tests/support/platforms/`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from honeyguide.integrations.about import About, SyncField
from honeyguide.integrations.http import PlatformHttp
from honeyguide.integrations.reports import ChangeKind, ChangePage, IncomingHook, PlatformChange

# Nobody finds a list among more, and a page of them stops the event loop.
MOST_AUDIENCES = 500


class PlatformAccess(msgspec.Struct, frozen=True, kw_only=True):
    """One integration as a module sees it."""

    about: About
    http: PlatformHttp
    credentials: Mapping[str, str]
    """By the names of `inputs`, and whatever `add_hook` returned."""
    audience_id: str = ""
    field_names: Mapping[SyncField, str] = msgspec.field(default_factory=dict)
    """Only the fields that the operator wants."""
    code_field: str = ""
    """The platform's field in which its signup form keeps a referral code; "" if none."""
    reads_fields: bool = False
    """Whether to report what contacts have in our fields, because another tool may have written
    it."""

    def __repr__(self) -> str:
        return f"PlatformAccess({self.about.key})"  # no key in a log


class Audience(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    subscribers: int | None = None


class ContactStatus(StrEnum):
    ACTIVE = "active"
    UNSUBSCRIBED = "unsubscribed"
    ERASED = "erased"  # empty our fields there; `email` is empty too, only `remote_id` is known


class Contact(msgspec.Struct, frozen=True, kw_only=True):
    """A subscriber as the platform should know them."""

    subscriber_id: str
    email: str
    name: str | None
    status: ContactStatus
    may_add: bool
    """Whether they may be added if the platform does not know them: they signed up here, and never
    left."""
    remote_id: str | None
    """The platform's ID, if an `WriteOutcome` or a change told it."""
    old_email: str | None = None
    """The address that was written before, if it is another one."""
    may_return: bool = False
    """Whether we ourselves took them off the list, because they had not confirmed, and they have
    now. Only then somebody who is unsubscribed there is made active again, where the API can."""
    values: Mapping[SyncField, str]
    kept: frozenset[SyncField] = frozenset()
    """Fields that stay as another tool wrote them."""

    @property
    def key_there(self) -> str:
        """By what to look for them: their ID, else the address that was written last."""
        return self.remote_id or self.old_email or self.email

    def fields(self, access: PlatformAccess) -> dict[str, str]:
        """The values to write, by the names that the operator chose."""
        return self.named(access.field_names)

    def named(self, names: Mapping[SyncField, str]) -> dict[str, str]:
        written = {field: name for field, name in names.items() if field not in self.kept}
        return {name: self.values.get(field, "") for field, name in written.items()}


class WriteResult(StrEnum):
    WRITTEN = "written"
    REFUSED = "refused"  # this subscriber cannot be written; `reason` says why
    LATER = "later"  # this one failed in a way that passes; the others are done
    LEFT = "left"  # they left, bounced or were deleted there: they become unsubscribed here
    ABSENT = "absent"  # the platform does not know them, and we may not add them


class WriteOutcome(msgspec.Struct, frozen=True, kw_only=True):
    subscriber_id: str
    result: WriteResult
    remote_id: str | None = None
    reason: str = ""
    """One sentence for the operator, without the address."""
    gone: ChangeKind | None = None
    """How, if they left and the platform says it."""


class Platform(Protocol):
    @property
    def about(self) -> About: ...

    async def check(self, access: PlatformAccess) -> str:
        """Try the credentials; returns the name of the account there, or ""."""
        ...

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        """What the operator can choose from. One that is alone is chosen without asking. If there
        are more than `MOST_AUDIENCES`, one more is enough (`first_lists`)."""
        ...

    async def has_fields(self, access: PlatformAccess) -> bool:
        """Whether a field of `access.field_names` exists already, so that somebody else may have
        filled it. Also if the platform cannot tell."""
        ...

    async def ensure_fields(self, access: PlatformAccess) -> int:
        """Create the fields of `access.field_names` that do not exist; returns how many."""
        ...

    async def write_many(
        self, access: PlatformAccess, contacts: Sequence[Contact]
    ) -> list[WriteOutcome]: ...

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        """A page of contacts that changed since then; of all contacts if `since_ms` is None."""
        ...

    async def add_hook(self, access: PlatformAccess, url: str) -> dict[str, str]:
        """Create the webhook there. Returns what to keep with the credentials: its ID, its
        secret."""
        ...

    async def remove_hook(self, access: PlatformAccess) -> None:
        """Delete the webhook that `add_hook` created. It may be gone already."""
        ...

    def verify_hook(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        """Raise `ForgedHook` if this did not come from the platform, or is too old. Returns the
        signed time, which tells a repeated webhook from one that says the same later; "" if the
        platform signs no time."""
        ...

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        """Raise `Unexpected` if it makes no sense. One that is not about subscribers is an empty
        list."""
        ...
