"""The account's notifications by day, each with the email that said the same. They name people as
long as those are known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import groupby
from typing import NamedTuple
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from starlette.responses import Response

from honeyguide.kernel.paging import Page
from honeyguide.kernel.periods import day_of, days_later, start_of
from honeyguide.mail import notification_kinds, notifications
from honeyguide.mail.notification_kinds import FIRST_REFERRAL
from honeyguide.mail.notifications import NotificationRow, ShownNotification
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.services import PageServices
from honeyguide.partners import rules
from honeyguide.rewards import reward_events
from honeyguide.store.reading import Reading, reads
from honeyguide.subscribers import subscribers

PER_PAGE = 50
# Older ones stand under their month.
DAYS_APART = 7


class NotificationFilters(NamedTuple):
    """What the URL asks for."""

    kind: str
    only_new: bool
    page: int

    def link(self, **other: str) -> str:
        kept = {"kind": self.kind, "show": "new" if self.only_new else "", **other}
        query = urlencode({name: value for name, value in kept.items() if value})
        return f"/notices?{query}" if query else "/notices"


class NamedNotification(NamedTuple):
    """A notification in the words of the page."""

    sentence: str
    who: str
    """The person that it names, if it is one of several."""
    row: ShownNotification


def _filters(request: PageRequest) -> NotificationFilters:
    query = request.query
    kind = query.get("kind", "")
    return NotificationFilters(
        kind if kind in notification_kinds.BY_NAME else "",
        query.get("show") == "new",
        forms.page_number(query.get("page", "")),
    )


async def show(services: PageServices, request: PageRequest) -> Response:
    """Shows what is new as new, and only then marks what is on the page as read."""
    filters, account_id = _filters(request), request.who.account_id
    read = reads(_read_page, request.services.site, request.tenant, request.now_ms)
    rows, has_more = await services.store.snapshot(read, filters)
    today = day_of(request.now_ms, request.zone)
    view = request.view(
        "notifications.html",
        days=_by_day(rows, today, request.zone),
        zone=request.zone,
        filters=filters,
        kinds=[(each.name, each.label) for each in notification_kinds.NOTIFICATION_KINDS],
        has_more=has_more,
        by_day_since_ms=start_of(days_later(today, -DAYS_APART), request.zone),
    )
    response = await request.render(view)
    shown = [each.row.notification for each in rows]
    if new := [row.id for row in shown if row.read_ms is None]:
        await services.store.write(notifications.read, account_id, new)
    return response


async def _read_page(
    at: Reading, filters: NotificationFilters
) -> tuple[list[NamedNotification], bool]:
    """The rows of the page, and whether there are more."""
    kind = notification_kinds.BY_NAME.get(filters.kind)
    found = await notifications.page_of(
        at,
        Page(filters.page, PER_PAGE),
        kinds=kind.notifications if kind else (),
        only_new=filters.only_new,
        ahead=1,
    )
    rows = found[:PER_PAGE]
    claimants = await reward_events.claimants(at, {row.notification.about for row in rows})
    named_rows = []
    for row in rows:
        one = row.notification
        claimant = claimants.get(one.about)
        named = claimant.says(one.kind) if claimant else await _first_referral(at, one)
        who = claimant.who if claimant and named else ""
        named_rows.append(NamedNotification(named or one.sentence, who, row))
    return named_rows, len(found) > PER_PAGE


async def _first_referral(at: Reading, one: NotificationRow) -> str:
    """There is one in a campaign."""
    if one.kind != FIRST_REFERRAL.name:
        return ""
    person = await subscribers.find(at, (one.link or "").rpartition("/")[2])
    referrer = await subscribers.find(at, person.referrer_id or "") if person else None
    if person is None or referrer is None:
        return ""
    names = [each.name or each.email for each in (person, referrer)]
    return f"Your first referral: {names[0]} joined through {names[1]}"


def _by_day(
    rows: Sequence[NamedNotification], today: date, zone: ZoneInfo
) -> list[tuple[str, list[list[NamedNotification]]]]:
    """With the names of the days, newest first, and what is older by its month. What a day or a
    month repeats stands together."""
    names = {today: "Today", days_later(today, -1): "Yesterday"}
    since = days_later(today, -DAYS_APART)

    def heading(each: NamedNotification) -> str:
        day = day_of(each.row.notification.created_ms, zone)
        if day >= since:
            return names.get(day) or formats.date_in_words(day)
        return rules.month_name(f"{day:%Y-%m}")

    headed = []
    for name, together in groupby(rows, heading):
        groups: dict[tuple[str, str], list[NamedNotification]] = {}
        for each in together:
            one = each.row.notification
            groups.setdefault((one.kind, one.sentence), []).append(each)
        headed.append((name, list(groups.values())))
    return headed
