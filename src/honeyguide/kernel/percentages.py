"""When a change or a share is said as a percentage."""

from __future__ import annotations

# On fewer people, a percentage says more than is known.
LEAST_FOR_PERCENT = 20
