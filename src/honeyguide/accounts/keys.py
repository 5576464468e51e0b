"""API keys: 256 random bits with a recognizable prefix and a checksum. Only the digest is stored;
the key is shown once.

The form is `hg_live_` + 43 base62 characters + 6 of CRC-32: `hg_live_[0-9A-Za-z]{49}`. Scanners can
find one that leaked, and a mistyped one is refused without asking the database.
"""

from __future__ import annotations

import functools
import hashlib
import os
import zlib
from typing import NamedTuple

from honeyguide.events import change_log
from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import new_id
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

PREFIX = "hg_live_"
_BODY, _CHECK = 43, 6
_LENGTH = len(PREFIX) + _BODY + _CHECK
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SHOWN = 12


class Key(NamedTuple):
    """A key as its owner sees it: never the key itself."""

    id: str
    name: str
    prefix: str
    created_ms: int
    last_used_ms: int | None
    revoked_ms: int | None


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_OF_ACCOUNT = _sql.query("of_account", Key)
_REVOKE = _sql.command("revoke")
_BY_PREFIX = _sql.query("by_prefix", lambda account_id, id: (account_id, id))


def _base62(number: int, length: int) -> str:
    text = ""
    for _ in range(length):
        number, digit = divmod(number, 62)
        text = _DIGITS[digit] + text
    return text


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), _CHECK)


def generate() -> str:
    body = PREFIX + _base62(int.from_bytes(os.urandom(32), "big"), _BODY)
    return body + _checksum(body)


@functools.lru_cache(maxsize=4096)
def digest(key: str) -> str | None:
    """The digest that a key is stored under. None if it cannot be one of our keys. Cached, because
    every request needs it and checking and hashing cost as much as a read from SQLite."""
    if (
        len(key) != _LENGTH
        or not key.startswith(PREFIX)
        or not (key.isascii() and key[len(PREFIX) :].isalnum())
    ):
        return None
    if _checksum(key[:-_CHECK]) != key[-_CHECK:]:
        return None
    return hashlib.sha256(key.encode()).hexdigest()


async def create(change: Change, *, name: str) -> str:
    """Makes a key and gives it back in clear, this once."""
    key, key_id = generate(), new_id()
    checks.text(name, param="name", limit=checks.NAME_LIMIT, blank_ok=False)
    await change.put(
        _INSERT,
        id=key_id,
        name=name,
        digest=digest(key),
        prefix=key[:_SHOWN],
        created_ms=change.now_ms,
    )
    await change_log.record(change, "api_key.created", key_id, None, {"name": name})
    return key


async def of_account(tx: Tx, account_id: str) -> list[Key]:
    return await tx.all(_OF_ACCOUNT, account_id=account_id)


async def revoke(change: Change, key_id: str) -> None:
    """Takes effect on the next request, also on a connection that is already open."""
    if not await change.run(_REVOKE, id=key_id):
        raise Missing("There is no such key, or it is already revoked.")
    await change_log.record(change, "api_key.revoked", key_id)


async def find_by_shown(tx: Tx, shown: str) -> tuple[str, str]:
    """The account and id behind what a list of keys shows: its prefix or its id."""
    found = await tx.all(_BY_PREFIX, shown=shown)
    if not found:
        raise Missing("There is no active key {key}. `honeyguide keys list` shows them.", key=shown)
    if len(found) > 1:
        raise Invalid("More than one active key begins with {key}; use its id.", key=shown)
    return found[0]
