"""The account page: profile, password, sessions and the administrator's invitations."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.accounts import (
    accounts,
    attempts,
    invitations,
    logins,
    members,
    passwords,
    sessions,
)
from honeyguide.accounts.permissions import Right
from honeyguide.kernel import actors
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats, login
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.store.tx import Tx

# The form of each section, which posts to /account/<section>.
FORMS = {
    "profile": {"name": Field("Account name", "Enter a name.")},
    "password": {
        "current": Field("Current password", "Enter your current password."),
        "password": Field("New password", "Choose a new password."),
    },
    "invitations": {"email": Field("Email", "Enter an email address.")},
}


async def show(tx: Tx, request: PageRequest) -> PageView:
    return await _page(tx, request)


async def _page(
    tx: Tx, request: PageRequest, status: int = 200, *, invitation_link: str = ""
) -> PageView:
    account_id, now_ms = request.who.account_id, request.now_ms
    invited = (
        await invitations.of_inviter(tx, account_id, now_ms=now_ms) if request.who.is_admin else []
    )
    return request.view(
        "account.html",
        status,
        account=await accounts.get(tx, account_id),
        may_use_keys=request.who.may(Right.ACCOUNT),
        sessions=await sessions.of_user(tx, request.who.user_id, now_ms=now_ms),
        invitations=invited,
        errors=_errors_by_section(request),
        entered=request.fields if request.errors else {},
        invitation_link=invitation_link,
        invited_email=request.text("email"),
    )


def _errors_by_section(request: PageRequest) -> dict[str, str]:
    """The errors as "section.field": two sections have a field of the same name."""
    section = request.http.url.path.removeprefix("/account/")
    return {f"{section}.{field}": sentence for field, sentence in request.errors.items()}


async def save_profile(tx: Tx, request: PageRequest) -> Response:
    forms.require(FORMS["profile"], request.fields)
    await accounts.rename(request.change(tx), request.text("name"))
    return request.go("/account", "Profile saved.")


async def save_password(services: PageServices, request: PageRequest) -> Response:
    forms.require(FORMS["password"], request.fields)
    current_hash = await services.store.write(_count_attempt, request)
    if not await passwords.matches(current_hash, request.fields["current"]):
        raise Invalid("That is not your current password.", param="current")
    new_password = passwords.checked(request.fields["password"], email=request.who.email)
    await services.store.write(_set_password, request, await passwords.hashed(new_password))
    return await login.begin_session(
        request,
        request.who.user_id,
        "/account",
        "Password changed. Other sessions were signed out.",
        account_id=request.who.account_id,
    )


async def _count_attempt(tx: Tx, request: PageRequest) -> str | None:
    """The hash of the current password, unless there were too many attempts lately."""
    key = EmailAddress(request.who.email).key
    await attempts.count(
        tx, request.services.site, attempts.LOGIN_BY_ACCOUNT, key, now_ms=request.now_ms
    )
    return await passwords.of_user(tx, request.who.user_id)


async def _set_password(tx: Tx, request: PageRequest, password_hash: str) -> None:
    actor, user_id = actors.member(request.who.user_id), request.who.user_id
    await members.change_password(
        tx, request.services.site, actor, user_id, password_hash, now_ms=request.now_ms
    )
    key = EmailAddress(request.who.email).key
    await attempts.forget(tx, request.services.site, attempts.LOGIN_BY_ACCOUNT, key)


async def end_session(tx: Tx, request: PageRequest) -> Response:
    """One session by its id; without an id, all but this one."""
    session_id, user_id = request.text("id"), request.who.user_id
    ended = 1
    if session_id:
        await sessions.end(tx, user_id, session_id)
    else:
        ended = await sessions.end_others(tx, user_id, request.who.session_id)
    if ended:
        await logins.record_ended_sessions(
            tx,
            request.services.site,
            user_id,
            all_others=not session_id,
            now_ms=request.now_ms,
        )
    if session_id:
        return request.go("/account", "Session signed out.")
    return request.go("/account", f"{formats.plural(ended, 'other session')} signed out.")


async def invite(tx: Tx, request: PageRequest) -> PageView:
    forms.require(FORMS["invitations"], request.fields)
    email = EmailAddress.parse(request.text("email"))
    as_partner = bool(request.text("as_partner"))
    link = await invitations.invite(request.change(tx), email, as_partner=as_partner)
    # Not a redirect: the link is in this one response and in the email.
    return await _page(tx, request, invitation_link=link)


async def withdraw_invitation(tx: Tx, request: PageRequest) -> Response:
    await invitations.withdraw(request.change(tx), request.text("id"))
    return request.go("/account", "Invitation withdrawn.")
