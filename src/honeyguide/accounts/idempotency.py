"""`Idempotency-Key`: the same POST twice gets the first one's response. The row is written in the
transaction of the effect: a twin in flight waits for it, and a refused request leaves nothing
behind and may be tried again.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Busy, Invalid, Reused
from honeyguide.store import LockWait
from honeyguide.store.purging import Purge
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

KEPT_MS = DAY_MS
LONGEST = 255
PURGE_BATCH = 500
# What an answer is about that names several subscribers. It is forgotten with any of them.
SEVERAL = "several"


class StoredAnswer(NamedTuple):
    fingerprint: str
    status: int | None
    body: str | None


class _ExpiredKey(NamedTuple):
    account_id: str
    idempotency_key: str
    created_ms: int


_sql = beside(__file__)
_CLAIM = _sql.command("claim")
_IS_CLAIMED = _sql.value("is_claimed", int)
_FIND = _sql.query("find", StoredAnswer)
_COMPLETE = _sql.command("complete")
_FORGET = _sql.command("forget")
_EXPIRED = _sql.query("expired", _ExpiredKey)
_PURGE = _sql.command("purge")


def checked(key: str) -> str:
    if not 0 < len(key) <= LONGEST or not (key.isascii() and key.isprintable()):
        raise Invalid(
            "{field} must be 1 to {most} printable ASCII characters.",
            param="Idempotency-Key",
            most=LONGEST,
        )
    return key


def fingerprint(method: str, path: bytes, body: bytes) -> str:
    return hashlib.sha256(b"%s %s\n%s" % (method.encode(), path, body)).hexdigest()


async def is_claimed(at: AccountReading, key: str) -> bool:
    """Whether a request with this key was answered, or is just being answered."""
    oldest_ms = at.now_ms - KEPT_MS
    return bool(await at.one(_IS_CLAIMED, key=key, expired_ms=oldest_ms))


async def claim(tx: Tx, account_id: str, key: str, print_: str) -> StoredAnswer | None:
    """None when this request is the first; otherwise what the first was answered."""
    try:
        first = await tx.run(
            _CLAIM,
            account_id=account_id,
            key=key,
            fingerprint=print_,
            expired_ms=tx.now_ms - KEPT_MS,
        )
    except LockWait:
        raise Busy(
            "A request with this Idempotency-Key is still running; try again in a moment."
        ) from None
    if first:
        return None
    answered = await tx.one(_FIND, account_id=account_id, key=key)
    if answered is None or answered.status is None:
        raise Busy("A request with this Idempotency-Key is still running; try again in a moment.")
    if answered.fingerprint != print_:
        sentence = (
            "This Idempotency-Key was used for another request; use a new key for a new request."
        )
        raise Reused(sentence, param="Idempotency-Key")
    return answered


async def complete(
    tx: Tx, account_id: str, key: str, *, status: int, body: str, about: str | None
) -> None:
    await tx.put(_COMPLETE, account_id=account_id, key=key, status=status, body=body, about=about)


async def forget(tx: Tx, account_id: str, about: str) -> None:
    """Erasure reaches stored answers too."""
    await tx.run(_FORGET, account_id=account_id, about=about, several=SEVERAL)


purge = Purge(_EXPIRED, _PURGE, lambda now_ms: {"expired_ms": now_ms - KEPT_MS}, batch=PURGE_BATCH)
