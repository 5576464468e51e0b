"""Review: referrals that wait for the operator, that wait at all or were rejected, each with its reason, decided one by one or
many at once.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from honeyguide.pages.dashboard import subscribers as listed
from honeyguide.pages.dashboard.visit import Visit
from honeyguide.referrals import search
from honeyguide.store.tx import Tx

PER_PAGE = 50


class List(NamedTuple):
    key: str
    path: str
    name: str
    words: str
    empty: str
    empty_words: str


LISTS = (
    List("suspected", "/review", "Waiting for you",
         "What looked odd and wants your eye. Nothing here is lost if you do nothing.",
         "Nothing waits for you", "Suspicious referrals wait here when screening is strong."),
    List("pending", "/review?show=pending", "All that wait",
         "Also what waits only for its day or a confirmation. Nothing here is lost if you do nothing.",
         "Nothing waits", "Suspicious referrals wait here when screening is strong, and all new ones during a hold."),
    List("rejected", "/review?show=rejected", "Rejected", "What was rejected, and why. You can still verify one.",
         "Nothing was rejected", "Own addresses, throw-away mail and loops would stand here, each with its reason."),
)  # fmt: skip


async def show(visit: Visit) -> Response:
    chosen = next((each for each in LISTS if each.key == visit.query.get("show")), LISTS[0])
    before = listed.place(visit.query.get("before", ""))

    async def look(tx: Tx) -> list[search.Found]:
        return await search.judged(tx, visit.owner, chosen.key, before=before, most=PER_PAGE + 1)

    rows = await visit.read(look)
    further = ""
    if len(rows) > PER_PAGE:
        rows = rows[:PER_PAGE]
        further = "/review?" + urlencode({"show": chosen.key, "before": f"{rows[-1].received_ms}.{rows[-1].id}"})
    return await visit.page("review.html", rows=rows, lists=LISTS, chosen=chosen, further=further, is_first=before is None)


async def decide(visit: Visit) -> Response:
    where = listed.back(visit, "/review")
    ids = visit.several("id")
    if not ids:
        return visit.go(where, "Choose some referrals first.")
    verdict = visit.text("do") if visit.text("do") in ("verify", "reject") else "verify"
    said = await listed.decide_each(visit, ids, verdict)
    return visit.go(where, said.replace("person ", "referral ").replace("people ", "referrals "))
