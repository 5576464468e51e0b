"""Accounts whose forms are flooded over many codes, of which none alone is. Found by a job, so that
no form has to count.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS, MINUTE_MS
from honeyguide.kernel.site import Site
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# The job.
FINDING = "find flooded accounts"
EVERY_MS = MINUTE_MS
# More than so many who signed up within a day have not confirmed, and of all of them fewer than one
# in so many has.
UNCONFIRMED = 500
ONE_IN = 6


class FloodChange(NamedTuple):
    account_id: str
    is_flooded: bool


_sql = beside(__file__)
_CHANGES = _sql.query("changes", FloodChange)
_BEGIN = _sql.command("begin")
_END = _sql.command("end")


async def changes(tx: Tx, *, most: int) -> list[FloodChange]:
    """Accounts that are flooded since, or no longer."""
    return await tx.all(
        _CHANGES,
        since_ms=tx.now_ms - DAY_MS,
        unconfirmed=UNCONFIRMED,
        one_in=ONE_IN,
        most=most,
    )


async def save(tx: Tx, site: Site, found: FloodChange) -> None:
    if found.is_flooded:
        await tx.run(_BEGIN, account_id=found.account_id)
    else:
        await tx.run(_END, account_id=found.account_id)
