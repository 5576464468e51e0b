"""A new email address to log in with: asked for on the page Security, confirmed by the links in two
emails.
"""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.accounts import attempts, email_changes
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Missing
from honeyguide.pages import forms
from honeyguide.pages.dashboard.login import login
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx

SECURITY = "/account/security"
FORM = {"email": Field("New email address", "Enter an email address.")}


async def request_change(change: Change, request: PageRequest) -> Response:
    forms.require(FORM, request.fields)
    email = EmailAddress.parse(request.text("email"))
    site, user_id = request.services.site, request.who.user_id
    limit = attempts.EMAILS_BY_ACCOUNT
    await attempts.count(change.tx, site, limit, f"email change of {user_id}")
    if await attempts.is_allowed(change.tx, site, limit, f"email change to {email.key}"):
        await email_changes.ask(change.tx, site, user_id, email)
    sent = (
        f"We wrote to {request.who.email} and to {email.text}. Follow both links within 24 hours."
    )
    return request.go(SECURITY, sent)


async def keep_old_address(change: Change, request: PageRequest) -> Response:
    await email_changes.give_up(change.tx, request.who.user_id)
    return request.go(SECURITY, "Your email address stays as it is.")


async def show(tx: Tx, request: PageRequest) -> PageView:
    found = await email_changes.find(tx, request.at("token"))
    if found is None:
        return _gone(request)
    return request.view("email_change.html", email=found.change.email, is_old=found.is_old)


def _gone(request: PageRequest) -> PageView:
    return login.link_expired(request, SECURITY)


async def settle(tx: Tx, request: PageRequest) -> PageView | Response:
    site, token = request.services.site, request.at("token")
    found = await email_changes.find(tx, token)
    if found is None:
        return _gone(request)
    if request.text("do") == "stop":
        if not found.is_old:
            raise Missing("Only the old address can stop it.")
        await email_changes.give_up(tx, found.change.user_id)
        return request.go("/login", "Stopped. Your email address stays as it is.")
    visitor = request.visitor
    is_theirs = visitor is not None and visitor.user_id == found.change.user_id
    session_id = visitor.session_id if visitor is not None and is_theirs else ""
    confirmed = await email_changes.confirm(tx, site, token, session_id=session_id)
    if not confirmed.is_confirmed:
        return request.view("email_half_changed.html", email=confirmed.email, is_old=found.is_old)
    done = f"Your email address is {confirmed.email} from now on."
    return request.go(SECURITY if is_theirs else "/login", done)
