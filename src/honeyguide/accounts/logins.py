"""Logins in the change log of every account that the user is a member of.

Of wrong passwords one entry is written per user in 15 minutes: somebody who guesses must not be
able to fill the log. A browser in which somebody logged in before is known by a signed cookie:
guesses of others do not count against it, so nobody can lock a user out of the browser that they
always use.
"""

from __future__ import annotations

import secrets

import msgspec

from honeyguide.accounts import attempts, members, passwords, users
from honeyguide.accounts.attempts import Limit
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, iso
from honeyguide.kernel.errors import TooMany
from honeyguide.kernel.site import Site
from honeyguide.mail import email_kinds, login_texts
from honeyguide.store.tx import Tx

_FAILURES = Limit("logged login failures", 1, 15 * MINUTE_MS)
# Emails about them. Whoever knows a password must not fill a mailbox by logging in.
_NEW_BROWSERS = Limit("new browsers", 5, HOUR_MS)


async def record(tx: Tx, site: Site, user_id: str, *, new_browser: str | None) -> None:
    """A login with the right password. `new_browser` is what it was made with if they had not
    used it before: they get an email, but for their very first login."""
    actor = actors.member(user_id)
    await members.record_of_user(tx, site, actor, user_id, "login.succeeded")
    is_first = (await users.get(tx, user_id)).logged_in_ms is None
    await users.note_login(tx, user_id)
    if new_browser is not None and not is_first:
        await _email_about(tx, site, user_id, new_browser)


async def _email_about(tx: Tx, site: Site, user_id: str, browser: str) -> None:
    try:
        await attempts.count(tx, site, _NEW_BROWSERS, user_id)
    except TooMany:
        return
    at = iso(tx.now_ms).replace("T", ", ")[:17]
    message = login_texts.new_browser(browser=browser, at=at, forgot=f"{site.base_url}/password")
    await members.email_user(tx, user_id, email_kinds.NEW_BROWSER, message)


async def record_failure(tx: Tx, site: Site, user_id: str | None, email_key: str) -> None:
    """Without a user, for an address that nobody has, the work is the same and nothing is logged:
    the time it takes tells nobody which addresses exist."""
    try:
        await attempts.count(tx, site, _FAILURES, email_key)
    except TooMany:
        return
    if user_id is not None:
        await members.record_of_user(tx, site, actors.ANY_MEMBER, user_id, "login.failed")


async def record_ended_sessions(tx: Tx, site: Site, user_id: str, *, all_others: bool) -> None:
    action = "session.others_ended" if all_others else "session.ended"
    actor = actors.member(user_id)
    await members.record_of_user(tx, site, actor, user_id, action)


BROWSER_LASTS_MS = 365 * DAY_MS
_PURPOSE = "known browser"


class _KnownBrowser(msgspec.Struct, array_like=True):
    browser: str
    user_id: str
    password: str
    """Its fingerprint: with a new password the browser must become known again."""
    expires_ms: int


def browser_token(site: Site, user_id: str, password: str, *, now_ms: int) -> str:
    """`password` is the fingerprint of the one that they logged in with."""
    known = _KnownBrowser(secrets.token_hex(8), user_id, password, now_ms + BROWSER_LASTS_MS)
    return site.seal(_PURPOSE, msgspec.json.encode(known))


def find_browser(
    site: Site, token: str, user_id: str, password_hash: str | None, *, now_ms: int
) -> str | None:
    """The browser's id, if this user logged in there with the password that they still have."""
    known = _read_browser(site, token, user_id, now_ms=now_ms)
    is_same = known is not None and known.password == passwords.fingerprint(site, password_hash)
    return known.browser if known is not None and is_same else None


def is_known_browser(site: Site, token: str, user_id: str, *, now_ms: int) -> bool:
    """Whether this user logged in there, with this password or another one."""
    return _read_browser(site, token, user_id, now_ms=now_ms) is not None


def _read_browser(site: Site, token: str, user_id: str, *, now_ms: int) -> _KnownBrowser | None:
    content = site.unseal(_PURPOSE, token)
    if content is None:
        return None
    known = msgspec.json.decode(content, type=_KnownBrowser)
    return known if known.user_id == user_id and known.expires_ms > now_ms else None
