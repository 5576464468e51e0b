"""The bell: what this account was told, and the letters as they were sent."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from honeyguide.kernel.paging import Page
from honeyguide.mail import emails, notifications
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.store.tx import Tx

OWN_LETTERS = frozenset(
    {
        "budget_80",
        "budget_100",
        "budget_reached",
        "budget_reopened",
        "webhook_failing",
        "webhook_disabled",
        "reward_low_stock",
        "reward_out_of_stock",
    }
)

MOST_LETTERS = 30


async def show(request: PageRequest) -> Response:
    async def look(tx: Tx) -> dict[str, Any]:
        sent = await emails.of_account(tx, request.who.account_id, Page(1, 200))
        own = [letter for letter in sent if letter.kind in OWN_LETTERS][:MOST_LETTERS]
        return {
            "rows": await notifications.page_of(tx, request.who.account_id, Page(1, 100)),
            "letters": own,
            "texts": {
                letter.id: await emails.text_of(tx, request.who.account_id, letter.id)
                for letter in own
            },
        }

    shown = await request.read(look)
    response = await request.page("dashboard/notifications.html", **shown)

    async def read(tx: Tx) -> None:
        await notifications.read_all(tx, request.who.account_id, now_ms=request.now_ms)

    if any(row.read_ms is None for row in shown["rows"]):
        await request.write(read)
    return response
