"""Review: referrals that wait or were rejected, each with its reason, decided one by one or many at once."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.responses import Response

from honeyguide.pages.dashboard import subscribers as listed
from honeyguide.pages.dashboard.visit import Visit
from honeyguide.referrals import search
from honeyguide.store.tx import Tx

PER_PAGE = 50


async def show(visit: Visit) -> Response:
    status = "rejected" if visit.query.get("show") == "rejected" else "pending"
    before = listed.place(visit.query.get("before", ""))

    async def look(tx: Tx) -> list[search.Found]:
        return await search.judged(tx, visit.owner, status, before=before, most=PER_PAGE + 1)

    rows = await visit.read(look)
    further = ""
    if len(rows) > PER_PAGE:
        rows = rows[:PER_PAGE]
        further = "/review?" + urlencode({"show": status, "before": f"{rows[-1].received_ms}.{rows[-1].id}"})
    return await visit.page("review.html", rows=rows, status_word=status, further=further, is_first=before is None)


async def decide(visit: Visit) -> Response:
    where = listed.back(visit, "/review")
    ids = visit.several("id")
    if not ids:
        return visit.go(where, "Choose some referrals first.")
    verdict = visit.text("do") if visit.text("do") in ("verify", "reject") else "verify"
    said = await listed.decide_each(visit, ids, verdict)
    return visit.go(where, said.replace("person ", "referral ").replace("people ", "referrals "))
