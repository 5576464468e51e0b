"""Does the database answer, and does it agree with us about the time?"""

from __future__ import annotations

from honeyguide.kernel.clock import system_clock
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

_NOW = beside(__file__).value("now", int)


async def clock_skew_ms(tx: Tx) -> int:
    """How far our clock is ahead of the database's."""
    return system_clock() - (await tx.one(_NOW) or 0)
