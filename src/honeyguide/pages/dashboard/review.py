"""Referrals to review: suspicious, pending or rejected, each with its reason, as one list or by
referrer.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from honeyguide.kernel.paging import Page
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard import subscribers as listed
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.referrals import review, search
from honeyguide.referrals.reasons import facts_of
from honeyguide.signups import confirmations, delayed_actions, delayed_kinds
from honeyguide.signups.delayed_kinds import DelayedKind
from honeyguide.store.tx import Tx

PER_PAGE = 50
GROUPS_PER_PAGE = 20
CLUSTERS_SHOWN = 6
# Decided at one press of a button: a few seconds of work.
MOST_OF_REFERRER = 1_000


class List(NamedTuple):
    key: str
    path: str
    name: str
    words: str
    empty: str
    empty_words: str

    @property
    def can_group(self) -> bool:
        return self.key in review.KINDS


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


def _chosen(key: str | None) -> List:
    return next((each for each in LISTS if each.key == key), LISTS[0])


async def show(tx: Tx, request: PageRequest) -> PageView:
    chosen = _chosen(request.query.get("show"))
    if chosen.can_group and request.query.get("by") == "referrer":
        return await _by_referrer(tx, request, chosen)
    code = request.query.get("code", "") if chosen.can_group else ""
    before = listed.read_cursor(request.query.get("before", ""))
    if code:
        ids = await review.ids_of_code(
            tx, request.tenant, chosen.key, code, before=before, most=PER_PAGE + 1
        )
        rows = await search.of_ids(tx, request.tenant, ids)
    else:
        rows = await search.judged(tx, request.tenant, chosen.key, before=before, most=PER_PAGE + 1)
    here, further = {"show": chosen.key} | ({"code": code} if code else {}), ""
    if len(rows) > PER_PAGE:
        rows = rows[:PER_PAGE]
        further = _link(**here, before=f"{rows[-1].received_ms}.{rows[-1].id}")
    return request.view(
        "review.html",
        rows=rows,
        held=await confirmations.held(tx, request.tenant, code),
        waiting=await delayed_actions.of_subjects(tx, request.tenant, [row.id for row in rows]),
        lists=LISTS,
        chosen=chosen,
        code=code,
        here=_link(**here),
        further=further,
        is_first=before is None,
        entered_reason=request.text("decision_reason") if request.errors else "",
    )


def _link(**query: str) -> str:
    return "/review?" + urlencode(query)


async def _by_referrer(tx: Tx, request: PageRequest, chosen: List) -> PageView:
    page = Page(forms.page_number(request.query.get("page", "")), GROUPS_PER_PAGE)
    groups, has_more = await review.page_of_groups(tx, request.tenant, chosen.key, page)
    here = {"show": chosen.key, "by": "referrer"}
    return request.view(
        "review_referrers.html",
        groups=groups,
        waiting=await delayed_actions.of_codes(
            tx, request.tenant, [group.referrer_code for group, _ in groups]
        ),
        facts_of=facts_of,
        clusters_shown=CLUSTERS_SHOWN,
        newest=review.NEWEST,
        lists=LISTS,
        chosen=chosen,
        further=_link(**here, page=str(page.page + 1)) if has_more else "",
        first=_link(**here),
        is_first=page.page == 1,
    )


async def decide(tx: Tx, request: PageRequest) -> Response:
    where = listed.back(request, "/review")
    ids = request.several("id")[: listed.MOST_AT_ONCE]
    if not ids:
        return request.go(where, "Select at least one referral first.")
    return await listed.delay_decision(tx, request, _kind(request), ids, where)


async def decide_referrer(tx: Tx, request: PageRequest) -> Response:
    """Everything of the chosen list that one referrer's code brought."""
    chosen, code = _chosen(request.text("show")), request.text("code")
    list_key = chosen.key if chosen.can_group else review.KINDS[0]
    ids = await review.ids_of_code(tx, request.tenant, list_key, code, most=MOST_OF_REFERRER + 1)
    more = ""
    if len(ids) > MOST_OF_REFERRER:
        most = formats.number(MOST_OF_REFERRER)
        more = f"Some are left: {most} are decided at a time, so press the button again after that."
    where = listed.back(request, "/review")
    ids = ids[:MOST_OF_REFERRER]
    return await listed.delay_decision(tx, request, _kind(request), ids, where, more=more)


async def release_confirmations(tx: Tx, request: PageRequest) -> Response:
    """The confirmation emails of one code that wait."""
    sent = await confirmations.release_all(request.change(tx), request.text("code"))
    flash = "No confirmation emails are waiting for this link."
    if sent:
        flash = f"{formats.plural(sent, 'confirmation email')} will be sent now."
    return request.go(listed.back(request, "/review"), flash)


def _kind(request: PageRequest) -> DelayedKind:
    return listed.DECISIONS.get(request.text("do"), delayed_kinds.VERIFY)
