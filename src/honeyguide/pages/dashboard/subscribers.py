"""Subscribers: find, filter, sort, and decide about many at once.

The URL holds the whole state of the list.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response, StreamingResponse

from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.paging import Page
from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.downloads import attachment
from honeyguide.pages.services import PageServices
from honeyguide.referrals import lifecycle, page_index, search, subscribers
from honeyguide.signups import exporting, signups
from honeyguide.store.tx import Tx

PER_PAGE = 50
MOST_AT_ONCE = 200

SHOWS = (
    ("all", "Everyone"),
    ("referrals", "Referred"),
    ("advocates", "Advocates"),
    ("pending", "Pending referral"),
    ("rejected", "Rejected referral"),
    ("unsubscribed", "Unsubscribed"),
)
SORTS = (("newest", "Newest first"), ("oldest", "Oldest first"), ("best", "Most referrals first"))
# Recorded with a decision that an operator makes here.
BY = lifecycle.OPERATOR


class Filters(NamedTuple):
    """What the URL asks for."""

    show: str
    sort: str
    q: str
    page: int
    before: search.Cursor | None

    def link(self, **more: object) -> str:
        """The list with these filters; what is the default is left out."""
        state = {"show": self.show, "sort": self.sort, "q": self.q, **more}
        kept = {
            name: str(value)
            for name, value in state.items()
            if value and (name, value) not in _DEFAULTS
        }
        return f"/subscribers?{urlencode(kept)}" if kept else "/subscribers"


_DEFAULTS = (("show", "all"), ("sort", "newest"), ("page", 1))


class FoundPage(NamedTuple):
    rows: list[search.FoundSubscriber]
    pages: int = 1
    length: int | None = None
    """Of the whole list, if it has numbered pages."""


def read_cursor(text: str) -> search.Cursor | None:
    """The last row of the page before, as "number.id"."""
    digits, _, row_id = text.partition(".")
    number = forms.whole_number(digits, digits=16)
    return (number, row_id) if number is not None and row_id else None


def _show(request: PageRequest) -> str:
    show = request.query.get("show", "all")
    return show if show in search.SHOWS else "all"


def _filters(request: PageRequest) -> Filters:
    query = request.query
    sort = query.get("sort", "newest")
    return Filters(
        _show(request),
        sort if sort in search.SORTS else "newest",
        query.get("q", "")[:254],
        forms.page_number(query.get("page", "")),
        read_cursor(query.get("before", "")),
    )


async def show(tx: Tx, request: PageRequest) -> PageView:
    filters = _filters(request)
    found = await _find(tx, request, filters)
    rows, further = found.rows, ""
    if len(rows) > PER_PAGE:
        rows = rows[:PER_PAGE]
        further = filters.link(before=f"{_sort_key(rows[-1], filters)}.{rows[-1].id}")
    return request.view(
        "subscribers.html",
        rows=rows,
        total=await page_index.total(tx, request.tenant.campaign_id, "all"),
        count=found.length,
        pages=found.pages,
        page=filters.page,
        shows=SHOWS,
        sorts=SORTS,
        state=filters,
        further=further,
        is_first=filters.before is None,
        link=lambda number: filters.link(page=number),
        here=filters.link(page=filters.page),
        near_limit=bool(filters.q.strip()) and len(rows) == PER_PAGE,
    )


async def _find(tx: Tx, request: PageRequest, filters: Filters) -> FoundPage:
    """By text; as a numbered page; or, for lists without a page index, one row too many."""
    tenant, shown = request.tenant, filters.show
    if filters.q.strip():
        return FoundPage(await search.by_prefix(tx, tenant, filters.q, shown, most=PER_PAGE))
    if shown in subscribers.KINDS and filters.sort == "newest":
        page = Page(filters.page, PER_PAGE)
        listed, count = await subscribers.page_of(tx, tenant, shown, page)
        rows = await search.of_ids(tx, tenant, [row.id for row in listed])
        return FoundPage(rows, page.total_pages(count), count)
    return FoundPage(
        await search.ordered(
            tx, tenant, shown, filters.sort, before=filters.before, most=PER_PAGE + 1
        )
    )


def _sort_key(row: search.FoundSubscriber, filters: Filters) -> int:
    if filters.show in ("pending", "rejected"):
        return row.received_ms
    return row.referrals_verified if filters.sort == "best" else row.created_ms


async def decide_each(
    services: PageServices, request: PageRequest, ids: list[str], verdict: str
) -> tuple[int, str]:
    """How many were decided, and why the first of the others was not.

    Each has its own transaction, so that one refusal does not stop the rest.
    """
    done, refusal = 0, ""
    for subscriber_id in dict.fromkeys(ids[:MOST_AT_ONCE]):
        try:
            await services.store.write(_decide_one, request, subscriber_id, verdict)
            done += 1
        except (Invalid, Missing) as fault:
            refusal = refusal or fault.message
    return done, refusal


async def _decide_one(tx: Tx, request: PageRequest, subscriber_id: str, verdict: str) -> None:
    tenant, now_ms = request.tenant, request.now_ms
    if verdict == "erase":
        await signups.erase(tx, tenant, subscriber_id, now_ms=now_ms)
    else:
        status = {"verify": "verified", "reject": "rejected"}[verdict]
        await signups.decide(
            tx, request.services.site, tenant, subscriber_id, status, by=BY, now_ms=now_ms
        )


def outcome(noun: str, verdict: str, done: int, refusal: str) -> str:
    """What to tell the operator afterwards: "2 referrals verified." and why others were not."""
    verb = {"verify": "verified", "reject": "rejected", "erase": "erased"}[verdict]
    result = f"{formats.plural(done, noun)} {verb}." if done or not refusal else "Nothing changed."
    return f"{result} {refusal}".strip()


def back(request: PageRequest, otherwise: str) -> str:
    """The list that the form was on, if it is one of ours."""
    path = forms.local_path(request.text("back"), otherwise)
    is_list = path.startswith(("/subscribers", "/review")) or path == "/"
    return path if is_list else otherwise


async def decide(services: PageServices, request: PageRequest) -> Response:
    where, ids, verdict = back(request, "/subscribers"), request.several("id"), request.text("do")
    if not ids:
        return request.go(where, "Select at least one subscriber first.")
    if verdict not in ("verify", "reject", "erase"):
        raise Invalid("Choose an action: verify, reject or erase.")
    done, refusal = await decide_each(services, request, ids, verdict)
    return request.go(where, outcome("subscriber", verdict, done, refusal))


async def export(services: PageServices, request: PageRequest) -> Response:
    day = formats.day(request.now_ms).replace(" ", "-")
    return StreamingResponse(
        _csv_parts(services, request),
        media_type="text/csv; charset=utf-8",
        headers=attachment(f"subscribers-{day}.csv"),
    )


async def _csv_parts(services: PageServices, request: PageRequest) -> AsyncIterator[str]:
    """Sent as it is read: the file may be larger than our memory."""
    yield csv_text([exporting.COLUMNS])
    after, is_last = None, False
    while not is_last:
        rows, after = await services.store.snapshot(
            exporting.batch, request.tenant, _show(request), after=after
        )
        yield csv_text(exporting.line(services.site, row) for row in rows)
        is_last = after is None
