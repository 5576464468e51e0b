"""One login for several newsletters: switch to another, or begin a new one."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.accounts import accounts, members, sessions
from honeyguide.accounts.permissions import Role
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Forbidden, Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

FORM = {"name": Field("Newsletter name", "Enter the name of the newsletter.")}
MOST_OWNED = 50


async def switch(change: Change, request: PageRequest) -> Response:
    await sessions.switch(change.tx, request.who, request.text("account_id"))
    return request.go("/")


async def new_form(at: Reading, request: PageRequest) -> PageView:
    return request.view("new_newsletter.html", given=request.fields)


async def create(change: Change, request: PageRequest) -> Response:
    """Where accounts are by invitation, somebody who owns one may open another."""
    forms.require(FORM, request.fields)
    joined = await members.of_user(change.tx, request.who.user_id)
    owned = [each for each in joined if each.role == Role.OWNER]
    if not owned and request.services.settings.signups != "open":
        raise Forbidden("New accounts are by invitation here. Ask the administrator for one.")
    if len(owned) >= MOST_OWNED:
        raise Invalid("You own {most} newsletters, which is the most.", most=MOST_OWNED)
    name = request.text("name")
    made = await accounts.open_another(
        change.tx,
        request.who.user_id,
        EmailAddress(request.who.email),
        name=name,
    )
    await sessions.switch(change.tx, request.who, made.account_id)
    return request.go("/", f"{name} is ready. You switch between newsletters at the top left.")
