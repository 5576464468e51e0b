"""Where the link of an invitation leads: to an account of one's own, or into a team."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.accounts import invitations
from honeyguide.pages import forms
from honeyguide.pages.dashboard.login import joining, login, session_start
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.services import PageServices
from honeyguide.store.tx import Tx

FIELDS = {**login.INVITED, **joining.NEW_LOGIN}


async def welcome_form(tx: Tx, request: PageRequest) -> PageView:
    ticket = await invitations.find(tx, "invitation", request.at("token"))
    if ticket is None:
        return login.link_expired(request, "/signup")
    if ticket.role is not None:
        return await joining.page(tx, request, ticket)
    asks_code = ticket.was_shown and request.services.site.has_mail_server
    return request.view(
        "welcome.html", email=ticket.email, given=request.fields, asks_code=asks_code
    )


async def welcome(services: PageServices, request: PageRequest) -> PageView | Response:
    """Opens the account that an invitation was for, or makes somebody a member of one."""
    token = request.at("token")
    ticket = await login.use_link(request, "invitation")
    if ticket is None:
        return login.link_expired(request, "/signup")
    if ticket.role is not None:
        return await joining.join(services, request, ticket)
    forms.require(login.INVITED, request.fields)
    password_hash = await login.hash_for_new_account(request, ticket.email or "")
    user_id = await services.store.write(
        invitations.accept,
        token,
        name=request.text("name"),
        password_hash=password_hash,
    )
    first_page = "/network" if ticket.as_partner else "/"
    started = session_start.start_login(request, user_id, password_hash, first_page)
    return await session_start.enter(request, started, login.WELCOME)
