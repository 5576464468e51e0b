"""Pausing and resuming accounts, on the administrator's page."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.account_life import pausing
from honeyguide.accounts import accounts
from honeyguide.kernel import actors
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import is_id
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.subscribers import campaigns

PAGE = "/administration#h-accounts"


async def pause_or_resume(tx: Tx, request: PageRequest) -> Response:
    account_id = request.text("account")
    if not is_id(account_id):
        raise Missing("There is no such account.")
    account = await accounts.get(tx, account_id)
    tenant = await campaigns.tenant_of(tx, account_id)
    actor = actors.member(request.who.user_id)
    change = Change(tx, request.services.site, tenant, actor, request.now_ms)
    name = account.name or account.email
    if request.text("do") == "pause":
        await pausing.pause(change)
        return request.go(PAGE, f"{name} is paused. Its owners get an email.")
    if request.text("do") == "resume":
        await pausing.resume(change)
        return request.go(PAGE, f"{name} goes on. Its owners get an email.")
    raise Invalid("Choose what to do with the account.")
