"""Referrals to review: suspicious, pending or rejected, each with its reason."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from honeyguide.pages.dashboard import subscribers as listed
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.services import PageServices
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
    List(
        "suspected",
        "/review",
        "Needs review",
        "Suspicious referrals waiting for you. They are verified automatically if you do nothing.",
        "Nothing to review",
        "When screening is set to strong, suspicious referrals appear here.",
    ),
    List(
        "pending",
        "/review?show=pending",
        "All pending",
        "Every pending referral, including those in the holding period "
        "or waiting for email confirmation.",
        "No pending referrals",
        "Suspicious referrals and new ones in the holding period appear here.",
    ),
    List(
        "rejected",
        "/review?show=rejected",
        "Rejected",
        "Rejected referrals and the reason for each. You can still verify one.",
        "No rejected referrals",
        "Self-referrals, disposable email addresses and circular referrals appear here, "
        "each with its reason.",
    ),
)


async def show(tx: Tx, request: PageRequest) -> PageView:
    chosen = next((each for each in LISTS if each.key == request.query.get("show")), LISTS[0])
    before = listed.read_cursor(request.query.get("before", ""))
    rows = await search.judged(tx, request.tenant, chosen.key, before=before, most=PER_PAGE + 1)
    further = ""
    if len(rows) > PER_PAGE:
        rows = rows[:PER_PAGE]
        further = "/review?" + urlencode(
            {"show": chosen.key, "before": f"{rows[-1].received_ms}.{rows[-1].id}"}
        )
    return request.view(
        "review.html",
        rows=rows,
        lists=LISTS,
        chosen=chosen,
        further=further,
        is_first=before is None,
    )


async def decide(services: PageServices, request: PageRequest) -> Response:
    where = listed.back(request, "/review")
    ids = request.several("id")
    if not ids:
        return request.go(where, "Select at least one referral first.")
    verdict = request.text("do") if request.text("do") in ("verify", "reject") else "verify"
    done, refusal = await listed.decide_each(services, request, ids, verdict)
    return request.go(where, listed.outcome("referral", verdict, done, refusal))
