"""Who is logged in, and in which of their accounts they work. The browser has 256 random bits, we
store their digest. A session ends after 12 idle hours or 14 days, or after 30 days for somebody who
chose to stay logged in.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple

from honeyguide.accounts import members, permissions
from honeyguide.accounts.permissions import Right
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.ids import new_id
from honeyguide.store.purging import Purge
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

IDLE_MS = 12 * HOUR_MS
LONGEST_MS = 14 * DAY_MS
KEPT_MS = 30 * DAY_MS
# Last use is written at most this often.
TOUCH_MS = MINUTE_MS
PURGE_BATCH = 500


class Visitor(NamedTuple):
    """A session, whose it is, and what they may do in the account that they work in."""

    session_id: str
    digest: str
    created_ms: int
    seen_ms: int
    is_kept: bool
    verified_ms: int
    """When they last logged in or entered their password again."""
    second_factor_ms: int
    """When they last entered a code of their second factor; 0 if they never did in this session."""
    user_id: str
    email: str
    user_name: str | None
    role: str
    account_id: str
    name: str | None
    """Of the account."""
    is_admin: bool
    needs_second_factor: bool
    """Whether the account asks all its members for one."""
    has_second_factor: bool
    campaign_id: str
    campaign_name: str
    time_zone: str
    paused_ms: int | None = None
    """Since when the account is paused; nothing in it can be changed then."""
    closes_ms: int | None = None

    def may(self, right: Right) -> bool:
        return permissions.role_may(self.role, right, is_admin=self.is_admin)

    def is_stopped(self, right: Right) -> bool:
        """Whether what needs this right cannot be changed, because the account is paused. Their own
        login always can."""
        return self.paused_ms is not None and right is not Right.OWN_LOGIN


class Session(NamedTuple):
    id: str
    user_agent: str | None
    address: str | None
    created_ms: int
    seen_ms: int
    is_kept: bool


class NewSession(NamedTuple):
    user_id: str
    account_id: str
    user_agent: str
    address: str
    is_kept: bool = False
    second_factor_ms: int = 0


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_FIND = _sql.query("find", Visitor)
_TOUCH = _sql.command("touch")
_SHIFT = _sql.command("shift")
_SAVE_PROOF = _sql.command("save_proof")
_SWITCH = _sql.command("switch")
_OF_USER = _sql.query("of_user", Session)
_END = _sql.command("end")
_END_BY_DIGEST = _sql.command("end_by_digest")
_END_OTHERS = _sql.command("end_others")
_ENDED = _sql.value("ended", str)
_PURGE = _sql.command("purge")


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _expires_ms(*, is_kept: bool, created_ms: int, now_ms: int) -> int:
    if is_kept:
        return created_ms + KEPT_MS
    return min(now_ms + IDLE_MS, created_ms + LONGEST_MS)


async def begin(tx: Tx, new: NewSession, *, instead_of: str | None = None) -> str:
    """Starts a session with a new token, which is returned this once. The session that the browser
    had before ends."""
    if instead_of:
        await tx.run(_END_BY_DIGEST, digest=digest(instead_of))
    token = secrets.token_urlsafe(32)
    await tx.put(
        _INSERT,
        id=new_id(),
        user_id=new.user_id,
        account_id=new.account_id,
        digest=digest(token),
        user_agent=new.user_agent[:255],
        address=new.address,
        is_kept=new.is_kept,
        second_factor_ms=new.second_factor_ms,
        expires_ms=_expires_ms(is_kept=new.is_kept, created_ms=tx.now_ms, now_ms=tx.now_ms),
    )
    return token


async def find(tx: Tx, token: str) -> Visitor | None:
    return await tx.one(_FIND, digest=digest(token))


async def touch(tx: Tx, visitor: Visitor) -> None:
    expires_ms = _expires_ms(
        is_kept=visitor.is_kept, created_ms=visitor.created_ms, now_ms=tx.now_ms
    )
    await tx.put(
        _TOUCH,
        user_id=visitor.user_id,
        id=visitor.session_id,
        expires_ms=expires_ms,
    )


async def shift(tx: Tx, *, by_ms: int) -> None:
    """Moves all sessions in time, as a test clock was, so that nobody is logged out by it."""
    await tx.run(_SHIFT, by_ms=by_ms)


async def save_proof(tx: Tx, visitor: Visitor) -> bool:
    """When they last proved who they are, as this visitor has it, unless their session has ended
    meanwhile."""
    saved = await tx.run(
        _SAVE_PROOF,
        user_id=visitor.user_id,
        id=visitor.session_id,
        verified_ms=visitor.verified_ms,
        second_factor_ms=visitor.second_factor_ms,
    )
    return bool(saved)


async def switch(tx: Tx, visitor: Visitor, account_id: str) -> None:
    """From now on the session works in another account of its user."""
    if await members.role_of(tx, account_id, visitor.user_id) is None:
        raise Missing("There is no such account.")
    await tx.run(_SWITCH, user_id=visitor.user_id, id=visitor.session_id, account_id=account_id)


async def of_user(tx: Tx, user_id: str) -> list[Session]:
    """Those still open, the latest used first."""
    return await tx.all(_OF_USER, user_id=user_id)


async def end(tx: Tx, user_id: str, session_id: str) -> None:
    if not await tx.run(_END, user_id=user_id, id=session_id):
        raise Missing("There is no such session, or it has ended already.")


async def end_by_token(tx: Tx, token: str) -> None:
    await tx.run(_END_BY_DIGEST, digest=digest(token))


async def end_others(tx: Tx, user_id: str, session_id: str) -> int:
    return await tx.run(_END_OTHERS, user_id=user_id, id=session_id)


# Sessions that ended by time.
purge = Purge(_ENDED, _PURGE, lambda now_ms: {"now_ms": now_ms}, batch=PURGE_BATCH)
