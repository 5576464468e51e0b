"""How long a sync takes at the platform's own limit: an honest guess, in words."""

from __future__ import annotations

from math import ceil

from honeyguide.integrations.about import Limits

# What one request takes where no limit is known or the limit is high.
REQUEST_S = 0.3


def seconds(limits: Limits, subscribers: int) -> int:
    requests = ceil(subscribers / limits.per_batch * limits.requests_per_batch)
    return ceil(requests * max(limits.interval_s, REQUEST_S))


def first_sync(limits: Limits, subscribers: int) -> str:
    """Such as `About 1 h 45 min`."""
    needed_s = seconds(limits, subscribers)
    if needed_s < 90:
        return "About 1 minute"
    minutes = ceil(needed_s / 60)
    if minutes < 60:
        return f"About {minutes} minutes"
    hours, rest = divmod(5 * round(minutes / 5), 60)
    return f"About {hours} h {rest} min" if rest else f"About {hours} h"
