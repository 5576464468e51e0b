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
from collections.abc import Iterable
from typing import Any, NamedTuple

from honeyguide.accounts import accounts, members, users
from honeyguide.accounts.key_states import MOST_OVERLAP_MS, SOON_MS, Key
from honeyguide.accounts.permissions import parse_scopes
from honeyguide.events import change_log
from honeyguide.kernel import checks
from honeyguide.kernel.actors import ActorKind
from honeyguide.kernel.clock import DAY_MS, day, iso
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import email_kinds, login_texts
from honeyguide.mail.notification_kinds import KEY_EXPIRES
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

PREFIX = "hg_live_"
_BODY, _CHECK = 43, 6
_LENGTH = len(PREFIX) + _BODY + _CHECK
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SHOWN = 12
PAGE = "/account/keys"
# A key that nothing used for longer is not missed.
IN_USE_MS = 30 * DAY_MS


class NewKey(NamedTuple):
    id: str
    secret: str
    """The key in clear."""


class ExpiringKey(NamedTuple):
    id: str
    account_id: str
    campaign_id: str
    name: str
    prefix: str
    expires_ms: int

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_BY_ID = _sql.query("by_id", Key)
_OF_ACCOUNT = _sql.query("of_account", Key)
_REVOKE = _sql.command("revoke")
_REPLACE = _sql.command("replace")
_MADE_BY = _sql.value("made_by", str)
_EXPIRING = _sql.query("expiring", ExpiringKey)
_WARN = _sql.command("warn")
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


async def create(
    change: Change,
    *,
    name: str,
    scopes: Iterable[str] | None = None,
    expires_ms: int | None = None,
) -> str:
    """Makes a key and gives it back in clear, this once. Without scopes it may do everything."""
    checks.text(name, param="name", limit=checks.NAME_LIMIT, blank_ok=False)
    if expires_ms is not None and expires_ms <= change.now_ms:
        raise Invalid("{field} must be in the future.", param="expires")
    chosen = None if scopes is None else parse_scopes(scopes)
    made = await _insert(change, name, None if chosen is None else " ".join(chosen), expires_ms)
    await change_log.record(
        change, "api_key.created", made.id, None, {"name": name, **_limits(chosen, expires_ms)}
    )
    await _email_owners(change, name, "created")
    return made.secret


async def _email_owners(change: Change, name: str, done: str) -> None:
    """About what a member did. Commands and the closing of an account are not news to them."""
    if change.actor.kind is not ActorKind.MEMBER:
        return
    who = await users.get(change.tx, change.actor.id)
    account = await accounts.get(change.tx, change.tenant.account_id)
    message = login_texts.api_key_changed(
        key=name,
        done=done,
        who=who.email,
        account=account.name or account.email,
        page=f"{change.site.base_url}/account/keys",
    )
    await members.email_owners(change, email_kinds.API_KEY_CHANGED, message)


async def _insert(change: Change, name: str, scopes: str | None, expires_ms: int | None) -> NewKey:
    made = NewKey(new_id(), generate())
    await change.put(
        _INSERT,
        id=made.id,
        name=name,
        digest=digest(made.secret),
        prefix=made.secret[:_SHOWN],
        created_ms=change.now_ms,
        scopes=scopes,
        expires_ms=expires_ms,
        made_by=change.actor.id if change.actor.kind is ActorKind.MEMBER else None,
    )
    return made


def _limits(scopes: Iterable[str] | None, expires_ms: int | None) -> dict[str, Any]:
    """What the change log says of a key besides its name."""
    limits: dict[str, Any] = {} if scopes is None else {"scopes": ", ".join(scopes)}
    return limits if expires_ms is None else limits | {"expires_at": iso(expires_ms)}


async def rotate(change: Change, key_id: str, *, overlap_ms: int) -> str:
    """A new key with the name, the scopes and the length of life of an old one, which works on
    until the overlap ends."""
    if not 0 <= overlap_ms <= MOST_OVERLAP_MS:
        raise Invalid("The old key can work on for up to 7 days.", param="overlap")
    old = await get(change, key_id)
    ends_ms = change.now_ms + overlap_ms
    made = await _insert(change, old.name, old.scopes, old.life_from(change.now_ms))
    # The condition is checked here and not above, so that of two at the same moment one is refused.
    if not await change.run(_REPLACE, id=old.id, replaced_by=made.id, expires_ms=ends_ms):
        if old.revoked_ms is not None:
            raise Invalid("This key is revoked. Create a new one instead.")
        raise Invalid("This key is being replaced already. Rotate the new one instead.")
    await change_log.record(
        change, "api_key.rotated", old.id, None, {"new_key": made.id, "works_until": iso(ends_ms)}
    )
    await _email_owners(change, old.name, "replaced")
    return made.secret


async def get(at: AccountReading, key_id: str) -> Key:
    key = await at.one(_BY_ID, id=key_id)
    if key is None:
        raise Missing("There is no such key.")
    return key


async def of_account(tx: Tx, account_id: str) -> list[Key]:
    return await tx.all(_OF_ACCOUNT, account_id=account_id)


async def revoke(change: Change, key_id: str) -> None:
    """Takes effect on the next request, also on a connection that is already open."""
    name = (await get(change, key_id)).name
    if not await change.run(_REVOKE, id=key_id):
        raise Missing("There is no such key, or it is already revoked.")
    await change_log.record(change, "api_key.revoked", key_id)
    await _email_owners(change, name, "revoked")


async def revoke_made_by(change: Change, user_id: str) -> None:
    """All that this member made in the account and that still work."""
    for key_id in await change.all(_MADE_BY, user_id=user_id):
        await revoke(change, key_id)


async def find_by_shown(tx: Tx, shown: str) -> tuple[str, str]:
    """The account and id behind what a list of keys shows: its prefix or its id."""
    found = await tx.all(_BY_PREFIX, shown=shown)
    if not found:
        raise Missing("There is no active key {key}. `honeyguide keys list` shows them.", key=shown)
    if len(found) > 1:
        raise Invalid("More than one active key begins with {key}; use its id.", key=shown)
    return found[0]


async def expiring(tx: Tx, *, most: int) -> list[ExpiringKey]:
    """Of all accounts."""
    return await tx.all(_EXPIRING, notice_ms=SOON_MS, in_use_ms=IN_USE_MS, most=most)


async def warn_of_end(change: Change, key: ExpiringKey) -> None:
    """Once for each key. Nothing if it was revoked or rotated meanwhile."""
    if not await change.run(_WARN, id=key.id):
        return
    message = login_texts.key_expires(
        name=key.name,
        prefix=key.prefix,
        on=day(key.expires_ms),
        page=f"{change.site.base_url}{PAGE}",
    )
    await accounts.notify_owner(change, KEY_EXPIRES.name, key.id, message, link=PAGE)
