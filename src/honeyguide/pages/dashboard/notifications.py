"""The account's notifications by day, each with the email that said the same."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import groupby
from zoneinfo import ZoneInfo

from starlette.responses import Response

from honeyguide.kernel.paging import Page
from honeyguide.kernel.periods import day_of, days_later
from honeyguide.mail import notifications
from honeyguide.mail.notifications import ShownNotification
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.services import PageServices
from honeyguide.store.reading import reads_account

MOST_SHOWN = 100


async def show(services: PageServices, request: PageRequest) -> Response:
    """Shows what is new as new, and only then marks it as read."""
    account_id = request.who.account_id
    rows = await services.store.snapshot(
        reads_account(notifications.page_of, request.services.site, account_id, request.now_ms),
        Page(1, MOST_SHOWN),
    )
    today = day_of(request.now_ms, request.zone)
    view = request.view(
        "notifications.html", days=_by_day(rows, today, request.zone), zone=request.zone
    )
    response = await request.render(view)
    if any(row.notification.read_ms is None for row in rows):
        await services.store.write(notifications.read_all, account_id)
    return response


def _by_day(
    rows: Sequence[ShownNotification], today: date, zone: ZoneInfo
) -> list[tuple[str, list[ShownNotification]]]:
    """With the names of the days, newest first."""
    names = {today: "Today", days_later(today, -1): "Yesterday"}
    return [
        (names.get(day) or formats.date_in_words(day), list(of_day))
        for day, of_day in groupby(rows, lambda row: day_of(row.notification.created_ms, zone))
    ]
