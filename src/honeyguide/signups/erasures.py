"""The log of erasures: ids and keyed hashes of those who were erased, so that they are erased again
when an older backup is restored. The id finds the subscriber also after a change of address; the
hash finds them in import files that were waiting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.ids import new_id
from honeyguide.store.change import Change
from honeyguide.store.purging import Purge
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# Wakes the job that copies them to the backups.
TOPIC = "erasures"
# Longer than any backup should be kept.
KEPT_MS = 400 * DAY_MS
PURGE_BATCH = 1_000


class Erasure(NamedTuple):
    id: str
    account_id: str
    campaign_id: str
    subscriber_id: str
    person_key: str
    erased_ms: int


_sql = beside(__file__)
_RECORD = _sql.command("record")
_UNCOPIED = _sql.query("uncopied", Erasure)
_SET_COPIED = _sql.command("set_copied")
_ALL = _sql.query("all", Erasure)
_KNOWN = _sql.value("known", str)
_KEEP = _sql.command("keep")
_OLD = _sql.value("old", str)
_PURGE = _sql.command("purge")


async def record(change: Change, subscriber_id: str) -> None:
    """Before the erasure, in the same transaction."""
    await change.run(_RECORD, id=new_id(), subscriber_id=subscriber_id)
    change.tx.wake(TOPIC)


async def uncopied(tx: Tx, *, most: int) -> list[Erasure]:
    """What is not yet at the backup place."""
    return await tx.all(_UNCOPIED, most=most)


async def has_uncopied(tx: Tx) -> bool:
    return bool(await uncopied(tx, most=1))


async def set_copied(tx: Tx, ids: Sequence[str]) -> None:
    await tx.run(_SET_COPIED, ids=list(ids))


async def every_erasure(tx: Tx) -> list[Erasure]:
    return await tx.all(_ALL)


async def is_known(tx: Tx, erasure_id: str) -> bool:
    """Whether it was made before this database was copied."""
    return await tx.one(_KNOWN, id=erasure_id) is not None


async def keep(tx: Tx, erasure: Erasure) -> None:
    """One that came from outside. It is copied to the backup place again, which may not have it:
    only the database that was replaced may have known it."""
    await tx.run(_KEEP, **erasure._asdict())


purge = Purge(_OLD, _PURGE, lambda now_ms: {"before_ms": now_ms - KEPT_MS}, batch=PURGE_BATCH)
