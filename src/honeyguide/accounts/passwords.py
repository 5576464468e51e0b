"""Passwords: argon2id, hashed in a thread so that the loop does not stall, and few at a time, so
that neither memory nor the processors are used up.

A comparison takes as long for an account that does not exist as for one that does.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import argon2

from honeyguide.kernel.errors import Invalid, TooMany
from honeyguide.kernel.site import Site
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

P = ParamSpec("P")
T = TypeVar("T")

SHORTEST = 10
LONGEST = 256
# Each takes 64 MB and four threads while it runs.
AT_ONCE = 2
# Who comes last waits for about a second.
MOST_WAITING = 20
BUSY = "Too many people are logging in right now. Try again in a few seconds."

_hasher = argon2.PasswordHasher()

_sql = beside(__file__)
_FIND = _sql.query("find", lambda user_id, password_hash: (user_id, password_hash))
_OF_USER = _sql.value("of_user", str)
_SET = _sql.command("set")
_END_SESSIONS = _sql.command("end_sessions")
_END_EMAIL_CHANGE = _sql.command("end_email_change")
_SPEND_TICKETS = _sql.command("spend_tickets")

# Common passwords that are long enough to pass otherwise.
_COMMON_TEXT = """
1234567890 0123456789 12345678910 1q2w3e4r5t qwertyuiop qwerty12345 password12 password123
password1234 iloveyou12 honeyguide honeyguide1 letmein123 welcome123 admin12345 administrator
changeme123 newsletter newsletter1
"""
_COMMON = frozenset(_COMMON_TEXT.split())


def checked(password: str, *, email: str) -> str:
    """A password that cannot be guessed in ten tries. Length is what counts, so no rule asks for
    signs or digits."""
    if len(password) < SHORTEST:
        raise Invalid(
            "Choose a password of at least {least} characters.", param="password", least=SHORTEST
        )
    if len(password) > LONGEST:
        raise Invalid(
            "Choose a password of at most {most} characters.", param="password", most=LONGEST
        )
    folded = password.casefold()
    if (
        folded in _COMMON
        or len(set(folded)) < 4
        or folded in (email.casefold(), email.casefold().partition("@")[0])
    ):
        raise Invalid(
            "This password is easy to guess. Three or four unrelated words make a good one.",
            param="password",
        )
    return password


class _HashingSlots:
    def __init__(self) -> None:
        self._free = asyncio.Semaphore(AT_ONCE)
        self._under_way = 0

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """In a thread, after those who came before. Where too many wait, it is refused: who comes
        later would wait for longer than anybody does."""
        if self._under_way >= AT_ONCE + MOST_WAITING:
            raise TooMany(BUSY, retry_after_s=5)
        self._under_way += 1
        try:
            async with self._free:
                return await asyncio.to_thread(work, *args, **kwargs)
        finally:
            self._under_way -= 1


# A semaphore belongs to the loop it was first waited for on.
_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, _HashingSlots] = WeakKeyDictionary()


def _hashing_slots() -> _HashingSlots:
    return _slots.setdefault(asyncio.get_running_loop(), _HashingSlots())


async def hashed(password: str) -> str:
    return await _hashing_slots().run(_hasher.hash, password)


@functools.cache
def _hash_of_nobody() -> str:
    return _hasher.hash("nobody has this password")


async def matches(password_hash: str | None, password: str) -> bool:
    """A None hash (no such account, or no password) never matches, and takes just as long."""
    right = await _hashing_slots().run(_verified, password_hash, password)
    return right and password_hash is not None


def _verified(password_hash: str | None, password: str) -> bool:
    # Also when it is not needed, so that the first comparison of a process takes as long, too.
    nobody = _hash_of_nobody()
    try:
        return _hasher.verify(password_hash or nobody, password)
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return False


def fingerprint(site: Site, password_hash: str | None) -> str:
    """Another one with every new password, so that what is bound to it ends with the password."""
    return site.keyed_hash("password", password_hash or "")[:32]


async def find(tx: Tx, email_key: str) -> tuple[str, str | None] | None:
    """The user behind an address, and their hash."""
    return await tx.one(_FIND, email_key=email_key)


async def of_user(tx: Tx, user_id: str) -> str | None:
    return await tx.one(_OF_USER, user_id=user_id)


async def is_still(tx: Tx, site: Site, user_id: str, known_fingerprint: str) -> bool:
    """Whether the user's password is the one with this fingerprint. Nobody changes it before the
    transaction ends: what is begun in it ends with the password."""
    found = await tx.lock(_OF_USER, user_id=user_id)
    return [fingerprint(site, password_hash) for password_hash in found] == [known_fingerprint]


async def set_hash(tx: Tx, user_id: str, password_hash: str) -> None:
    """A new password ends every session, every link that would change it again, and the change of
    email that somebody asked for with the old one."""
    await tx.run(_SET, user_id=user_id, password_hash=password_hash)
    await tx.run(_END_SESSIONS, user_id=user_id)
    await tx.run(_END_EMAIL_CHANGE, user_id=user_id)
    await tx.run(_SPEND_TICKETS, user_id=user_id)
