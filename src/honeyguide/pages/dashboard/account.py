"""The account page: API keys, profile, password, sessions and the administrator's invitations."""

from __future__ import annotations

import json
import shlex

from starlette.responses import Response

from honeyguide.accounts import (
    accounts,
    attempts,
    invitations,
    keys,
    members,
    passwords,
    sessions,
)
from honeyguide.kernel import actors
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats, login
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.store.tx import Tx

KEY_PLACEHOLDER = "YOUR_API_KEY"
# The form of each section, which posts to /account/<section>.
FORMS = {
    "keys": {"name": Field("Name", "Enter a name for the key, such as the tool that will use it.")},
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
    tx: Tx, request: PageRequest, status: int = 200, *, new_key: str = "", invitation_link: str = ""
) -> PageView:
    account_id, now_ms = request.who.account_id, request.now_ms
    api_keys = await keys.of_account(tx, account_id)
    invited = (
        await invitations.of_inviter(tx, account_id, now_ms=now_ms) if request.who.is_admin else []
    )
    return request.view(
        "account.html",
        status,
        account=await accounts.get(tx, account_id),
        active_keys=[key for key in api_keys if key.revoked_ms is None],
        revoked_keys=[key for key in api_keys if key.revoked_ms is not None],
        sessions=await sessions.of_user(tx, request.who.user_id, now_ms=now_ms),
        invitations=invited,
        campaign_id=request.tenant.campaign_id,
        snippets=_snippets(request, new_key or KEY_PLACEHOLDER),
        rate_limit=request.services.settings.rate_limit,
        errors=_errors_by_section(request),
        entered=request.fields if request.errors else {},
        new_key=new_key,
        invitation_link=invitation_link,
        invited_email=request.text("email"),
    )


def _errors_by_section(request: PageRequest) -> dict[str, str]:
    """The errors as "section.field": two sections have a field of the same name."""
    section = request.http.url.path.removeprefix("/account/")
    return {f"{section}.{field}": sentence for field, sentence in request.errors.items()}


def _snippets(request: PageRequest, key: str) -> list[tuple[str, str]]:
    """Titles and code that is ready to paste, with the key in it."""
    base_url, campaign_id = request.services.settings.base_url, request.tenant.campaign_id
    url = f"{base_url}/v1/campaigns/{campaign_id}/subscribers"
    body = json.dumps({"email": "ana@example.org", "name": "Ana"})
    list_command = [f"curl {shlex.quote(url)}", f"-H 'X-Api-Key: {key}'"]
    add_command = [*list_command, "-H 'Content-Type: application/json'", f"-d {shlex.quote(body)}"]
    python = [
        "import requests",
        "",
        "response = requests.post(",
        f'    "{url}",',
        f'    headers={{"X-Api-Key": "{key}"}},',
        f"    json={body},",
        ")",
        'print(response.json()["subscriber"]["ref_code"])',
    ]
    return [
        ("List your subscribers", " \\\n  ".join(list_command)),
        ("Add a subscriber", " \\\n  ".join(add_command)),
        ("Add a subscriber with Python", "\n".join(python)),
    ]


async def create_key(tx: Tx, request: PageRequest) -> PageView:
    forms.require(FORMS["keys"], request.fields)
    key = await keys.create(request.change(tx), name=request.text("name"))
    # Not a redirect: the key is in this one response and nowhere else.
    return await _page(tx, request, 201, new_key=key)


async def revoke_key(tx: Tx, request: PageRequest) -> Response:
    await keys.revoke(request.change(tx), request.at("id"))
    return request.go("/account", "Key revoked. Requests with it are now refused.")


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
    if session_id := request.text("id"):
        await sessions.end(tx, request.who.user_id, session_id)
        return request.go("/account", "Session signed out.")
    ended = await sessions.end_others(tx, request.who.user_id, request.who.session_id)
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
