"""How often a network or an account was tried lately: exact over all processes, stored as a keyed
hash, deleted after a day.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.kernel.errors import TooMany
from honeyguide.kernel.site import Site
from honeyguide.store.purging import Purge
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

PURGE_BATCH = 500


TOO_MANY = "Too many attempts. Try again {wait}."


class Limit(NamedTuple):
    """So many attempts of a kind in a window of at most a day."""

    name: str
    most: int
    window_ms: int
    refusal: str = TOO_MANY


# The names are stored with each attempt, so they stay as they are.
LOGIN_BY_ADDRESS = Limit("login by address", 50, 15 * MINUTE_MS)
LOGIN_BY_ACCOUNT = Limit("login by account", 10, 15 * MINUTE_MS)
LOGIN_BY_INSTALLATION = Limit("login by installation", 2_000, 15 * MINUTE_MS)
LOGIN_BY_BROWSER = Limit("login by browser", 10, 15 * MINUTE_MS)
# Links to choose a password, right or wrong: with a right one, a password is hashed.
LINK_BY_ADDRESS = Limit("link by address", 100, 15 * MINUTE_MS)
# Of somebody who is logged in.
PASSWORD_AGAIN = Limit("password again", 10, 15 * MINUTE_MS)
# Of a million codes three are right at any time, so an hour allows few guesses, over all pages that
# take one.
CODE_BY_USER = Limit("code by user", 10, HOUR_MS)
# Somebody who never had the mailbox must not get it by guessing for weeks, in many logins at once.
EMAIL_CODE_BY_DAY = Limit("email code by user and day", 20, DAY_MS)
# How many of these strangers can use up: whoever enters a code together with the password has not
# proved yet that they know the password.
CODE_WITH_PASSWORD = Limit("code with password", 3, HOUR_MS)
# The same code is sent again for half an hour, so fewer lock nobody out.
EMAIL_CODES = Limit("email codes by user", 5, HOUR_MS)
# A code of 60 bits cannot be guessed; this keeps those who try from filling the log.
SETUP_BY_ADDRESS = Limit("setup by address", 10, 15 * MINUTE_MS)
SETUP_BY_INSTALLATION = Limit("setup by installation", 200, 15 * MINUTE_MS)
EMAILS_BY_ADDRESS = Limit("letters by address", 20, HOUR_MS)
# Each purpose is counted apart, or whoever asks for one keeps others from getting another.
EMAILS_BY_ACCOUNT = Limit("letters by account", 5, HOUR_MS)


class _ExpiredCount(NamedTuple):
    subject: str
    since_ms: int


# Until when each is refused, as far as this process knows.
_refused: dict[tuple[Limit, str], int] = {}
MOST_REFUSED = 10_000

_sql = beside(__file__)
_COUNT = _sql.query("count", lambda since_ms, n: (int(since_ms), int(n)))
_FORGET = _sql.command("forget")
_TAKE_BACK = _sql.command("take_back")
_EXPIRED = _sql.query("expired", _ExpiredCount)
_PURGE = _sql.command("purge")


def _subject(site: Site, limit: Limit, who: str) -> str:
    return site.keyed_hash(f"attempt {limit.name}", who)


async def count(tx: Tx, site: Site, limit: Limit, who: str) -> None:
    """Notes one more attempt, and refuses it when that is too many."""
    counted = await tx.one(
        _COUNT,
        subject=_subject(site, limit, who),
        expired_ms=tx.now_ms - limit.window_ms,
        ahead_ms=tx.now_ms + limit.window_ms,
    )
    since_ms, n = counted or (tx.now_ms, 1)
    if n > limit.most:
        until_ms = since_ms + limit.window_ms
        if len(_refused) >= MOST_REFUSED:
            _refused.clear()
        _refused[limit, _subject(site, limit, who)] = until_ms
        raise _refusal(limit, until_ms, tx.now_ms)


def _refusal(limit: Limit, until_ms: int, now_ms: int) -> TooMany:
    wait_s = max(1, -(-(until_ms - now_ms) // 1000))
    minutes = -(-wait_s // 60)
    wait = "in 1 minute" if minutes == 1 else f"in {minutes} minutes"
    return TooMany(limit.refusal, wait=wait, retry_after_s=wait_s)


def refuse_again(site: Site, limit: Limit, who: str, *, now_ms: int) -> None:
    """Refuses who was refused here before, without a write: on PostgreSQL many would wait for one
    row, and others for a connection. Not for a limit that a success resets."""
    until_ms = _refused.get((limit, _subject(site, limit, who)), 0)
    if until_ms - 2 * limit.window_ms < now_ms < until_ms:
        raise _refusal(limit, until_ms, now_ms)


async def is_allowed(tx: Tx, site: Site, limit: Limit, who: str) -> bool:
    """The same where nobody learns that it was too many."""
    try:
        await count(tx, site, limit, who)
    except TooMany:
        return False
    return True


async def take_back(tx: Tx, site: Site, limit: Limit, who: str) -> None:
    """After a success, which was no guess. The wrong ones before it still count: whoever else made
    them must not get more because the right person came by."""
    await tx.run(_TAKE_BACK, subject=_subject(site, limit, who))


async def forget(tx: Tx, site: Site, limit: Limit, who: str) -> None:
    """Resets the count after a success."""
    await tx.run(_FORGET, subject=_subject(site, limit, who))


purge = Purge(_EXPIRED, _PURGE, lambda now_ms: {"expired_ms": now_ms - DAY_MS}, batch=PURGE_BATCH)
