"""The account page: API keys, profile and the administrator's invitations."""

from __future__ import annotations

import json
import shlex

from starlette.responses import Response

from honeyguide.accounts import accounts, invitations, keys
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.store.tx import Tx

KEY_PLACEHOLDER = "YOUR_API_KEY"
# The form of each section, which posts to /account/<section>.
FORMS = {
    "keys": {"name": Field("Name", "Enter a name for the key, such as the tool that will use it.")},
    "profile": {"name": Field("Account name", "Enter a name.")},
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
