"""A platform as the rest of Honeyguide sees it: whatever its module stumbles over is an
`Unexpected` with a sentence, and what it returns can be stored and used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from honeyguide.integrations.about import About, SyncField
from honeyguide.integrations.platform import (
    Audience,
    Contact,
    Platform,
    PlatformAccess,
    WriteOutcome,
    WriteResult,
)
from honeyguide.integrations.problems import ForgedHook, Unexpected, understood
from honeyguide.integrations.reports import ChangePage, FoundValues, IncomingHook, PlatformChange
from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid

# No platform's IDs are nearly as long.
LONGEST_ID = 500
LONGEST_TOKEN = 4_000
LONGEST_TEXT = 1_000
# The end of the year 9999, the last one that can be written as a date.
LAST_MS = 253_402_300_799_999


class CheckedPlatform:
    """Wraps a module. The modules themselves need not expect everything that may be sent."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    @property
    def about(self) -> About:
        return self._platform.about

    async def check(self, access: PlatformAccess) -> str:
        with understood(self.about.name):
            return _text(await self._platform.check(access))

    async def audiences(self, access: PlatformAccess) -> list[Audience]:
        with understood(self.about.name):
            found = await self._platform.audiences(access)
            return [_audience(each) for each in found if _is_id(each.id)]

    async def has_fields(self, access: PlatformAccess) -> bool:
        with understood(self.about.name):
            return await self._platform.has_fields(access)

    async def ensure_fields(self, access: PlatformAccess) -> int:
        with understood(self.about.name):
            return await self._platform.ensure_fields(access)

    async def write_many(
        self, access: PlatformAccess, contacts: Sequence[Contact]
    ) -> list[WriteOutcome]:
        with understood(self.about.name):
            outcomes = await self._platform.write_many(access, contacts)
        return [_outcome(self.about, each) for each in outcomes]

    async def read_changes(
        self, access: PlatformAccess, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        with understood(self.about.name):
            page = await self._platform.read_changes(access, since_ms=since_ms, token=token)
        following = page.next_token
        if following is not None and (following == token or not _is_id(following, LONGEST_TOKEN)):
            raise Unexpected(f"{self.about.name} did not say how to read the rest of the list.")
        return ChangePage(
            changes=_changes(page.changes),
            seen=[each for each in page.seen if _is_id(each)],
            next_token=following,
            found=[
                FoundValues(each.email, _fields(each.fields))
                for each in page.found
                if _is_id(each.email)
            ],
        )

    async def add_hook(self, access: PlatformAccess, url: str) -> dict[str, str]:
        with understood(self.about.name):
            return await self._platform.add_hook(access, url)

    async def remove_hook(self, access: PlatformAccess) -> None:
        with understood(self.about.name):
            await self._platform.remove_hook(access)

    def verify_hook(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        try:
            with understood(self.about.name, "a webhook"):
                return self._platform.verify_hook(access, hook, now_s=now_s)
        except Unexpected as error:
            raise ForgedHook(error.reason) from None

    async def understand_hook(
        self, access: PlatformAccess, hook: IncomingHook
    ) -> list[PlatformChange]:
        with understood(self.about.name, "a webhook"):
            return _changes(await self._platform.understand_hook(access, hook))


def _is_id(text: str, limit: int = LONGEST_ID) -> bool:
    try:
        checks.text(text, param="id", limit=limit, blank_ok=False)
    except Invalid:
        return False
    return True


def _text(text: str) -> str:
    """As much of it as can be stored and shown."""
    kept = text.replace("\0", "")[:LONGEST_TEXT]
    return kept.encode(errors="replace").decode()


def _audience(found: Audience) -> Audience:
    count = found.subscribers
    return Audience(
        id=found.id,
        name=_text(found.name),
        subscribers=count if count is not None and 0 <= count <= LAST_MS else None,
    )


def _outcome(about: About, outcome: WriteOutcome) -> WriteOutcome:
    if outcome.remote_id is not None and not _is_id(outcome.remote_id):
        reason = f"{about.name} sent an ID that we cannot store."
        return WriteOutcome(
            subscriber_id=outcome.subscriber_id, result=WriteResult.LATER, reason=reason
        )
    return msgspec.structs.replace(outcome, reason=_text(outcome.reason))


def _changes(reported: Sequence[PlatformChange]) -> list[PlatformChange]:
    """Those about somebody. One contact without a usable address or ID costs nobody else."""
    return [_change(each) for each in reported if all(map(_is_id, _names(each)))]


def _names(change: PlatformChange) -> list[str]:
    return [each for each in (change.email, change.old_email, change.remote_id) if each]


def _change(change: PlatformChange) -> PlatformChange:
    created_ms = change.created_ms
    return msgspec.structs.replace(
        change,
        name=_text(change.name) if change.name else None,
        code=_text(change.code) if change.code else None,
        fields=_fields(change.fields),
        created_ms=created_ms if created_ms is not None and 0 <= created_ms <= LAST_MS else None,
    )


def _fields(found: Mapping[SyncField, str]) -> dict[SyncField, str]:
    return {field: _text(text) for field, text in found.items()}
