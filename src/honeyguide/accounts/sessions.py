"""Who is logged in. The browser has 256 random bits, we store their digest. A session ends after 12
idle hours or 14 days.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.ids import new_id
from honeyguide.store.purging import Purge
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

IDLE_MS = 12 * HOUR_MS
LONGEST_MS = 14 * DAY_MS
# Last use is written at most this often.
TOUCH_MS = MINUTE_MS
PURGE_BATCH = 500


class Visitor(NamedTuple):
    """A session and whose it is."""

    session_id: str
    digest: str
    created_ms: int
    seen_ms: int
    account_id: str
    email: str
    name: str | None
    is_admin: int
    campaign_id: str
    campaign_name: str
    time_zone: str


class Session(NamedTuple):
    id: str
    user_agent: str | None
    address: str | None
    created_ms: int
    seen_ms: int


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_FIND = _sql.query("find", Visitor)
_TOUCH = _sql.command("touch")
_OF_ACCOUNT = _sql.query("of_account", Session)
_END = _sql.command("end")
_END_BY_DIGEST = _sql.command("end_by_digest")
_END_OTHERS = _sql.command("end_others")
_ENDED = _sql.value("ended", str)
_PURGE = _sql.command("purge")


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


async def begin(
    tx: Tx, account_id: str, *, instead_of: str | None, user_agent: str, address: str, now_ms: int
) -> str:
    """Starts a session with a new token, which is returned this once. The session that the browser
    had before ends."""
    if instead_of:
        await tx.run(_END_BY_DIGEST, digest=digest(instead_of))
    token = secrets.token_urlsafe(32)
    await tx.put(
        _INSERT,
        id=new_id(),
        account_id=account_id,
        digest=digest(token),
        user_agent=user_agent[:255],
        address=address,
        now_ms=now_ms,
    )
    return token


async def find(tx: Tx, token: str, *, now_ms: int) -> Visitor | None:
    return await tx.one(
        _FIND, digest=digest(token), idle_ms=now_ms - IDLE_MS, oldest_ms=now_ms - LONGEST_MS
    )


async def touch(tx: Tx, visitor: Visitor, *, now_ms: int) -> None:
    await tx.put(_TOUCH, account_id=visitor.account_id, id=visitor.session_id, now_ms=now_ms)


async def of_account(tx: Tx, account_id: str, *, now_ms: int) -> list[Session]:
    """Those still open, the latest used first."""
    return await tx.all(
        _OF_ACCOUNT, account_id=account_id, idle_ms=now_ms - IDLE_MS, oldest_ms=now_ms - LONGEST_MS
    )


async def end(tx: Tx, account_id: str, session_id: str) -> None:
    if not await tx.run(_END, account_id=account_id, id=session_id):
        raise Missing("There is no such session, or it has ended already.")


async def end_by_token(tx: Tx, token: str) -> None:
    await tx.run(_END_BY_DIGEST, digest=digest(token))


async def end_others(tx: Tx, account_id: str, session_id: str) -> int:
    return await tx.run(_END_OTHERS, account_id=account_id, id=session_id)


# Sessions that ended by time.
purge = Purge(
    _ENDED,
    _PURGE,
    lambda now_ms: {"idle_ms": now_ms - IDLE_MS, "oldest_ms": now_ms - LONGEST_MS},
    batch=PURGE_BATCH,
)
