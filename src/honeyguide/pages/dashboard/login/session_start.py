"""How somebody gets their session: at once, or after the code that proves their email address and
that of their second factor.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from starlette.responses import Response

from honeyguide.accounts import (
    attempts,
    email_proofs,
    logins,
    members,
    passwords,
    second_factors,
    sessions,
)
from honeyguide.accounts.sessions import NewSession, Visitor
from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.dashboard import formats, nav
from honeyguide.pages.dashboard.page_request import KEPT_SESSION_S, SESSION_S, PageRequest
from honeyguide.pages.forms import FormErrors
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx

CODE_PAGE, EMAIL_CODE_PAGE = "/login/code", "/login/email-code"
NO_ACCOUNT = "You are in no account any more. Ask an owner to invite you again."
CHANGED = "Your password was changed just now. Log in with the new one."
# How long somebody may take to enter the code after the password.
PENDING_MS = 10 * MINUTE_MS
_PENDING, _PURPOSE = "login", "login without its code"
# The cookie by which a browser is known.
KNOWN = "known"


class PendingLogin(msgspec.Struct, frozen=True):
    """The right password was entered, and the code not yet. It is in a signed cookie."""

    user_id: str
    password: str
    """Its fingerprint."""
    path: str
    is_kept: bool
    expires_ms: int


class _Begun(NamedTuple):
    token: str = ""
    """Of the new session."""
    asks: str = ""
    """Else, the page that asks for what is missing."""


def start_login(
    request: PageRequest, user_id: str, password_hash: str | None, path: str
) -> PendingLogin:
    """For somebody who entered the password that this is the hash of, or just chose it."""
    return PendingLogin(
        user_id,
        passwords.fingerprint(request.services.site, password_hash),
        path,
        bool(request.text("keep")),
        request.now_ms + PENDING_MS,
    )


async def enter(
    request: PageRequest,
    login: PendingLogin,
    flash: str = "",
    *,
    account_id: str = "",
    has_code: bool = False,
    renewed: Visitor | None = None,
) -> Response:
    """A session in this account, or without one in the user's first; or the page that asks for what
    is missing. `has_code` says that they entered the code of their second factor. `renewed` is the
    session that goes on with a new token. Without one it is a login, whoever else was logged in in
    this browser."""
    store, site, now_ms = request.services.store, request.services.site, request.now_ms
    if renewed is not None:
        login = msgspec.structs.replace(login, is_kept=renewed.is_kept)
    begun = await store.write(
        _begin, request, login, account_id, has_code=has_code, renewed=renewed
    )
    if begun.asks:
        # Nobody is welcome before they proved their address.
        response = request.go(begun.asks, flash if begun.asks == CODE_PAGE else "")
        sealed = site.seal(_PURPOSE, msgspec.json.encode(login))
        request.set_cookie(response, _PENDING, sealed, PENDING_MS // 1000)
        return response
    path = login.path
    if path == "/" and await store.read(_is_partner_only, site, begun.token):
        path = nav.PARTNER_HOME
    response = request.go(path, flash)
    seconds = KEPT_SESSION_S if login.is_kept else SESSION_S
    request.set_cookie(response, "session", begun.token, seconds)
    request.set_cookie(response, "form", "", 0)
    request.set_cookie(response, _PENDING, "", 0)
    known = logins.browser_token(site, login.user_id, login.password, now_ms=now_ms)
    request.set_cookie(response, KNOWN, known, logins.BROWSER_LASTS_MS // 1000)
    return response


async def _begin(
    tx: Tx,
    request: PageRequest,
    login: PendingLogin,
    account_id: str,
    *,
    has_code: bool,
    renewed: Visitor | None,
) -> _Begun:
    """Verifying a password takes a while, in which it may have been changed."""
    site, user_id = request.services.site, login.user_id
    if not await passwords.is_still(tx, site, user_id, login.password):
        raise FormErrors({"": CHANGED}, status=401)
    if await email_proofs.is_missing(tx, site, user_id):
        if await attempts.is_allowed(tx, site, attempts.EMAIL_CODES, user_id):
            await email_proofs.send_code(tx, site, user_id)
        return _Begun(asks=EMAIL_CODE_PAGE)
    if not has_code and await second_factors.is_on(tx, user_id):
        return _Begun(asks=CODE_PAGE)
    token = await create_session(
        tx,
        request,
        user_id,
        account_id,
        is_kept=login.is_kept,
        has_code=has_code,
        renewed=renewed,
    )
    return _Begun(token)


async def find_pending(tx: Tx, request: PageRequest) -> PendingLogin | None:
    """Unless it is too old, or the password was changed since."""
    site = request.services.site
    content = site.unseal(_PURPOSE, request.cookie(_PENDING))
    if content is None:
        return None
    pending = msgspec.json.decode(content, type=PendingLogin)
    password_hash = await passwords.of_user(tx, pending.user_id)
    is_same = passwords.fingerprint(site, password_hash) == pending.password
    return pending if is_same and pending.expires_ms > request.now_ms else None


async def create_session(
    tx: Tx,
    request: PageRequest,
    user_id: str,
    account_id: str,
    *,
    is_kept: bool,
    has_code: bool = False,
    renewed: Visitor | None = None,
) -> str:
    """The token of a new session. Each login gets a new one: one planted before is worthless. What
    was proved in a session that is renewed still counts."""
    agent = request.http.headers.get("user-agent", "")
    if renewed is None:
        site, known = request.services.site, request.cookie(KNOWN)
        is_known = logins.is_known_browser(site, known, user_id, now_ms=tx.now_ms)
        new_browser = None if is_known else formats.browser(agent)
        await logins.record(tx, site, user_id, new_browser=new_browser)
    has_code_ms = tx.now_ms if has_code else 0
    session = NewSession(
        user_id=user_id,
        account_id=account_id or await _first_account(tx, user_id),
        user_agent=agent,
        address=request.peer,
        is_kept=is_kept,
        second_factor_ms=renewed.second_factor_ms if renewed else has_code_ms,
    )
    return await sessions.begin(tx, session, instead_of=request.cookie("session"))


async def _first_account(tx: Tx, user_id: str) -> str:
    """Where somebody who logs in finds themselves."""
    joined = await members.of_user(tx, user_id)
    if not joined:
        raise FormErrors({"": NO_ACCOUNT}, status=403)
    return joined[0].account_id


async def _is_partner_only(tx: Tx, site: Site, token: str) -> bool:
    who = await sessions.find(tx, token)
    if who is None:
        return False
    tenant = Tenant(who.account_id, who.campaign_id)
    return await nav.is_partner_only(Reading(tx, site, tenant, tx.now_ms), who)
