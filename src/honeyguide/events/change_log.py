"""Who changed what and when: settings, decisions made by hand, and money. Entries are written in
the transaction of the change, and only what differs is kept.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.ids import new_id
from honeyguide.store.change import Change
from honeyguide.store.purging import Purge
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

PURGE_BATCH = 500
SALT_BATCH = 200


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
    salt: str | None
    """Empty as well once they are erased, so that nobody can try out what the values were."""
    values_hash: str | None
    """None only in an entry of an earlier version, until its month is closed."""

    @property
    def differences(self) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """Before and after."""
        before, after = (_decode(side) if side else None for side in (self.before, self.after))
        return before, after


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_OF_ACCOUNT = _sql.query("of_account", LoggedChange)
_OF_MONTH = _sql.query("of_month", LoggedChange)
_UNSALTED = _sql.query("unsalted", LoggedChange)
_SALT = _sql.command("salt")
_ABOUT = _sql.query("about", LoggedChange)
_ERASE = _sql.command("erase")
_OLD = _sql.value("old", str)
_NOTE_PURGED = _sql.command("note_purged")
_PURGED_MS = _sql.value("purged_ms", int)
_PURGE = _sql.command("purge")

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def hash_values(salt: str, before: str | None, after: str | None) -> str:
    """What a digest has instead of the values. With the salt nobody can guess them from it, and
    whoever has salt and values can prove that they are the same as then."""
    return hashlib.sha256(salt.encode() + b"\n" + _encode([before, after])).hexdigest()


def _salted(before: str | None, after: str | None) -> dict[str, Any]:
    salt = secrets.token_hex(16)
    return {"salt": salt, "values_hash": hash_values(salt, before, after)}


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
    old, new = (None if side is None else _encode(side).decode() for side in (before, after))
    await change.put(
        _INSERT,
        id=new_id(),
        actor_kind=change.actor.kind,
        actor_id=change.actor.id,
        action=action,
        subject_id=subject_id,
        before=old,
        after=new,
        **_salted(old, new),
    )


async def of_account(at: AccountReading, *, most: int) -> list[LoggedChange]:
    """The newest first."""
    return await at.all(_OF_ACCOUNT, most=most)


async def of_month(
    tx: Tx, account_id: str, *, after: tuple[int, str], until_ms: int, most: int
) -> list[LoggedChange]:
    """The first first, after a time and an entry, before another time."""
    after_ms, after_id = after
    return await tx.all(
        _OF_MONTH,
        account_id=account_id,
        after_ms=after_ms,
        after_id=after_id,
        until_ms=until_ms,
        most=most,
    )


async def has_unsalted(tx: Tx, account_id: str, *, since_ms: int, until_ms: int) -> bool:
    """Whether there are entries of an earlier version in this time."""
    found = await tx.one(
        _UNSALTED, account_id=account_id, since_ms=since_ms, until_ms=until_ms, most=1
    )
    return found is not None


async def salt_batch(tx: Tx, account_id: str, *, since_ms: int, until_ms: int) -> None:
    """Salts some entries of an earlier version. They are locked: one that is erased at the same
    time must not get the hash of what it had."""
    rows = await tx.lock(
        _UNSALTED,
        "update",
        account_id=account_id,
        since_ms=since_ms,
        until_ms=until_ms,
        most=SALT_BATCH,
    )
    for row in rows:
        await tx.run(_SALT, account_id=account_id, id=row.id, **_salted(row.before, row.after))


async def purged_ms(tx: Tx) -> int:
    """Entries before this time may be deleted by now; 0 if none are."""
    return await tx.one(_PURGED_MS) or 0


async def about(at: AccountReading, subscriber_id: str) -> list[LoggedChange]:
    """What was done to a subscriber or what they earned, and by them, the first first."""
    return await at.all(_ABOUT, subscriber_id=subscriber_id)


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
        note=_NOTE_PURGED,
    )
