"""What a referral can be, and how strictly the owner wants them looked at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from honeyguide.kernel.errors import Invalid

LONGEST_HOLD_DAYS = 30


class Status(StrEnum):
    VERIFIED = "verified"
    PENDING = "pending"
    REJECTED = "rejected"


class Level(StrEnum):
    """What happens to a suspicious referral. Certain fraud (an own address, a loop) is rejected at
    every level."""

    FLEXIBLE = "flexible"  # it counts
    STRONG = "strong"  # it waits, and a person may look
    STRICT = "strict"  # it is rejected


LEVELS: frozenset[str] = frozenset(Level)


@dataclass(frozen=True, slots=True)
class ScreeningPolicy:
    """What the operator chose for the campaign."""

    level: str = Level.FLEXIBLE
    hold_days: int = 0
    needs_confirmation: bool = False

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise Invalid("Screening must be flexible, strong or strict.", param="level")
        if not 0 <= self.hold_days <= LONGEST_HOLD_DAYS:
            raise Invalid(
                "{field} must be 0 to {most} days.", param="hold_days", most=LONGEST_HOLD_DAYS
            )


def toward_rewards(verified: int, adjustments: int) -> int:
    """What an advocate has toward rewards."""
    return max(0, verified + adjustments)
