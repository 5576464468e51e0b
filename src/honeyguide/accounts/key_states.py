"""What state an API key is in, and for how long a new one is made. Pure rules."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.errors import Invalid

# From then on an active key counts as one that expires soon, and the operator is notified.
SOON_MS = 7 * DAY_MS
# How long the old key still works once a key was rotated, by the name that forms send.
OVERLAPS: dict[str, tuple[str, int]] = {
    "0": ("At once", 0),
    "1": ("In 1 hour", HOUR_MS),
    "24": ("In 1 day", DAY_MS),
    "168": ("In 7 days", 7 * DAY_MS),
}
USUAL_OVERLAP = "24"
MOST_OVERLAP_MS = max(overlap_ms for _, overlap_ms in OVERLAPS.values())
# A key that lives longer is as good as one that never expires, and surely a mistake.
MOST_DAYS = 3_650


class KeyState(StrEnum):
    ACTIVE = "active"
    EXPIRES_SOON = "expires soon"
    REPLACED = "being replaced"
    EXPIRED = "expired"
    REVOKED = "revoked"

    @property
    def works(self) -> bool:
        return self not in (KeyState.EXPIRED, KeyState.REVOKED)


class Key(NamedTuple):
    """A key as its owner sees it: never the key itself."""

    id: str
    name: str
    prefix: str
    created_ms: int
    last_used_ms: int | None
    revoked_ms: int | None
    scopes: str | None
    """Names with a blank between them; None for all."""
    expires_ms: int | None
    replaced_by: str | None

    def state(self, now_ms: int) -> KeyState:
        if self.revoked_ms is not None:
            return KeyState.REVOKED
        if self.expires_ms is None:
            return KeyState.ACTIVE
        if self.expires_ms <= now_ms:
            return KeyState.EXPIRED
        if self.replaced_by is not None:
            return KeyState.REPLACED
        is_soon = self.expires_ms - now_ms <= SOON_MS
        return KeyState.EXPIRES_SOON if is_soon else KeyState.ACTIVE

    def life_from(self, now_ms: int) -> int | None:
        """When a key expires that takes the place of this one now: it lives as long."""
        return None if self.expires_ms is None else now_ms + self.expires_ms - self.created_ms


def expires_in_days(days: int, now_ms: int) -> int:
    if not 1 <= days <= MOST_DAYS:
        raise Invalid(
            "A key can expire in 1 to {most} days.", param="expires", most=f"{MOST_DAYS:,}"
        )
    return now_ms + days * DAY_MS
