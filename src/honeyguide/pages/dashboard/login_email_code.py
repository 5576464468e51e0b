"""A step of the first login: the code that was emailed, which proves the address."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.accounts import attempts, email_proofs, logins, users
from honeyguide.pages import forms
from honeyguide.pages.dashboard import login_code, session_start
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.session_start import PendingLogin
from honeyguide.pages.forms import Field, FormErrors
from honeyguide.pages.services import PageServices
from honeyguide.store.tx import Tx

FORM = {"code": Field("Code", "Enter the code that we emailed to you.")}
WRONG = "That code is not right. Enter the one from the latest email, or log in again for another."


async def show(tx: Tx, request: PageRequest) -> PageView | Response:
    if request.visitor is not None:
        return request.go("/")
    return await page(tx, request)


async def page(tx: Tx, request: PageRequest) -> PageView | Response:
    pending = await session_start.find_pending(tx, request)
    if pending is None:
        return request.go("/login")
    user = await users.get(tx, pending.user_id)
    return request.view("login_email_code.html", email=user.email)


async def log_in(services: PageServices, request: PageRequest) -> Response:
    forms.require(FORM, request.fields)
    pending = await services.store.read(session_start.find_pending, request)
    if pending is None:
        return request.go("/login", login_code.TOO_LATE)
    if not await services.store.write(_use, request, pending):
        raise FormErrors({"code": WRONG}, status=401)
    return await session_start.enter(request, pending)


async def _use(tx: Tx, request: PageRequest, pending: PendingLogin) -> bool:
    site, user_id, now_ms = request.services.site, pending.user_id, request.now_ms
    await attempts.count(tx, site, attempts.CODE_BY_USER, user_id, now_ms=now_ms)
    if await email_proofs.use_code(tx, site, user_id, request.text("code"), now_ms=now_ms):
        await attempts.take_back(tx, site, attempts.CODE_BY_USER, user_id)
        return True
    await logins.record_failure(tx, site, user_id, user_id, now_ms=now_ms)
    return False
