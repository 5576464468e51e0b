"""A partner's earnings: what is confirmed, pending or unpaid and why, and the links to share."""

from __future__ import annotations

from typing import Any, NamedTuple

from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.mail import newsletter_tools
from honeyguide.pages import forms
from honeyguide.pages.dashboard import bars, cards, formats
from honeyguide.pages.dashboard.bars import BarPart
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.partners import budget_days, referral_days
from honeyguide.pages.readers import sharing
from honeyguide.partners import (
    forecast,
    network,
    outlook,
    partner_emails,
    partner_figures,
    partner_referrals,
    payouts,
    reversal_reasons,
    rules,
    verification,
)
from honeyguide.partners.month_limits import MonthLimit
from honeyguide.partners.network import PartnerCampaign
from honeyguide.partners.outlook import PartnerOutlook
from honeyguide.partners.partner_figures import PartnerMonth
from honeyguide.partners.partner_referrals import ReferredSubscriber
from honeyguide.partners.payouts import Payout
from honeyguide.partners.statements import MonthTotal
from honeyguide.signups import awaited_looks
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import clicks
from honeyguide.subscribers.reasons import SCREENED, Reason, facts_of

# A page shows this many referrals of each state; the statement's CSV has every one that was paid.
MOST_SHOWN = 500
PER_PAGE = 25
MONTHS_SHOWN = 12

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
        if row.due_ms is None or row.reason == Reason.AWAITING_CONFIRMATION:
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


class MonthMoney(NamedTuple):
    """What is sure, and the most that a month can come to."""

    sure_cents: int
    referrals: int
    """Whose fees these are."""
    most_cents: int
    when_paid: str
    sentences: list[str]
    """What is pending, and why less of it can be paid."""
    parts: list[BarPart]


def month_money(
    confirmed_cents: int,
    referrals: int,
    months: list[tuple[str, MonthLimit]],
    payout: Payout | None,
    month: str,
) -> MonthMoney:
    """The limits of a month that is over are none."""
    now = months[0][1] if months else MonthLimit()
    return MonthMoney(
        sure_cents=confirmed_cents,
        referrals=referrals,
        most_cents=confirmed_cents + now.cents,
        when_paid=_when_paid(month, payout, is_over=not months),
        sentences=_pending_sentences(months),
        parts=bars.parts({"sure": confirmed_cents, "may": now.cents}),
    )


def _when_paid(month: str, payout: Payout | None, *, is_over: bool) -> str:
    if payout is not None and payout.paid_ms is not None:
        return f"Paid on {formats.day(payout.paid_ms)}."
    if is_over:
        return "Waiting to be paid." if payout is not None else ""
    closes = formats.short_day(rules.month_bounds(month)[1])
    return f"Will be paid after the month closes on {closes}."


def _pending_sentences(months: list[tuple[str, MonthLimit]]) -> list[str]:
    """Of this month and the later ones, each by its name. Never what will be paid: it is the most
    that can be."""
    return [_of_month(month, limit) for month, limit in months if limit.referrals] or [
        "No fee is pending."
    ]


def _of_month(month: str, limit: MonthLimit) -> str:
    name = rules.month_name(month).split()[0]
    are = "1 referral is" if limit.referrals == 1 else f"{limit.referrals:,} referrals are"
    sentence = (
        f"{name}: {are} pending, worth {money.show(limit.pending_cents)}; "
        f"at most {money.show(limit.cents)} can still be paid"
    )
    over = []
    if limit.over_cap_cents:
        over.append(f"{money.show(limit.over_cap_cents)} is over your monthly cap")
    if limit.over_budget_cents:
        over.append(f"{money.show(limit.over_budget_cents)} is more than the budget can pay")
    if over:
        sentence += f": {', and '.join(over)}"
    if limit.shared_with:
        others = formats.plural(limit.shared_with, "other partner")
        sentence += f". The budget is shared with {others}, first come, first paid"
    return f"{sentence}."


SHOWN: dict[str, Any] = {"money": money.show, "why": why}


async def show(at: Reading, request: PageRequest) -> PageView:
    month = month_of(request)
    present = rules.month_of(request.now_ms)
    is_now = month == present
    earnings = await forecast.earnings(at, month)
    earned = await partner_figures.months_of_partner(at)
    ahead = await outlook.of_partner(at, earned)
    months = ahead.months
    of_month = await partner_figures.month_of_partner(at, month)
    charged = {each.partner_campaign_id: each.charged for each in of_month}
    payout = await payouts.find_of_month(at, month)
    asked = forms.page_number(request.query.get("page", ""))
    pages = Page(1, PER_PAGE).total_pages(len(earnings.programs))
    page = Page(min(asked, max(1, pages)), PER_PAGE)
    joined = earnings.programs[page.skip : page.skip + page.per_page]
    ids = [row.partner_campaign_id for row in joined]
    from_ms, to_ms = rules.month_bounds(month)
    figures = await partner_figures.of_partner(at, since_ms=from_ms, before_ms=to_ms)
    state, rows = await _referrals(at, request, month, is_now=is_now)
    return request.view(
        "earnings.html",
        month=month,
        earlier=rules.previous_month(month),
        later=rules.next_month(month),
        resumes=formats.short_day(to_ms),
        is_now=is_now,
        earnings=earnings,
        shown=month_money(
            earnings.confirmed_cents,
            sum(charged.values()),
            [(each.month, each.limit) for each in months] if is_now else [],
            payout,
            month,
        ),
        outlook=months[0] if is_now else None,
        columns=_columns(earned, present, months[0]),
        sentence=bars.sentence,
        charged=charged,
        figures=figures.by_partner(),
        reached=_reached(of_month) if is_now else set(),
        joined=joined,
        page=page.page,
        pages=pages,
        partner_campaigns=await network.partner_campaigns_by_id(at, ids),
        state=state,
        states=STATES,
        days=referral_days.by_day(rows, why, ahead.unfitting),
        is_cut=len(rows) >= MOST_SHOWN,
        terms_of=terms_of,
        **SHOWN,
    )


async def _referrals(
    at: Reading, request: PageRequest, month: str, *, is_now: bool
) -> tuple[str, list[ReferredSubscriber]]:
    """Those behind the figures of the month, or behind one of them."""
    asked = request.query.get("show", "")
    state = asked if asked in partner_referrals.STATES else ""
    states = set([state] if state else partner_referrals.STATES)
    if not is_now:
        states.discard(partner_referrals.PENDING)
    return state, await partner_referrals.of_month(at, states, month, most=MOST_SHOWN)


def _reached(of_month: list[PartnerMonth]) -> set[str]:
    """The partner's campaigns whose program has reached its budget."""
    return {each.partner_campaign_id for each in of_month if each.is_reached}


def _columns(earned: list[MonthTotal], present: str, now: PartnerOutlook) -> list[bars.Column]:
    """Of the last twelve months; empty before anything was earned."""
    values = {each.month: each.cents for each in earned}
    if not values:
        return []
    return bars.months(values, present, MONTHS_SHOWN, more=now.limit.cents)


def terms_of(joined: PartnerCampaign) -> str:
    """`$2.50 each · confirmed, after 14 days`"""
    days = joined.referral_pending_duration if joined.referral_pending_duration_enabled else 0
    fee = f"{money.show(joined.cpa_cents)} each" if joined.cpa_cents else "unpaid recommendation"
    return f"{fee} · {verification.of(joined).in_short(days)}"


async def one(at: Reading, request: PageRequest) -> PageView:
    site = request.services.site
    month = rules.month_of(request.now_ms)
    joined = await network.get_partner_campaign(at, request.at("id"))
    is_reached = joined.id in _reached(await partner_figures.month_of_partner(at, month))
    page, rows, total = await forms.nearest_page(
        request.query,
        PER_PAGE,
        lambda page: partner_referrals.of_partner_campaign(at, joined.id, page),
    )
    older = f"/earnings/{joined.id}?page={page.page + 1}"
    since_ms, _ = rules.month_bounds(month)
    days = await clicks.by_day(at.of_account(joined.owner_account_id), joined.id, since_ms=since_ms)
    ahead = await outlook.of_partner(at, await partner_figures.months_of_partner(at))
    limits = [(each.month, each.limit_of(joined.id)) for each in ahead.months]
    limit = limits[0][1]
    charged = await partner_figures.charged_of_campaign(at, joined.id, month)
    due = budget_days.due_days(
        each for each in ahead.pending if each[0].partner_campaign_id == joined.id
    )
    link = site.partner_link(joined.ref_code)
    return request.view(
        "partner_campaign.html",
        partner_campaign=joined,
        is_reached=is_reached,
        days=referral_days.by_day(rows, why, ahead.unfitting),
        first=f"/earnings/{joined.id}",
        older=older if page.page < page.total_pages(total) else "",
        is_first=page.page == 1,
        clicked=sum(day.n for day in days),
        link=link,
        magic=f"{site.magic_link(joined.ref_code)}?email=",
        tools=newsletter_tools.EMAIL_TAGS,
        qr=sharing.qr_code(link),
        hold=cards.hold,
        month=month,
        limit=limit,
        parts=bars.parts({"sure": joined.spent_cents, "may": limit.cents}),
        sentences=_pending_sentences(limits),
        strip=budget_days.strip(month, charged, due, now_ms=request.now_ms),
        terms=terms_of(joined),
        resumes=formats.short_day(rules.month_bounds(month)[1]),
        asked=verification.of(joined),
        look=await awaited_looks.find_awaited(at.of_account(joined.owner_account_id), joined.id),
        contact=await partner_emails.contact_of(at.of_account(joined.owner_account_id)),
        undecided=await forecast.undecided_of_partner(at, joined.id, ahead.months),
        **SHOWN,
    )


async def leave(change: Change, request: PageRequest) -> Response:
    left = await network.leave(change, request.at("id"))
    name = formats.isolated(left.publication_name)
    return request.go(f"/earnings/{left.id}", f"You left the partner program of {name}.")
