"""Somebody who was invited into a team accepts: with a new login, or with the one they have."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.accounts import accounts, invitations, passwords, sessions, users
from honeyguide.accounts.invitations import Ticket
from honeyguide.kernel import actors, checks
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages import forms
from honeyguide.pages.dashboard.login import session_start
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.partners import shared_members
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx

NEW_LOGIN = {
    "your_name": Field("Your name", "Enter your name."),
    "password": Field("Password", "Enter a password."),
}


async def page(tx: Tx, request: PageRequest, ticket: Ticket) -> PageView:
    account = await accounts.get(tx, ticket.account_id or "")
    known = await users.find_by_email(tx, EmailAddress(ticket.email or ""))
    return request.view(
        "join.html",
        account=account.name or account.email,
        role=ticket.role,
        email=ticket.email,
        is_known=known is not None,
        is_me=_is_me(request, known.id if known else ""),
        asks_code=ticket.was_shown and request.services.site.has_mail_server,
        here=request.http.url.path,
        given=request.fields,
    )


def _is_me(request: PageRequest, user_id: str) -> bool:
    return request.visitor is not None and request.visitor.user_id == user_id


async def join(services: PageServices, request: PageRequest, ticket: Ticket) -> Response:
    joined = f"You joined as {ticket.role}."
    known = await services.store.read(users.find_by_email, EmailAddress(ticket.email or ""))
    if known is not None:
        if not _is_me(request, known.id):
            return request.go(f"/login?next={request.http.url.path}")
        await services.store.write(_join_and_switch, request)
        return request.go("/", joined)
    forms.require(NEW_LOGIN, request.fields)
    checks.name(request.text("your_name"), param="your_name")
    password = passwords.checked(request.fields["password"], email=ticket.email or "")
    password_hash = await passwords.hashed(password)
    user_id, _ = await services.store.write(
        invitations.join,
        services.site,
        request.at("token"),
        name=request.text("your_name"),
        password_hash=password_hash,
    )
    started = session_start.start_login(request, user_id, password_hash, "/")
    return await session_start.enter(request, started, joined)


async def _join_and_switch(tx: Tx, request: PageRequest) -> None:
    _, account_id = await invitations.join(
        tx,
        request.services.site,
        request.at("token"),
        user_id=request.who.user_id,
    )
    tenant, actor = Tenant(account_id, ""), actors.member(request.who.user_id)
    joined = Change(tx, request.services.site, tenant, actor, request.now_ms)
    await shared_members.notify(joined)
    await sessions.switch(tx, request.who, account_id)
