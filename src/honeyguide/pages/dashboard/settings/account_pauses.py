"""Pausing and resuming accounts, on the administrator's page."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.account_life import pausing
from honeyguide.accounts import accounts
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import is_id
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.store.change import Change
from honeyguide.subscribers import campaigns

PAGE = "/administration#h-accounts"


async def act(change: Change, request: PageRequest) -> Response:
    account_id = request.text("account")
    if not is_id(account_id):
        raise Missing("There is no such account.")
    account = await accounts.get(change.tx, account_id)
    change = change.of(await campaigns.tenant_of(change.tx, account_id))
    name = account.name or account.email
    if request.text("do") == "pause":
        await pausing.pause(change)
        return request.go(PAGE, f"{name} is paused. Its owners get an email.")
    if request.text("do") == "resume":
        await pausing.resume(change)
        return request.go(PAGE, f"{name} goes on. Its owners get an email.")
    raise Invalid("Choose what to do with the account.")
