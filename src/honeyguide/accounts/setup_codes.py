"""The code that opens the first account in the browser. `serve` logs a new one each time it starts
and there is no account, so only somebody who reads the log of the server can use it.

Only its digest is stored. It is of no use once there is an account.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from honeyguide.accounts import accounts, attempts, invitations
from honeyguide.kernel.site import Site
from honeyguide.store.tx import Tx

ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # without 0, 1, I and O, which look alike
GROUPS, GROUP = 3, 4


async def renew(tx: Tx) -> str | None:
    """A new code, which replaces the one before; None if there is an account already."""
    if not await invitations.is_untouched(tx):
        return None
    letters = "".join(secrets.choice(ALPHABET) for _ in range(GROUPS * GROUP))
    await accounts.note_setup_code(tx, _digest(letters))
    return "-".join(letters[at : at + GROUP] for at in range(0, len(letters), GROUP))


async def count_attempt(tx: Tx, site: Site, ip_network: str) -> None:
    """Refuses somebody who tried too many codes, and everybody where too many were tried."""
    await attempts.count(tx, site, attempts.SETUP_BY_ADDRESS, ip_network)
    await attempts.count(tx, site, attempts.SETUP_BY_INSTALLATION, "")


async def is_right(tx: Tx, code: str) -> bool:
    stored = await accounts.setup_code_digest(tx)
    letters = "".join(letter for letter in code.upper() if letter in ALPHABET)
    return stored is not None and hmac.compare_digest(stored, _digest(letters))


def _digest(letters: str) -> str:
    return hashlib.sha256(letters.encode()).hexdigest()
