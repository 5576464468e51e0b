"""What advocates win, and what becomes of it."""

from __future__ import annotations

from honeyguide.kernel.site import Site
from honeyguide.referrals.campaigns import Owner
from honeyguide.store.tx import Tx


async def unlock(tx: Tx, site: Site, owner: Owner, advocate_id: str, *, now_ms: int) -> None:
    """Gives an advocate every reward their verified count has reached."""
