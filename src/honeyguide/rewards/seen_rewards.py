"""Which earned rewards a subscriber has seen on their referral page: each is celebrated once, and
only while it waits to be claimed.
"""

from __future__ import annotations

from collections.abc import Collection

from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside

_sql = beside(__file__)
_UNSEEN = _sql.value("unseen", str)
_MARK_SEEN = _sql.command("mark_seen")


async def unseen(at: Reading, subscriber_id: str) -> frozenset[str]:
    return frozenset(await at.all(_UNSEEN, subscriber_id=subscriber_id))


async def mark_seen(change: Change, ids: Collection[str]) -> None:
    await change.run(_MARK_SEEN, ids=sorted(ids))
