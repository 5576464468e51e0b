"""The account page: API keys, profile, password, sessions and, for the administrator, invitations."""

from __future__ import annotations

import json
import shlex
from typing import Any

from starlette.responses import Response

from honeyguide.accounts import accounts, attempts, invitations, keys, passwords, sessions
from honeyguide.kernel import emails
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.pages import forms
from honeyguide.pages.dashboard import doors, figures
from honeyguide.pages.dashboard.visit import Visit
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


async def show(visit: Visit) -> Response:
    return await _page(visit)


async def _page(
    visit: Visit,
    status: int = 200,
    *,
    errors: dict[str, str] | None = None,
    new_key: str = "",
    invitation_link: str = "",
) -> Response:
    account_id, is_admin = visit.who.account_id, visit.who.is_admin

    async def load(tx: Tx) -> dict[str, Any]:
        return {
            "account": await accounts.get(tx, account_id),
            "api_keys": await keys.of_account(tx, account_id),
            "sessions": await sessions.of_account(tx, account_id, now_ms=visit.now_ms),
            "invitations": await invitations.of_inviter(tx, account_id, now_ms=visit.now_ms) if is_admin else [],
        }

    loaded = await visit.read(load)
    api_keys = loaded.pop("api_keys")
    return await visit.page(
        "account.html",
        status,
        **loaded,
        active_keys=[key for key in api_keys if key.revoked_ms is None],
        revoked_keys=[key for key in api_keys if key.revoked_ms is not None],
        campaign_id=visit.owner.campaign_id,
        snippets=_snippets(visit, new_key or KEY_PLACEHOLDER),
        rate_limit=visit.desk.settings.rate_limit,
        errors=errors or {},
        entered=visit.fields if errors else {},
        new_key=new_key,
        invitation_link=invitation_link,
        invited_email=visit.text("email"),
    )


def _missing(visit: Visit, section: str) -> dict[str, str]:
    return forms.missing(FORMS[section], visit.fields)


async def _refusal(visit: Visit, section: str, errors: dict[str, str]) -> Response:
    """The page again, with each error beside its field."""
    return await _page(visit, 400, errors={f"{section}.{field}": sentence for field, sentence in errors.items()})


def _snippets(visit: Visit, key: str) -> list[tuple[str, str]]:
    """Titles and code that is ready to paste, with the key in it."""
    url = f"{visit.desk.settings.base_url}/v1/campaigns/{visit.owner.campaign_id}/subscribers"
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


async def create_key(visit: Visit) -> Response:
    if errors := _missing(visit, "keys"):
        return await _refusal(visit, "keys", errors)

    async def create(tx: Tx) -> str:
        return await keys.create(tx, visit.who.account_id, name=visit.text("name"), now_ms=visit.now_ms)

    try:
        key = await visit.write(create)
    except Invalid as fault:
        return await _refusal(visit, "keys", forms.errors_of(fault, FORMS["keys"]))
    # Not a redirect: the key is in this one response and nowhere else.
    return await _page(visit, 201, new_key=key)


async def revoke_key(visit: Visit) -> Response:
    await visit.write(lambda tx: keys.revoke(tx, visit.who.account_id, visit.at("id"), now_ms=visit.now_ms))
    return visit.go("/account", "Key revoked. Requests with it are now refused.")


async def save_profile(visit: Visit) -> Response:
    if errors := _missing(visit, "profile"):
        return await _refusal(visit, "profile", errors)
    try:
        await visit.write(lambda tx: accounts.rename(tx, visit.who.account_id, visit.text("name")))
    except Invalid as fault:
        return await _refusal(visit, "profile", forms.errors_of(fault, FORMS["profile"]))
    return visit.go("/account", "Profile saved.")


async def save_password(visit: Visit) -> Response:
    if errors := _missing(visit, "password"):
        return await _refusal(visit, "password", errors)
    who, site = visit.who, visit.desk.site

    async def count_attempt(tx: Tx) -> str | None:
        await attempts.count(tx, site, attempts.LOGIN_BY_ACCOUNT, emails.key(who.email), now_ms=visit.now_ms)
        return await passwords.of_account(tx, who.account_id)

    try:
        password_hash = await visit.write(count_attempt)
        if not await passwords.matches(password_hash, visit.fields.get("current", "")):
            raise Invalid("That is not your current password.", param="current")
        new_hash = await passwords.hashed(passwords.checked(visit.fields.get("password", ""), email=who.email))
    except Invalid as fault:
        return await _refusal(visit, "password", forms.errors_of(fault, FORMS["password"]))

    async def change(tx: Tx) -> None:
        await passwords.set_hash(tx, who.account_id, new_hash)
        await attempts.forget(tx, site, attempts.LOGIN_BY_ACCOUNT, emails.key(who.email))

    await visit.write(change)
    return await doors.begin_session(visit, who.account_id, "/account", "Password changed. Other sessions were signed out.")


async def end_session(visit: Visit) -> Response:
    """One session by its id; without an id, all but this one."""
    session_id = visit.text("id")
    if session_id:
        await visit.write(lambda tx: sessions.end(tx, visit.who.account_id, session_id))
        return visit.go("/account", "Session signed out.")
    ended = await visit.write(lambda tx: sessions.end_others(tx, visit.who.account_id, visit.who.session_id))
    return visit.go("/account", f"{figures.plural(ended, 'other session')} signed out.")


async def invite(visit: Visit) -> Response:
    _require_admin(visit)
    if errors := _missing(visit, "invitations"):
        return await _refusal(visit, "invitations", errors)

    async def send(tx: Tx) -> str:
        inviter = await accounts.get(tx, visit.who.account_id)
        return await invitations.invite(tx, visit.desk.site, inviter, visit.text("email"), now_ms=visit.now_ms)

    try:
        link = await visit.write(send)
    except Invalid as fault:
        return await _refusal(visit, "invitations", forms.errors_of(fault, FORMS["invitations"]))
    # Not a redirect: the link is in this one response and in the email.
    return await _page(visit, invitation_link=link)


async def withdraw_invitation(visit: Visit) -> Response:
    _require_admin(visit)
    await visit.write(lambda tx: invitations.withdraw(tx, visit.who.account_id, visit.text("id")))
    return visit.go("/account", "Invitation withdrawn.")


def _require_admin(visit: Visit) -> None:
    if not visit.who.is_admin:
        raise Missing("Page not found.")
