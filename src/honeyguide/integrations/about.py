"""What a platform is: its name, what the operator enters, how fast it may be asked, how it reports
changes, and what its fields may be called.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import ceil

import msgspec

from honeyguide.mail import newsletter_tools


class SyncField(StrEnum):
    """What we write about a subscriber. The operator chooses the names that a platform shows."""

    CODE = "code"
    LINK = "link"
    HUB_LINK = "hub_link"
    REFERRALS = "referrals"
    NEXT_REWARD = "next_reward"
    REFERRALS_MISSING = "referrals_missing"
    LAST_REWARD = "last_reward"
    LAST_REWARD_ID = "last_reward_id"
    COUPON = "coupon"
    IS_REFERRED = "is_referred"
    SUBSCRIBER_ID = "subscriber_id"


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that the operator enters to connect. Secret ones are stored encrypted, as all
    credentials are, and never shown again."""

    name: str
    label: str
    help: str = ""
    example: str = ""
    is_secret: bool = True
    is_optional: bool = False
    is_made: bool = False
    """Whether we make a random one, which the form shows once for the operator to copy."""


KEY = "api_key"
"""What most modules call the credential that the operator enters."""


# What one request takes where no limit is known or the limit is high.
REQUEST_S = 0.3


def key_input(help: str, example: str, label: str = "API key") -> Input:
    return Input(name=KEY, label=label, help=help, example=example)


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a platform takes. Requests are spread evenly over the minute. None: no known limit."""

    requests_per_second: float | None = None
    requests_per_minute: int | None = None
    per_batch: int
    """The most contacts that one `write_many` takes."""
    requests_per_batch: int
    """How many requests it makes for a full batch; for the estimate of a first sync."""

    @property
    def interval_s(self) -> float:
        """The time between two requests."""
        per_second = 1 / self.requests_per_second if self.requests_per_second else 0.0
        return max(per_second, 60 / self.requests_per_minute if self.requests_per_minute else 0.0)


class Hooks(StrEnum):
    """How a platform tells us about changes."""

    AUTOMATIC = "automatic"  # we create the webhook there (`add_hook`)
    MANUAL = "manual"  # the operator enters our URL there
    NONE = "none"  # we only poll


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What pages and the worker need to know about a platform."""

    key: str
    """In URLs and in the database; never changes."""
    name: str
    initials: str
    summary: str
    """One sentence on its card, such as `Writes to merge fields. Reports changes at once.`"""
    audience: str
    """What the platform calls a list: `audience`, `publication`, `form`."""
    inputs: tuple[Input, ...]
    limits: Limits
    hooks: Hooks = Hooks.AUTOMATIC
    poll_every_s: int = 3600
    """How often `read_changes` is asked for what changed since. A whole pass is made each night."""
    has_list: bool = True
    """Whether `read_changes` can read the whole list. Otherwise nobody is ever missing from it."""
    field_pattern: str | None = r"[A-Za-z][A-Za-z0-9_]{0,49}"
    """What a field may be called there; None if there are no fields (Ghost has labels)."""
    field_rule: str = "letters, digits and underscores, at most 50, beginning with a letter"
    keeps_capitals: bool = False
    """Whether names of fields keep their capitals although merge tags lose them."""
    default_names: Mapping[SyncField, str] = msgspec.field(default_factory=dict)
    """Names of fields where the usual ones do not fit."""

    @property
    def is_lower_case(self) -> bool:
        """Whether names of fields are in lower case there, whatever the operator enters."""
        tool = newsletter_tools.TOOLS.get(self.key)
        return tool is not None and tool.is_lower_case and not self.keeps_capitals


def sync_seconds(limits: Limits, subscribers: int) -> int:
    requests = ceil(subscribers / limits.per_batch * limits.requests_per_batch)
    return ceil(requests * max(limits.interval_s, REQUEST_S))


def first_sync_time(limits: Limits, subscribers: int) -> str:
    """Such as `About 1 h 45 min`."""
    needed_s = sync_seconds(limits, subscribers)
    if needed_s < 90:
        return "About 1 minute"
    minutes = ceil(needed_s / 60)
    if minutes < 60:
        return f"About {minutes} minutes"
    hours, rest = divmod(5 * round(minutes / 5), 60)
    return f"About {hours} h {rest} min" if rest else f"About {hours} h"
