"""Asks again for the password, and for the code of a second factor, before what a stolen session
must not do. One page asks for all such forms and carries the form on: nothing of it is in a URL.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import ImmutableMultiDict
from starlette.responses import Response

from honeyguide.accounts import attempts, passwords, sessions
from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.kernel.errors import Invalid, TooMany
from honeyguide.pages import forms
from honeyguide.pages.dashboard import login_code
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field, FormErrors
from honeyguide.pages.services import PageServices
from honeyguide.store.tx import Tx

RECENT_MS = 15 * MINUTE_MS
# Named so that no form has fields of these names.
PASSWORD, CODE = "login_password", "login_code"
_OWN = (PASSWORD, CODE, "login_email")
_PASSWORD_ONLY = {PASSWORD: Field("Password", "Enter your password.")}
FORM = {
    **_PASSWORD_ONLY,
    CODE: Field("Code", "Enter the code that your authenticator app shows."),
}
PATH = "/login/again"
WRONG = "That is not your password."


def fields_of(request: PageRequest) -> forms.Fields:
    return FORM if request.who.has_second_factor else _PASSWORD_ONLY


async def question(request: PageRequest) -> PageView | None:
    """The page that asks, unless they proved lately who they are, or do so with this form."""
    if request.now_ms - request.who.verified_ms < RECENT_MS:
        return None
    if request.http.method != "POST":
        return _page(request, PATH, [("next", request.this_page)])
    status = 200
    if PASSWORD in request.fields:
        try:
            await _prove(request)
        except (Invalid, TooMany) as fault:
            request.errors, status = forms.errors_of(fault, fields_of(request)), fault.status
    rest = [each for each in request.fields.multi_items() if each[0] not in _OWN]
    if PASSWORD in request.fields and not request.errors:
        request.fields = ImmutableMultiDict(rest)
        return None
    url = urlsplit(str(request.http.url))
    action = f"{url.path}?{url.query}" if url.query else url.path
    return _page(request, action, [each for each in rest if each[0] != "csrf"], status)


def _page(
    request: PageRequest, action: str, fields: list[tuple[str, str]], status: int = 200
) -> PageView:
    return request.view(
        "recent_login.html",
        status,
        action=forms.local_path(action, "/"),
        fields=fields,
        needs_code=bool(request.who.has_second_factor),
        is_download=action == PATH and ".csv" in dict(fields)["next"],
        back=_came_from(request),
    )


def _came_from(request: PageRequest) -> str:
    url = urlsplit(request.http.headers.get("referer", ""))
    return forms.local_path(f"{url.path}?{url.query}" if url.query else url.path, "/")


async def page(tx: Tx, request: PageRequest) -> PageView:
    """For a page that was to be seen, after a wrong password."""
    return _page(request, PATH, [("next", request.text("next"))])


async def confirm(services: PageServices, request: PageRequest) -> Response:
    """Back to the page that was to be seen."""
    await _prove(request)
    return request.go(forms.local_path(request.text("next"), "/"))


async def _prove(request: PageRequest) -> None:
    forms.require(fields_of(request), request.fields)
    store, user_id = request.services.store, request.who.user_id
    password_hash = await store.write(count_attempt, request)
    if not await passwords.matches(password_hash, request.fields[PASSWORD][: passwords.LONGEST]):
        raise FormErrors({PASSWORD: WRONG}, status=401)
    if not await store.write(_verify, request, user_id):
        raise FormErrors({CODE: login_code.WRONG}, status=401)


async def count_attempt(tx: Tx, request: PageRequest) -> str | None:
    """The hash of the current password, unless there were too many attempts lately. Not counted as
    a login: guesses of others at the login page must not keep the owner out here."""
    site, user_id = request.services.site, request.who.user_id
    await attempts.count(tx, site, attempts.PASSWORD_AGAIN, user_id, now_ms=request.now_ms)
    return await passwords.of_user(tx, user_id)


async def _verify(tx: Tx, request: PageRequest, user_id: str) -> bool:
    typed = request.text(CODE)
    if request.who.has_second_factor and not await login_code.use_typed(
        tx, request, user_id, typed
    ):
        return False
    if not await sessions.verify(tx, request.who, now_ms=request.now_ms):
        # The password was changed meanwhile, which ended the session.
        raise FormErrors({PASSWORD: WRONG}, status=401)
    await attempts.forget(tx, request.services.site, attempts.PASSWORD_AGAIN, user_id)
    return True
