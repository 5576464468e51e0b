"""How often somebody tried something lately, for whoever has no key to count by: exact over all processes, kept as a keyed hash
and forgotten after a day.
"""

from __future__ import annotations

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.site import Site
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

PURGE_BATCH = 500

_sql = beside(__file__)
_NOTE = _sql.value("note", int)
_PURGE = _sql.command("purge")


async def another(tx: Tx, site: Site, what: str, who: str, *, most: int, window_ms: int, now_ms: int) -> bool:
    """Notes one more attempt and tells whether that is too many in the window. The window is at most a day."""
    bucket = site.keyed_hash(f"attempt {what}", who)
    count = await tx.one(_NOTE, bucket=bucket, now_ms=now_ms, expired_ms=now_ms - window_ms)
    return (count or 0) > most


async def purge(tx: Tx, *, now_ms: int) -> bool:
    """Forgets a batch and tells whether more may wait."""
    return await tx.run(_PURGE, expired_ms=now_ms - DAY_MS, batch=PURGE_BATCH) == PURGE_BATCH
