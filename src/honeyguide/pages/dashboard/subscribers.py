"""Subscribers: find, filter, sort, and decide for many at once. The address holds the whole state of the list."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response, StreamingResponse

from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.paging import Page
from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.downloads import attachment
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
# Who decided, where a person did it here.
BY = lifecycle.OPERATOR


def place(text: str) -> tuple[int, str] | None:
    number, _, row_id = text.partition(".")
    return (
        (int(number), row_id)
        if number.isascii() and number.isdigit() and len(number) < 17 and row_id
        else None
    )


def _page_number(text: str) -> int:
    return (
        min(int(text), 1_000_000)
        if text.isascii() and text.isdigit() and 0 < len(text) < 8 and int(text)
        else 1
    )


async def show(request: PageRequest) -> Response:
    query = request.query
    chosen = query.get("show", "all") if query.get("show", "all") in search.SHOWS else "all"
    sort = query.get("sort", "newest") if query.get("sort", "newest") in search.SORTS else "newest"
    text, page = query.get("q", "")[:254], _page_number(query.get("page", "1"))
    before = place(query.get("before", ""))

    async def look(tx: Tx) -> dict[str, Any]:
        total = await page_index.total(tx, request.tenant.campaign_id, "all")
        if text.strip():
            return {
                "rows": await search.by_prefix(tx, request.tenant, text, chosen, most=PER_PAGE),
                "total": total,
                "pages": 1,
            }
        if chosen in subscribers.KINDS and sort == "newest":
            found, count = await subscribers.page_of(
                tx, request.tenant, chosen, Page(page, PER_PAGE)
            )
            pages = Page(page, PER_PAGE).total_pages(count)
            return {
                "rows": await search.of_ids(tx, request.tenant, [row.id for row in found]),
                "total": total,
                "count": count,
                "pages": pages,
            }
        rows = await search.ordered(
            tx, request.tenant, chosen, sort, before=before, most=PER_PAGE + 1
        )
        return {"rows": rows, "total": total, "pages": 1}

    found = await request.read(look)
    rows, state = found["rows"], {"show": chosen, "sort": sort, "q": text}
    further = ""
    if len(rows) > PER_PAGE:
        rows = rows[:PER_PAGE]
        last = rows[-1]
        further = _link(state, before=f"{_key(last, chosen, sort)}.{last.id}")
    return await request.page(
        "subscribers.html",
        rows=rows,
        total=found["total"],
        count=found.get("count"),
        pages=found["pages"],
        page=page,
        shows=SHOWS,
        sorts=SORTS,
        state=state,
        further=further,
        is_first=before is None,
        link=lambda number: _link(state, page=number),
        here=_link(state, page=page) if page > 1 else _link(state),
        near_limit=bool(text.strip()) and len(rows) == PER_PAGE,
    )


def _key(row: search.FoundSubscriber, chosen: str, sort: str) -> int:
    if chosen in ("pending", "rejected"):
        return row.received_ms
    return row.referrals_verified if sort == "best" else row.created_ms


def _link(state: dict[str, str], **more: object) -> str:
    kept = {
        name: str(value)
        for name, value in {**state, **more}.items()
        if value and (name, value) not in _DEFAULTS
    }
    return f"/subscribers?{urlencode(kept)}" if kept else "/subscribers"


_DEFAULTS = (("show", "all"), ("sort", "newest"), ("page", 1))


async def decide_each(request: PageRequest, ids: list[str], verdict: str) -> tuple[int, str]:
    """How many were decided, and why the first of the others was not. Each has its own transaction, so that one refusal does
    not stop the rest."""
    done, refusal = 0, ""
    for wanted in dict.fromkeys(ids[:MOST_AT_ONCE]):

        async def work(tx: Tx, wanted: str = wanted) -> None:
            if verdict == "erase":
                await signups.erase(tx, request.tenant, wanted, now_ms=request.now_ms)
            else:
                word = {"verify": "verified", "reject": "rejected"}[verdict]
                await signups.decide(
                    tx,
                    request.services.site,
                    request.tenant,
                    wanted,
                    word,
                    by=BY,
                    now_ms=request.now_ms,
                )

        try:
            await request.write(work)
            done += 1
        except (Invalid, Missing) as fault:
            refusal = refusal or fault.message
    return done, refusal


def outcome(noun: str, verdict: str, done: int, refusal: str) -> str:
    """What to tell the operator afterwards: "2 referrals verified." and why others were not."""
    verb = {"verify": "verified", "reject": "rejected", "erase": "erased"}[verdict]
    result = f"{formats.plural(done, noun)} {verb}." if done or not refusal else "Nothing changed."
    return f"{result} {refusal}".strip()


def _verdict(request: PageRequest) -> str:
    verdict = request.text("do")
    if verdict not in ("verify", "reject", "erase"):
        raise Invalid("Choose an action: verify, reject or erase.")
    return verdict


def back(request: PageRequest, otherwise: str) -> str:
    """The list somebody came from, if it is one of ours."""
    path = request.text("back")
    is_ours = path.startswith(("/subscribers", "/review")) or path == "/"
    return path if is_ours and "\\" not in path and path.isprintable() else otherwise


async def decide(request: PageRequest) -> Response:
    ids = request.several("id")
    if not ids:
        return request.go(back(request, "/subscribers"), "Select at least one subscriber first.")
    verdict = _verdict(request)
    return request.go(
        back(request, "/subscribers"),
        outcome("subscriber", verdict, *await decide_each(request, ids, verdict)),
    )


async def export(request: PageRequest) -> Response:
    """Everybody, or one list of them, as it is read: the file may be larger than our memory."""
    chosen = (
        request.query.get("show", "all")
        if request.query.get("show", "all") in search.SHOWS
        else "all"
    )
    store, tenant, site = request.services.store, request.tenant, request.services.site

    async def lines() -> AsyncIterator[str]:
        yield csv_text([exporting.COLUMNS])
        async for rows in exporting.batches(store, tenant, chosen):
            yield csv_text(exporting.line(site, row) for row in rows)

    headers = attachment(f"subscribers-{formats.day(request.now_ms).replace(' ', '-')}.csv")
    return StreamingResponse(lines(), media_type="text/csv; charset=utf-8", headers=headers)
