"""Logins in the change log of every account that the user is a member of.

Of wrong passwords one entry is written per user in 15 minutes: somebody who guesses must not be
able to fill the log.
"""

from __future__ import annotations

from honeyguide.accounts import attempts, members
from honeyguide.accounts.attempts import Limit
from honeyguide.kernel import actors
from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.kernel.errors import TooMany
from honeyguide.kernel.site import Site
from honeyguide.store.tx import Tx

_FAILURES = Limit("logged login failures", 1, 15 * MINUTE_MS)


async def record(tx: Tx, site: Site, user_id: str, *, now_ms: int) -> None:
    """A login with the right password."""
    actor = actors.member(user_id)
    await members.record_of_user(tx, site, actor, user_id, "login.succeeded", now_ms=now_ms)


async def record_failure(
    tx: Tx, site: Site, user_id: str | None, email_key: str, *, now_ms: int
) -> None:
    """Without a user, for an address that nobody has, the work is the same and nothing is logged:
    the time it takes tells nobody which addresses exist."""
    try:
        await attempts.count(tx, site, _FAILURES, email_key, now_ms=now_ms)
    except TooMany:
        return
    if user_id is not None:
        await members.record_of_user(
            tx, site, actors.ANY_MEMBER, user_id, "login.failed", now_ms=now_ms
        )


async def record_ended_sessions(
    tx: Tx, site: Site, user_id: str, *, all_others: bool, now_ms: int
) -> None:
    action = "session.others_ended" if all_others else "session.ended"
    actor = actors.member(user_id)
    await members.record_of_user(tx, site, actor, user_id, action, now_ms=now_ms)
