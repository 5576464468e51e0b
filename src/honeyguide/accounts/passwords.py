"""Passwords: argon2id, hashed in a thread so that the loop does not stall, and few at a time to
limit memory.

A comparison takes as long for an account that does not exist as for one that does.
"""

from __future__ import annotations

import asyncio
import functools

import argon2

from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.site import Site
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

SHORTEST = 10
LONGEST = 256
# Each takes 64 MB while it runs.
AT_ONCE = 4

_hasher = argon2.PasswordHasher()
_hashing_slots: dict[int, asyncio.Semaphore] = {}

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


def _hashing_slot() -> asyncio.Semaphore:
    """One per loop: a semaphore belongs to the loop it was first waited for on."""
    return _hashing_slots.setdefault(id(asyncio.get_running_loop()), asyncio.Semaphore(AT_ONCE))


async def hashed(password: str) -> str:
    async with _hashing_slot():
        return await asyncio.to_thread(_hasher.hash, password)


@functools.cache
def _hash_of_nobody() -> str:
    return _hasher.hash("nobody has this password")


async def matches(password_hash: str | None, password: str) -> bool:
    """A None hash (no such account, or no password) never matches, and takes just as long."""
    async with _hashing_slot():
        right = await asyncio.to_thread(_verified, password_hash, password)
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
