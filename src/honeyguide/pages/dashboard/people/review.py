"""Referrals to review: suspicious, pending or rejected, each with its reason, as one list or in
groups by what they have in common.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats, undo
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.people import arrivals
from honeyguide.pages.dashboard.people import subscribers as listed
from honeyguide.partners import (
    expected_fees,
    forecast,
    partner_names,
    programs,
    verification,
)
from honeyguide.rewards import rewards
from honeyguide.screening import review
from honeyguide.signups import (
    confirmations,
    delayed_actions,
    delayed_kinds,
    first_looks,
    open_work,
    paid_referrals,
)
from honeyguide.signups.delayed_kinds import DelayedKind
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import search
from honeyguide.subscribers.reasons import facts_of
from honeyguide.subscribers.search import Cursor

PER_PAGE = 50
GROUPS_PER_PAGE = 20
ONE_BY_ONE = "one"
# Of a group, so many can be chosen one by one; a larger one has a list of its own.
MOST_CHOOSABLE = 60
# Decided at one press of a button: a few seconds of work.
MOST_OF_REFERRER = 1_000


class List(NamedTuple):
    key: str
    path: str
    name: str
    detail: str
    empty: str
    empty_detail: str

    @property
    def can_group(self) -> bool:
        return self.key in review.REVIEW_LISTS


LISTS = (
    List(
        "suspected",
        "/review",
        "To decide",
        "Suspicious referrals waiting for you. If you do nothing, those by partners are rejected "
        "on their date, and the others are verified.",
        "Nothing to review",
        "Nothing looks unusual. While screening is strong, suspicious referrals appear here, and "
        "those that look alike make a group.",
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


async def show(at: Reading, request: PageRequest) -> PageView:
    chosen = _chosen(request.query.get("show"))
    if _wants_groups(request, chosen):
        return await _in_groups(at, request, chosen)
    code = request.query.get("code", "") if chosen.can_group else ""
    group = request.query.get("group", "") if code else ""
    before = listed.read_cursor(request.query.get("before", ""))
    if code:
        ids = await _ids_of_code(
            at, request, chosen.key, code, group, before=before, most=PER_PAGE + 1
        )
        rows = await search.of_ids(at, ids)
    else:
        rows = await search.judged(at, chosen.key, before=before, most=PER_PAGE + 1)
    named = {"code": code, "group": group, "by": "" if code else ONE_BY_ONE}
    here, further = {"show": chosen.key} | {name: of for name, of in named.items() if of}, ""
    if len(rows) > PER_PAGE:
        rows = rows[:PER_PAGE]
        further = _link(**here, before=f"{rows[-1].received_ms}.{rows[-1].id}")
    return request.view(
        "review.html",
        rows=rows,
        partners=await paid_referrals.partner_names(
            at, [row.id for row in rows if row.is_from_partner]
        ),
        held=await confirmations.held(at, code),
        waiting=await delayed_actions.of_subjects(at, [row.id for row in rows]),
        looks=(await at.fact(open_work.counts)).looks,
        lists=LISTS,
        chosen=chosen,
        code=code,
        group=group,
        here=_link(**here),
        further=further,
        is_first=before is None,
        entered_reason=request.text("decision_reason") if request.errors else "",
    )


def _wants_groups(request: PageRequest, chosen: List) -> bool:
    """What is suspicious comes in groups unless the operator asks for a list: a fraud is a shape,
    not a row."""
    asked = request.query.get("by")
    if not chosen.can_group or asked == ONE_BY_ONE or request.query.get("code"):
        return False
    return asked == "referrer" or (chosen == LISTS[0] and "before" not in request.query)


def _link(**query: str) -> str:
    return "/review?" + urlencode(query)


async def _ids_of_code(
    at: Reading,
    request: PageRequest,
    list_key: str,
    code: str,
    group_key: str,
    *,
    before: Cursor | None = None,
    most: int,
) -> list[str]:
    """Those that came with the code, or only those of one group, newest first."""
    if not group_key:
        return await review.ids_of_code(at, list_key, code, before=before, most=most)
    members = await review.members_of_group(at, list_key, group_key)
    top = before or search.TOP
    return [each.id for each in members if (each.received_ms, each.id) < top][:most]


async def _in_groups(at: Reading, request: PageRequest, chosen: List) -> PageView:
    page, groups, total = await forms.nearest_page(
        request.query,
        GROUPS_PER_PAGE,
        lambda page: review.page_of_groups(at, chosen.key, page),
    )
    codes = {member.referrer_code for group in groups for member in group.members}
    waiting = await delayed_actions.of_codes(at, sorted(codes))
    waiting |= await delayed_actions.of_subjects(at, [each.card.id for each in groups if each.card])
    joined = [partner_id for each in groups for partner_id in each.partner_ids]
    here = {"show": chosen.key, "by": "referrer"}
    further = _link(**here, page=str(page.page + 1))
    this = here | ({"page": str(page.page)} if page.page > 1 else {})
    return request.view(
        "review_groups.html",
        groups=groups,
        partners=await partner_names.of(at, joined),
        times={
            group.key: arrivals.line([m.received_ms for m in group.members]) for group in groups
        },
        earns=await _earns(at, request, groups),
        costs=await _costs(at, request, groups),
        rule=await _rule(at, request),
        held=await confirmations.held(at, ""),
        most_choosable=MOST_CHOOSABLE,
        waiting={
            group.key: delayed_actions.group(
                waiting[each] for each in _subjects(group) if each in waiting
            )
            for group in groups
        },
        link=_link,
        here=_link(**this),
        decides="/review/referrer?" + urlencode(this),
        facts_of=facts_of,
        money=money.show,
        newest=review.NEWEST,
        looks=(await at.fact(open_work.counts)).looks,
        lists=LISTS,
        chosen=chosen,
        further=further if page.page < page.total_pages(total) else "",
        first=_link(**here),
        is_first=page.page == 1,
        entered_in=request.text("group") if request.errors else "",
        entered_ids=set(request.several("id")) if request.errors else set(),
        entered_reason=request.text("decision_reason"),
    )


def _subjects(group: review.ReviewGroup) -> list[str]:
    """What of a group something can be about that waits for a minute."""
    return [each.id for each in group.members] + ([group.card.id] if group.card else [])


async def _costs(
    at: Reading, request: PageRequest, groups: list[review.ReviewGroup]
) -> dict[str, int]:
    """What is charged if all of a group are verified now, for each group with fees."""
    ids = sorted({partner_id for each in groups for partner_id in each.fees})
    if not ids:
        return {}
    months = await forecast.open_months(at, ids)
    found = {}
    for group in groups:
        theirs = {each: months[each] for each in group.fees if each in months}
        if theirs:
            fees = {each: group.fees[each] for each in theirs}
            found[group.key] = expected_fees.cost_at_once(theirs, fees)
    return found


async def _earns(
    at: Reading, request: PageRequest, groups: list[review.ReviewGroup]
) -> dict[str, list[str]]:
    """The rewards that a referrer reaches if their group is verified."""
    offered = await at.fact(rewards.of_campaign)
    found = {}
    for group in groups:
        now, n = group.referrer.toward_rewards, len(group.members)
        found[group.key] = [
            reward.name
            for reward in offered
            if group.referrer.email and reward.times_reached(now + n) > reward.times_reached(now)
        ]
    return found


class PaidRule(NamedTuple):
    sentence: str
    path: str


async def _rule(at: Reading, request: PageRequest) -> PaidRule | None:
    """What the owner's one paid program asks of referrals; with several, each has its own."""
    found = await programs.some_of_account(at, most=2)
    paid = [program for program in found if program.cpa_cents]
    if len(found) > 1 or not paid:
        return None
    asked = await verification.get(at, paid[0].id)
    is_held = paid[0].referral_pending_duration_enabled
    days = paid[0].referral_pending_duration if is_held else 0
    return PaidRule(asked.in_short(days), f"/program/{paid[0].id}/change")


async def decide(change: Change, request: PageRequest) -> Response:
    where = listed.back(request, "/review")
    ids = request.several("id")[: listed.MOST_AT_ONCE]
    if not ids:
        return request.go(where, "Select at least one referral first.")
    return await listed.delay_decision(change.tx, request, _kind(request), ids, where)


async def decide_referrer(change: Change, request: PageRequest) -> Response:
    """Everything of the chosen list that one referrer's code brought, or one group of it."""
    chosen, code = _chosen(request.text("show")), request.text("code")
    list_key = chosen.key if chosen.can_group else review.REVIEW_LISTS[0]
    most = MOST_OF_REFERRER
    ids = await _ids_of_code(change, request, list_key, code, request.text("group"), most=most + 1)
    if request.text("chosen"):  # the form lists its people, and some may be unchecked
        kept = set(request.several("id"))
        ids = [each for each in ids if each in kept]
    more = ""
    if len(ids) > most:
        more = (
            f"Some are left: {formats.number(most)} are decided at a time, so press the button "
            "again after that."
        )
    where = listed.back(request, "/review")
    if not ids and request.text("chosen") and not request.several("id"):
        return request.go(where, "Select at least one referral first.")
    if not ids:
        return request.go(where, "Nothing is left to decide in this group.")
    return await listed.delay_decision(
        change.tx, request, _kind(request), ids[:most], where, more=more
    )


async def answer_card(change: Change, request: PageRequest) -> Response:
    """A group over the whole program: it looks right, or all of it who wait are rejected."""
    where, group_id = listed.back(request, "/review"), request.text("group")
    if request.text("answer") != "reject":
        kind, seen = delayed_kinds.APPROVE_GROUP, request.text("people")
        await first_looks.check_side_of_group(change, group_id)
        return await undo.delay(change, request, kind, [group_id], where, seen=seen)
    ids = (await review.members_of_card(change, group_id))[:MOST_OF_REFERRER]
    if not ids:
        return request.go(where, "Nothing is left to decide in this group.")
    return await listed.delay_decision(change.tx, request, delayed_kinds.REJECT, ids, where)


async def release_confirmations(change: Change, request: PageRequest) -> Response:
    """The confirmation emails of one code that wait."""
    sent = await confirmations.release_all(change, request.text("code"))
    flash = "No confirmation emails are waiting for this link."
    if sent:
        flash = f"{formats.plural(sent, 'confirmation email')} will be sent now."
    return request.go(listed.back(request, "/review"), flash)


def _kind(request: PageRequest) -> DelayedKind:
    return listed.DECISIONS.get(request.text("do"), delayed_kinds.VERIFY)
