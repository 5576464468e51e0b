"""The account's notifications, each with the email that said the same."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.kernel.paging import Page
from honeyguide.mail import notifications
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.services import PageServices

MOST_SHOWN = 100


async def show(services: PageServices, request: PageRequest) -> Response:
    """Shows what is new as new, and only then marks it as read."""
    account_id = request.who.account_id
    rows = await services.store.snapshot(notifications.page_of, account_id, Page(1, MOST_SHOWN))
    response = await request.render(request.view("notifications.html", rows=rows))
    if any(row.notification.read_ms is None for row in rows):
        await services.store.write(notifications.read_all, account_id, now_ms=request.now_ms)
    return response
