"""The code that was emailed to prove an address: a step of the first login, or on the page Security
for somebody who got in without it.
"""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.accounts import attempts, email_proofs, logins, users
from honeyguide.pages import forms
from honeyguide.pages.dashboard.login import login_code, session_start
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field, FormErrors
from honeyguide.pages.services import PageServices
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx

FORM = {"code": Field("Code", "Enter the code that we emailed to you.")}
SECURITY = "/account/security#email"
WRONG = "That code is not right. Enter the one from the latest email, or ask for another."


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
    if not await services.store.write(_use, request, pending.user_id):
        raise FormErrors({"code": WRONG}, status=401)
    return await session_start.enter(request, pending)


async def send(change: Change, request: PageRequest) -> Response:
    site, user_id = request.services.site, request.who.user_id
    await attempts.count(change.tx, site, attempts.EMAIL_CODES, user_id)
    await email_proofs.send_code(change.tx, site, user_id)
    return request.go(SECURITY, f"We emailed a code to {request.who.email}. Enter it here.")


async def confirm(services: PageServices, request: PageRequest) -> Response:
    forms.require(FORM, request.fields)
    if not await services.store.write(_use, request, request.who.user_id):
        raise FormErrors({"code": WRONG}, status=401)
    return request.go(SECURITY, "Your email address is confirmed.")


async def _use(tx: Tx, request: PageRequest, user_id: str) -> bool:
    site = request.services.site
    limits = (attempts.CODE_BY_USER, attempts.EMAIL_CODE_BY_DAY)
    for limit in limits:
        await attempts.count(tx, site, limit, user_id)
    if await email_proofs.use_code(tx, site, user_id, request.text("code")):
        for limit in limits:
            await attempts.take_back(tx, site, limit, user_id)
        return True
    await logins.record_failure(tx, site, user_id, user_id)
    return False
