"""Closing the account: what is pending and owed, what to download first, and how to keep it."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.account_life import closing
from honeyguide.accounts import accounts
from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

PAGE = "/account/close"
FIELDS = {"newsletter": Field("Name of the newsletter", "Type the name of the newsletter.")}


async def show(at: Reading, request: PageRequest) -> PageView:
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
    forms.require(FIELDS, request.fields)
    if request.text("newsletter").casefold() != request.who.campaign_name.strip().casefold():
        raise Invalid(
            "{field} must be {name}, as it is written above.",
            param="newsletter",
            name=request.who.campaign_name,
        )
    closes_ms = await closing.ask(change)
    day = formats.day(closes_ms)
    return request.go(PAGE, f"The account will be closed on {day}. All owners get an email.")


async def keep(change: Change, request: PageRequest) -> Response:
    await closing.keep(change)
    return request.go("/account", "The account is kept, and everything goes on as before.")
