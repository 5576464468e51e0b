"""Asks again for the password, and for the code of a second factor, before what a stolen session
must not do. Each row of the route table says what it needs (`NeededProof`). One page asks for all
such forms and carries the form on: nothing of it is in a URL.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum, auto
from urllib.parse import urlsplit

from starlette.datastructures import ImmutableMultiDict
from starlette.responses import Response

from honeyguide.accounts import attempts, passwords, sessions
from honeyguide.accounts.sessions import Visitor
from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.kernel.errors import Invalid, TooMany
from honeyguide.pages import forms, redirects
from honeyguide.pages.dashboard.login import login_code
from honeyguide.pages.dashboard.page_request import PageRequest, PageView, referer
from honeyguide.pages.forms import Field, FormErrors
from honeyguide.pages.services import PageServices
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx

RECENT_MS = 15 * MINUTE_MS
RECENT_CODE_MS = 10 * MINUTE_MS
# Named so that no form has fields of these names.
PASSWORD, CODE = "login_password", "login_code"
_OWN = (PASSWORD, CODE, "login_email")
FORM = {
    PASSWORD: Field("Password", "Enter your password."),
    CODE: Field("Code", "Enter the code that your authenticator app shows."),
}
PATH = "/login/again"
_FILE = re.compile(r"\.(csv|jsonl)(\?|$)")
WRONG = "That is not your password."


class NeededProof(Enum):
    """What somebody must have proved a short while ago, besides having the session. A login with
    the password alone proves no second factor."""

    NONE = auto()
    CODE = auto()  # of whoever has a second factor; the form itself asks for the password
    LOGIN = auto()  # the password, and the code of whoever has a second factor


def does(*actions: str) -> Callable[[PageRequest], bool]:
    """Where a form has several buttons: those that need the proof."""
    return lambda request: request.text("do") in actions


def gives(*names: str) -> Callable[[PageRequest], bool]:
    """Where a long form has a few fields that need the proof, if they are filled in."""
    return lambda request: any(request.text(name) for name in names)


def _asked(request: PageRequest, proof: NeededProof) -> forms.Fields:
    """What must be entered now."""
    who, asked = request.who, dict[str, Field]()
    if proof is NeededProof.LOGIN and request.now_ms - who.verified_ms >= RECENT_MS:
        asked[PASSWORD] = FORM[PASSWORD]
    if who.has_second_factor and request.now_ms - who.second_factor_ms >= RECENT_CODE_MS:
        asked[CODE] = FORM[CODE]
    return asked


async def question(request: PageRequest, proof: NeededProof) -> PageView | None:
    """The page that asks, unless they proved lately who they are, or do so with this form."""
    asked = _asked(request, proof)
    if not asked:
        return None
    if request.http.method != "POST":
        return _page(request, asked, PATH, [("next", request.this_page)])
    is_answer, status = any(name in request.fields for name in asked), 200
    if is_answer:
        try:
            await _prove(request, asked)
        except (Invalid, TooMany) as fault:
            request.errors, status = forms.errors_of(fault, asked), fault.status
    rest = [each for each in request.fields.multi_items() if each[0] not in _OWN]
    if is_answer and not request.errors:
        request.fields = ImmutableMultiDict(rest)
        return None
    url = urlsplit(str(request.http.url))
    action = f"{url.path}?{url.query}" if url.query else url.path
    return _page(request, asked, action, [each for each in rest if each[0] != "csrf"], status)


def _page(
    request: PageRequest,
    asked: forms.Fields,
    action: str,
    fields: list[tuple[str, str]],
    status: int = 200,
) -> PageView:
    return request.view(
        "recent_login.html",
        status,
        action=redirects.local_path(action),
        fields=fields,
        needs_password=PASSWORD in asked,
        needs_code=CODE in asked,
        is_download=action == PATH and _FILE.search(dict(fields)["next"]) is not None,
        back=_came_from(request),
    )


def _came_from(request: PageRequest) -> str:
    url = referer(request.http)
    return redirects.local_path(f"{url.path}?{url.query}" if url.query else url.path)


async def page(at: Reading, request: PageRequest) -> PageView:
    """For a page that was to be seen, after a wrong password."""
    asked = _asked(request, NeededProof.LOGIN)
    return _page(request, asked, PATH, [("next", request.text("next"))])


async def confirm(services: PageServices, request: PageRequest) -> Response:
    """Back to the page that was to be seen."""
    await _prove(request, _asked(request, NeededProof.LOGIN))
    return request.go(redirects.local_path(request.text("next")))


async def _prove(request: PageRequest, asked: forms.Fields) -> None:
    forms.require(asked, request.fields)
    store, proved = request.services.store, request.who
    if PASSWORD in asked:
        password_hash = await store.write(count_attempt, request)
        typed = request.fields[PASSWORD][: passwords.LONGEST]
        if not await passwords.matches(password_hash, typed):
            raise FormErrors({PASSWORD: WRONG}, status=401)
        proved = proved._replace(verified_ms=request.now_ms)
    if CODE in asked:
        proved = proved._replace(second_factor_ms=request.now_ms)
    if not await store.write(_save_proof, request, asked, proved):
        raise FormErrors({CODE: login_code.WRONG}, status=401)
    request.visitor = proved


async def count_attempt(tx: Tx, request: PageRequest) -> str | None:
    """The hash of the current password, unless there were too many attempts lately. Not counted as
    a login: guesses of others at the login page must not keep the owner out here."""
    site, user_id = request.services.site, request.who.user_id
    await attempts.count(tx, site, attempts.PASSWORD_AGAIN, user_id)
    return await passwords.of_user(tx, user_id)


async def _save_proof(tx: Tx, request: PageRequest, asked: forms.Fields, proved: Visitor) -> bool:
    user_id, site = proved.user_id, request.services.site
    if CODE in asked and not await login_code.use_typed(tx, request, user_id, request.text(CODE)):
        return False
    if not await sessions.save_proof(tx, proved):
        # The password was changed meanwhile, which ended the session.
        raise FormErrors({PASSWORD: WRONG}, status=401)
    if PASSWORD in asked:
        await attempts.forget(tx, site, attempts.PASSWORD_AGAIN, user_id)
    return True
