"""How one logs in: second factor, password, email address and sessions."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.accounts import (
    accounts,
    attempts,
    email_changes,
    email_proofs,
    logins,
    members,
    passwords,
    second_factors,
    sessions,
)
from honeyguide.accounts.permissions import Right
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.kernel import actors
from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.login import recent_login, session_start
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx

PAGE = "/account/security"
PASSWORD = {
    "current": Field("Current password", "Enter your current password."),
    "password": Field("New password", "Choose a new password."),
}


async def show(at: Reading, request: PageRequest) -> PageView:
    who, settings = request.who, request.services.settings
    account = await accounts.get(at.tx, who.account_id)
    return request.view(
        "security.html",
        failed=request.http.url.path.rpartition("/")[2] if request.errors else "",
        sessions=await sessions.of_user(at.tx, who.user_id),
        codes_left=await second_factors.count_recovery_codes(at.tx, who.user_id),
        has_secret_key=bool(settings.secret_keys),
        is_lost=await second_factors.is_lost(
            at.tx, EncryptionKeys(settings.secret_keys), who.user_id
        ),
        is_required_here=settings.require_second_factor == "yes",
        is_required_in_account=account.needs_second_factor,
        needs_proof=request.services.site.has_mail_server
        and not await email_proofs.is_proven(at.tx, who.user_id),
        email_change=await email_changes.of_user(at.tx, who.user_id),
        new_email=request.text("email") if request.errors else "",
        is_owner=who.may(Right.ACCOUNT),
        account_name=account.name or who.campaign_name,
    )


async def save_password(services: PageServices, request: PageRequest) -> Response:
    forms.require(PASSWORD, request.fields)
    current_hash = await services.store.write(recent_login.count_attempt, request)
    if not await passwords.matches(current_hash, request.fields["current"]):
        raise Invalid("That is not your current password.", param="current")
    new_password = passwords.checked(request.fields["password"], email=request.who.email)
    password_hash = await passwords.hashed(new_password)
    await services.store.write(_set_password, request, current_hash, password_hash)
    started = session_start.start_login(request, request.who.user_id, password_hash, PAGE)
    done = "Password changed. Other sessions were logged out."
    return await session_start.enter(
        request,
        started,
        done,
        account_id=request.who.account_id,
        has_code=True,
        renewed=request.who,
    )


async def _set_password(
    tx: Tx, request: PageRequest, current_hash: str | None, password_hash: str
) -> None:
    site, user_id = request.services.site, request.who.user_id
    if not await passwords.is_still(tx, site, user_id, passwords.fingerprint(site, current_hash)):
        raise Invalid(session_start.CHANGED, param="current")
    actor = actors.member(user_id)
    await members.change_password(tx, site, actor, user_id, password_hash)
    await attempts.forget(tx, site, attempts.PASSWORD_AGAIN, user_id)


async def end_session(change: Change, request: PageRequest) -> Response:
    """One session by its id; without an id, all but this one."""
    session_id, user_id = request.text("id"), request.who.user_id
    ended = 1
    if session_id:
        await sessions.end(change.tx, user_id, session_id)
    else:
        ended = await sessions.end_others(change.tx, user_id, request.who.session_id)
    if ended:
        await logins.record_ended_sessions(
            change.tx,
            request.services.site,
            user_id,
            all_others=not session_id,
        )
    if session_id:
        return request.go(PAGE, "Session logged out.")
    return request.go(PAGE, f"{formats.plural(ended, 'other session')} logged out.")
