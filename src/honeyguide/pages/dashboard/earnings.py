"""A partner's earnings: what is confirmed, pending or unpaid and why, and the links to share."""

from __future__ import annotations

from typing import Any, NamedTuple

from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.pages import forms
from honeyguide.pages.dashboard import cards, formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.readers import sharing
from honeyguide.partners import (
    forecast,
    network,
    partner_referrals,
    reversal_reasons,
    rules,
    verification,
)
from honeyguide.partners.partner_referrals import ReferredSubscriber
from honeyguide.referrals import clicks
from honeyguide.referrals.reasons import SCREENED, facts_of
from honeyguide.store.tx import Tx

# A page shows this many referrals; the statement's CSV has every one that was paid.
MOST_SHOWN = 100
PER_PAGE = 25

STATES = (
    (partner_referrals.PENDING, "Pending"),
    (partner_referrals.CONFIRMED, "Confirmed"),
    (partner_referrals.REJECTED, "Rejected"),
    (partner_referrals.UNCHARGED, "Not paid"),
)

WHY_UNPAID = {
    rules.Uncharged.OWN_PROGRAM: "It is your own program, so no fee is due.",
    rules.Uncharged.ALREADY_CHARGED: "The program has already paid for this subscriber.",
    rules.Uncharged.FREE: "The program paid no fee when they joined.",
    rules.Uncharged.BUDGET_SPENT: "The program had reached its monthly budget.",
    rules.Uncharged.PARTNER_CAP: "You reached this program’s monthly cap.",
}


def month_of(request: PageRequest) -> str:
    try:
        return rules.parse_month(request.query["month"], param="month")
    except (KeyError, Invalid):
        return rules.month_of(request.now_ms)


def why(row: ReferredSubscriber) -> str:
    """One sentence with its date: what happened, or what will happen."""
    waiting = facts_of(row.reason).waiting
    if row.state == partner_referrals.PENDING and waiting:
        return waiting.format(day=formats.day(row.due_ms or row.arrived_ms))
    if row.state == partner_referrals.PENDING:
        if row.due_ms is None:
            return "Will be confirmed once they confirm their email address."
        return f"Will be confirmed on {formats.day(row.due_ms)} if they stay subscribed."
    day = formats.day(row.decided_ms or row.arrived_ms)
    if row.state == partner_referrals.CONFIRMED:
        return f"Confirmed on {day}."
    if row.state == partner_referrals.UNCHARGED:
        return f"Confirmed on {day}. {WHY_UNPAID[rules.Uncharged(row.uncharged_reason or '')]}"
    if row.reversal_reason is not None:
        because = reversal_reasons.describe(row.reversal_reason, row.reversal_note)
        return f"Taken back on {day}. {because}."
    return f"Rejected on {day}. {facts_of(row.reason).to_partner or SCREENED}"


class ExpectedPayment(NamedTuple):
    total_cents: int
    words: str
    pending_words: str


def expected_payment(
    earnings: forecast.Earnings,
    outlook: list[forecast.Outlook],
    upcoming: list[forecast.DueDay],
) -> ExpectedPayment:
    """What a month will pay: what is confirmed, and what of the rest is due in it and fits the
    caps. The outlook of a month that is over is empty."""
    if not outlook:
        return ExpectedPayment(earnings.confirmed_cents, "all confirmed", "not in this month")
    expected_cents = outlook[0].upcoming_cents - outlook[0].over_cap_cents
    total_cents = earnings.confirmed_cents + expected_cents
    words = f"{money.show(earnings.confirmed_cents)} confirmed"
    if expected_cents:
        words += f", {money.show(expected_cents)} if they stay subscribed"
    over_cents = sum(each.over_cap_cents for each in outlook)
    pending_words = "nothing pending"
    if over_cents:
        pending_words = f"{money.show(over_cents)} of it is over a cap and will not be paid"
    elif upcoming:
        pending_words = f"next on {formats.day(upcoming[0].day * DAY_MS)}"
    elif earnings.pending_cents:
        pending_words = "once they confirm their email address"
    return ExpectedPayment(total_cents, words, pending_words)


SHOWN: dict[str, Any] = {"money": money.show, "why": why}


async def show(tx: Tx, request: PageRequest) -> PageView:
    account_id, month = request.who.account_id, month_of(request)
    is_now = month == rules.month_of(request.now_ms)
    earnings = await forecast.earnings(tx, account_id, month, now_ms=request.now_ms)
    outlook = await forecast.outlook_of_partner(tx, account_id, now_ms=request.now_ms)
    upcoming = await forecast.upcoming_of_partner(tx, account_id)
    page = Page(forms.page_number(request.query.get("page", "")), PER_PAGE)
    joined = earnings.programs[page.skip : page.skip + page.per_page]
    ids = [row.partner_campaign_id for row, _ in joined]
    state = request.query.get("show", "")
    if state not in partner_referrals.STATES:
        has_pending = bool(earnings.pending_cents)
        state = partner_referrals.PENDING if has_pending else partner_referrals.CONFIRMED
    rows = await partner_referrals.of_month(tx, account_id, state, month, most=MOST_SHOWN)
    return request.view(
        "earnings.html",
        month=month,
        earlier=rules.previous_month(month),
        later=rules.next_month(month),
        is_now=is_now,
        earnings=earnings,
        payment=expected_payment(earnings, outlook if is_now else [], upcoming),
        outlook=outlook,
        upcoming=upcoming,
        reached=await forecast.reached_of_partner(tx, account_id, month) if is_now else set(),
        joined=joined,
        page=page.page,
        pages=page.total_pages(len(earnings.programs)),
        partner_campaigns=await network.partner_campaigns_by_id(
            tx, account_id, ids, now_ms=request.now_ms
        ),
        state=state,
        states=STATES,
        rows=rows,
        is_cut=len(rows) == MOST_SHOWN,
        **SHOWN,
    )


async def one(tx: Tx, request: PageRequest) -> PageView:
    account_id, site = request.who.account_id, request.services.site
    month = rules.month_of(request.now_ms)
    partner_campaign = await network.get_partner_campaign(
        tx, account_id, request.at("id"), now_ms=request.now_ms
    )
    is_reached = partner_campaign.id in await forecast.reached_of_partner(tx, account_id, month)
    page = Page(forms.page_number(request.query.get("page", "")), PER_PAGE)
    rows, has_older = await partner_referrals.of_partner_campaign(
        tx, account_id, partner_campaign.id, page
    )
    since_ms, _ = rules.month_bounds(month)
    days = await clicks.by_day(
        tx, partner_campaign.owner_account_id, partner_campaign.id, since_ms=since_ms
    )
    left_cents = rules.left_cents(
        spent_cents=partner_campaign.spent_cents, cap_cents=partner_campaign.max_payout_cents
    )
    link = site.partner_link(partner_campaign.ref_code)
    return request.view(
        "partner_campaign.html",
        partner_campaign=partner_campaign,
        is_reached=is_reached,
        rows=rows,
        first=f"/earnings/{partner_campaign.id}",
        older=f"/earnings/{partner_campaign.id}?page={page.page + 1}" if has_older else "",
        is_first=page.page == 1,
        clicked=sum(day.n for day in days),
        link=link,
        magic=f"{site.magic_link(partner_campaign.ref_code)}?email=",
        qr=sharing.qr_code(link),
        hold=cards.hold,
        left=0 if is_reached else left_cents,
        again=rules.next_month(month),
        asked=verification.of(partner_campaign),
        undecided=await forecast.undecided_of_partner(tx, account_id, partner_campaign.id),
        **SHOWN,
    )


async def leave(tx: Tx, request: PageRequest) -> Response:
    left = await network.leave(request.change(tx), request.at("id"))
    name = formats.isolated(left.publication_name)
    return request.go(f"/earnings/{left.id}", f"You left the partner program of {name}.")
