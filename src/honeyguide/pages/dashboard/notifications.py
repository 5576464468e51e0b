"""The account's notifications, and the emails that went with them."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.kernel.paging import Page
from honeyguide.mail import emails, notifications
from honeyguide.mail.emails import QueuedEmail
from honeyguide.mail.notifications import Notification
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.services import PageServices
from honeyguide.store.tx import Tx

KINDS_SHOWN = frozenset(
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

MOST_EMAILS = 30


async def show(services: PageServices, request: PageRequest) -> Response:
    """Shows what is new as new, and only then marks it as read."""
    account_id = request.who.account_id
    rows, sent, texts = await services.store.snapshot(_load, account_id)
    response = await request.render(
        request.view("notifications.html", rows=rows, letters=sent, texts=texts)
    )
    if any(row.read_ms is None for row in rows):
        await services.store.write(notifications.read_all, account_id, now_ms=request.now_ms)
    return response


async def _load(
    tx: Tx, account_id: str
) -> tuple[list[Notification], list[QueuedEmail], dict[str, str | None]]:
    """The notifications, the emails, and the text of each email by its id."""
    sent = [
        email
        for email in await emails.of_account(tx, account_id, Page(1, 200))
        if email.kind in KINDS_SHOWN
    ][:MOST_EMAILS]
    texts = {email.id: await emails.text_of(tx, account_id, email.id) for email in sent}
    return await notifications.page_of(tx, account_id, Page(1, 100)), sent, texts
