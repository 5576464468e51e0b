"""A browser in which somebody logged in before, known by a signed cookie. Guesses of others do not
count against it, so nobody can lock a user out of the browser that they always use.
"""

from __future__ import annotations

import secrets

import msgspec

from honeyguide.accounts import passwords
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.site import Site

LASTS_MS = 365 * DAY_MS
_PURPOSE = "known browser"


class _KnownBrowser(msgspec.Struct, array_like=True):
    browser: str
    user_id: str
    password: str
    """Its fingerprint: with a new password the browser must become known again."""
    expires_ms: int


def new_token(site: Site, user_id: str, password: str, *, now_ms: int) -> str:
    """`password` is the fingerprint of the one that they logged in with."""
    known = _KnownBrowser(secrets.token_hex(8), user_id, password, now_ms + LASTS_MS)
    return site.seal(_PURPOSE, msgspec.json.encode(known))


def find(
    site: Site, token: str, user_id: str, password_hash: str | None, *, now_ms: int
) -> str | None:
    """The browser's id, if this user logged in there with the password that they still have."""
    known = _read(site, token, user_id, now_ms=now_ms)
    is_same = known is not None and known.password == passwords.fingerprint(site, password_hash)
    return known.browser if known is not None and is_same else None


def is_known(site: Site, token: str, user_id: str, *, now_ms: int) -> bool:
    """Whether this user logged in there, with this password or another one."""
    return _read(site, token, user_id, now_ms=now_ms) is not None


def _read(site: Site, token: str, user_id: str, *, now_ms: int) -> _KnownBrowser | None:
    content = site.unseal(_PURPOSE, token)
    if content is None:
        return None
    known = msgspec.json.decode(content, type=_KnownBrowser)
    return known if known.user_id == user_id and known.expires_ms > now_ms else None
