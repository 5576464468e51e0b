"""The account page: its name and that of the login. And closing the account: what is pending and
owed, what to download first, and how to keep it.
"""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.account_life import closing
from honeyguide.accounts import accounts, users
from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

# The form of each section, which posts to /account/<section>.
FORMS = {
    "profile": {"name": Field("Account name", "Enter a name.")},
    "name": {"your_name": Field("Your name", "Enter your name.")},
}


CLOSE_PAGE = "/account/close"
CLOSE_FIELDS = {"newsletter": Field("Name of the newsletter", "Type the name of the newsletter.")}


async def show(at: Reading, request: PageRequest) -> PageView:
    return request.view(
        "account.html",
        account=await accounts.get(at.tx, request.who.account_id),
        errors=_errors_by_section(request),
        entered=request.fields if request.errors else {},
    )


def _errors_by_section(request: PageRequest) -> dict[str, str]:
    """The errors as "section.field": two sections have a field of the same name."""
    section = request.http.url.path.removeprefix("/account/")
    return {f"{section}.{field}": sentence for field, sentence in request.errors.items()}


async def save_profile(change: Change, request: PageRequest) -> Response:
    forms.require(FORMS["profile"], request.fields)
    await accounts.rename(change, request.text("name"))
    return request.go("/account", "Profile saved.")


async def save_name(change: Change, request: PageRequest) -> Response:
    """What colleagues see instead of the email address."""
    forms.require(FORMS["name"], request.fields)
    await users.rename(change.tx, request.who.user_id, request.text("your_name"))
    return request.go("/account", "Your name is saved.")


async def close_form(at: Reading, request: PageRequest) -> PageView:
    account = await accounts.get(at.tx, request.who.account_id)
    return request.view(
        "account_close.html",
        account=account,
        owed=await closing.owed(at),
        counted=closing.MOST_COUNTED,
        wait_days=closing.WAIT_DAYS,
        keep_years=request.services.settings.keep_closed_years,
        newsletter=request.who.campaign_name,
        entered=request.text("newsletter"),
        money=money.show,
    )


async def close(change: Change, request: PageRequest) -> Response:
    forms.require(CLOSE_FIELDS, request.fields)
    if request.text("newsletter").casefold() != request.who.campaign_name.strip().casefold():
        raise Invalid(
            "{field} must be {name}, as it is written above.",
            param="newsletter",
            name=request.who.campaign_name,
        )
    closes_ms = await closing.ask(change)
    day = formats.day(closes_ms)
    return request.go(CLOSE_PAGE, f"The account will be closed on {day}. All owners get an email.")


async def keep(change: Change, request: PageRequest) -> Response:
    await closing.keep(change)
    return request.go("/account", "The account is kept, and everything goes on as before.")
