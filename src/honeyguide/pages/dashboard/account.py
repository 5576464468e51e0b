"""The account page: API keys, profile, password, sessions and, for the administrator, invitations."""

from __future__ import annotations

import json
import shlex
from typing import Any

from starlette.responses import Response

from honeyguide.accounts import accounts, attempts, invitations, keys, passwords, sessions
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats, login
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.forms import Field
from honeyguide.store.tx import Tx

KEY_PLACEHOLDER = "YOUR_API_KEY"
# The form of each section.
FORMS = {
    "keys": {"name": Field("Name", "Enter a name for the key, such as the tool that will use it.")},
    "profile": {"name": Field("Account name", "Enter a name.")},
    "password": {
        "current": Field("Current password", "Enter your current password."),
        "password": Field("New password", "Choose a new password."),
    },
    "invitations": {"email": Field("Email", "Enter an email address.")},
}


async def show(request: PageRequest) -> Response:
    return await _page(request)


async def _page(
    request: PageRequest,
    status: int = 200,
    *,
    errors: dict[str, str] | None = None,
    new_key: str = "",
    invitation_link: str = "",
) -> Response:
    account_id, is_admin = request.who.account_id, request.who.is_admin

    async def load(tx: Tx) -> dict[str, Any]:
        return {
            "account": await accounts.get(tx, account_id),
            "api_keys": await keys.of_account(tx, account_id),
            "sessions": await sessions.of_account(tx, account_id, now_ms=request.now_ms),
            "invitations": await invitations.of_inviter(tx, account_id, now_ms=request.now_ms)
            if is_admin
            else [],
        }

    loaded = await request.read(load)
    api_keys = loaded.pop("api_keys")
    return await request.page(
        "account.html",
        status,
        **loaded,
        active_keys=[key for key in api_keys if key.revoked_ms is None],
        revoked_keys=[key for key in api_keys if key.revoked_ms is not None],
        campaign_id=request.tenant.campaign_id,
        snippets=_snippets(request, new_key or KEY_PLACEHOLDER),
        rate_limit=request.services.settings.rate_limit,
        errors=errors or {},
        entered=request.fields if errors else {},
        new_key=new_key,
        invitation_link=invitation_link,
        invited_email=request.text("email"),
    )


def _missing(request: PageRequest, section: str) -> dict[str, str]:
    return forms.missing(FORMS[section], request.fields)


async def _refusal(request: PageRequest, section: str, errors: dict[str, str]) -> Response:
    """The page again, with each error beside its field."""
    return await _page(
        request, 400, errors={f"{section}.{field}": sentence for field, sentence in errors.items()}
    )


def _snippets(request: PageRequest, key: str) -> list[tuple[str, str]]:
    """Titles and code that is ready to paste, with the key in it."""
    url = f"{request.services.settings.base_url}/v1/campaigns/{request.tenant.campaign_id}/subscribers"
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


async def create_key(request: PageRequest) -> Response:
    if errors := _missing(request, "keys"):
        return await _refusal(request, "keys", errors)

    async def create(tx: Tx) -> str:
        return await keys.create(
            tx, request.who.account_id, name=request.text("name"), now_ms=request.now_ms
        )

    try:
        key = await request.write(create)
    except Invalid as fault:
        return await _refusal(request, "keys", forms.errors_of(fault, FORMS["keys"]))
    # Not a redirect: the key is in this one response and nowhere else.
    return await _page(request, 201, new_key=key)


async def revoke_key(request: PageRequest) -> Response:
    await request.write(
        lambda tx: keys.revoke(tx, request.who.account_id, request.at("id"), now_ms=request.now_ms)
    )
    return request.go("/account", "Key revoked. Requests with it are now refused.")


async def save_profile(request: PageRequest) -> Response:
    if errors := _missing(request, "profile"):
        return await _refusal(request, "profile", errors)
    try:
        await request.write(
            lambda tx: accounts.rename(tx, request.who.account_id, request.text("name"))
        )
    except Invalid as fault:
        return await _refusal(request, "profile", forms.errors_of(fault, FORMS["profile"]))
    return request.go("/account", "Profile saved.")


async def save_password(request: PageRequest) -> Response:
    if errors := _missing(request, "password"):
        return await _refusal(request, "password", errors)
    who, site = request.who, request.services.site

    async def count_attempt(tx: Tx) -> str | None:
        await attempts.count(
            tx,
            site,
            attempts.LOGIN_BY_ACCOUNT,
            EmailAddress(who.email).key,
            now_ms=request.now_ms,
        )
        return await passwords.of_account(tx, who.account_id)

    try:
        password_hash = await request.write(count_attempt)
        if not await passwords.matches(password_hash, request.fields.get("current", "")):
            raise Invalid("That is not your current password.", param="current")
        new_hash = await passwords.hashed(
            passwords.checked(request.fields.get("password", ""), email=who.email)
        )
    except Invalid as fault:
        return await _refusal(request, "password", forms.errors_of(fault, FORMS["password"]))

    async def change(tx: Tx) -> None:
        await passwords.set_hash(tx, who.account_id, new_hash)
        await attempts.forget(tx, site, attempts.LOGIN_BY_ACCOUNT, EmailAddress(who.email).key)

    await request.write(change)
    return await login.begin_session(
        request, who.account_id, "/account", "Password changed. Other sessions were signed out."
    )


async def end_session(request: PageRequest) -> Response:
    """One session by its id; without an id, all but this one."""
    session_id = request.text("id")
    if session_id:
        await request.write(lambda tx: sessions.end(tx, request.who.account_id, session_id))
        return request.go("/account", "Session signed out.")
    ended = await request.write(
        lambda tx: sessions.end_others(tx, request.who.account_id, request.who.session_id)
    )
    return request.go("/account", f"{formats.plural(ended, 'other session')} signed out.")


async def invite(request: PageRequest) -> Response:
    _require_admin(request)
    if errors := _missing(request, "invitations"):
        return await _refusal(request, "invitations", errors)

    async def send(tx: Tx) -> str:
        inviter = await accounts.get(tx, request.who.account_id)
        email = EmailAddress.parse(request.text("email"))
        return await invitations.invite(
            tx, request.services.site, inviter, email, now_ms=request.now_ms
        )

    try:
        link = await request.write(send)
    except Invalid as fault:
        return await _refusal(request, "invitations", forms.errors_of(fault, FORMS["invitations"]))
    # Not a redirect: the link is in this one response and in the email.
    return await _page(request, invitation_link=link)


async def withdraw_invitation(request: PageRequest) -> Response:
    _require_admin(request)
    await request.write(
        lambda tx: invitations.withdraw(tx, request.who.account_id, request.text("id"))
    )
    return request.go("/account", "Invitation withdrawn.")


def _require_admin(request: PageRequest) -> None:
    if not request.who.is_admin:
        raise Missing("Page not found.")
