"""Who changed what and when: settings, decisions made by hand, and money. Entries are written in
the transaction of the change, and only what differs is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.ids import new_id
from honeyguide.store.change import Change
from honeyguide.store.purging import Purge
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

PURGE_BATCH = 500


class LoggedChange(NamedTuple):
    id: str
    account_id: str
    actor_kind: str
    actor_id: str
    action: str
    subject_id: str
    before: str | None
    after: str | None
    """JSON objects of what differs. Both are empty once the subscriber they are about is erased."""
    changed_ms: int

    @property
    def differences(self) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """Before and after."""
        before, after = (_decode(side) if side else None for side in (self.before, self.after))
        return before, after


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_OF_ACCOUNT = _sql.query("of_account", LoggedChange)
_ABOUT = _sql.query("about", LoggedChange)
_ERASE = _sql.command("erase")
_OLD = _sql.value("old", str)
_PURGE = _sql.command("purge")

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


async def record(
    change: Change,
    action: str,
    subject_id: str,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """`action` is the subject and what happened to it, such as `reward.changed`. `before` is None
    for something new, `after` for something deleted. Nothing is written if nothing differs.

    Callers leave out secrets: whoever may read the log may not read those.
    """
    if before is not None and after is not None:
        names = [name for name in after if before.get(name) != after[name]]
        if not names:
            return
        before, after = ({name: side.get(name) for name in names} for side in (before, after))
    await change.put(
        _INSERT,
        id=new_id(),
        actor_kind=change.actor.kind,
        actor_id=change.actor.id,
        action=action,
        subject_id=subject_id,
        before=None if before is None else _encode(before).decode(),
        after=None if after is None else _encode(after).decode(),
    )


async def of_account(
    tx: Tx, account_id: str, *, before_id: str = "~", most: int
) -> list[LoggedChange]:
    """The newest first, before this entry."""
    return await tx.all(_OF_ACCOUNT, account_id=account_id, before_id=before_id, most=most)


async def about(tx: Tx, account_id: str, subscriber_id: str) -> list[LoggedChange]:
    """What was done to a subscriber or what they earned, and by them, the first first."""
    return await tx.all(_ABOUT, account_id=account_id, subscriber_id=subscriber_id)


async def erase(change: Change, subscriber_id: str) -> None:
    """Empties what tells about a subscriber. That something was done, and by whom, stays."""
    await change.run(_ERASE, subscriber_id=subscriber_id)


def purge(keep_days: int) -> Purge[str]:
    """Deletes old entries."""
    return Purge(
        _OLD,
        _PURGE,
        lambda now_ms: {"before_ms": now_ms - keep_days * DAY_MS},
        batch=PURGE_BATCH,
    )
