"""A partner program: this month's spending, what a month could cost, and partners' referrals."""

from __future__ import annotations

from typing import Any, NamedTuple

from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.pages import forms
from honeyguide.pages.dashboard import bars, formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.partners import budget_days, program_form
from honeyguide.pages.dashboard.partners import reversals as reversal_page
from honeyguide.partners import (
    forecast,
    held_referrals,
    ledger,
    outlook,
    partner_figures,
    partner_names,
    programs,
    publications,
    reversal_reasons,
    rules,
    term_changes,
    verification,
)
from honeyguide.partners.expected_fees import ExpectedFees
from honeyguide.partners.outlook import MonthOutlook, ProgramFees
from honeyguide.partners.partner_figures import ChargedDay, FigureDays, PartnerFigures
from honeyguide.signups import (
    delayed_actions,
    departures,
    paid_referrals,
    reversals,
    undone_stops,
)
from honeyguide.signups.paid_referrals import ListedReferral
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers.reasons import explain, facts_of

PER_PAGE = 50
# Of the referrals, until the list itself is asked for.
FIRST_ROWS = 10
# The highest budget that can be tried.
MOST_BUDGET_CENTS = 100_000_000
LATELY, SHOWN_DAYS = 30, 90


async def index(at: Reading, request: PageRequest) -> PageView | Response:
    """The one program, or the list of them, or what to do first."""
    page, rows, total = await forms.nearest_page(
        request.query, PER_PAGE, lambda page: programs.page_of(at, page)
    )
    deleted = await programs.list_deleted_unsettled(at)
    if total == len(rows) == 1 and not deleted:
        return request.go(f"/program/{rows[0].id}", request.flash)
    _, publications_total = await publications.page_of(at, Page(1, 1))
    return request.view(
        "programs.html",
        rows=[*rows, *deleted],
        has_publication=publications_total > 0,
        total=total,
        page=page.page,
        pages=page.total_pages(total),
        month=rules.month_of(request.now_ms),
        spent=await forecast.spent_of_programs(at, rules.month_of(request.now_ms)),
        money=money.show,
    )


def _in_short(row: ListedReferral) -> str:
    """Why a referral is what it is, in few words where most rows say the same."""
    reason = row.reason or ""
    if row.due_ms and (until := facts_of(reason).until):
        return until.format(day=formats.short_day(row.due_ms))
    return explain(reason, row.due_ms)


async def show(at: Reading, request: PageRequest) -> PageView:
    site = request.services.site
    program = await programs.get_unsettled(at, request.at("id"))
    month = rules.month_of(request.now_ms)
    page, rows, total = await forms.nearest_page(
        request.query,
        PER_PAGE if "page" in request.query else FIRST_ROWS,
        lambda page: paid_referrals.page_of_program(at, program.id, page),
    )
    last_closed = await ledger.last_closed(at.tx)
    spend = await forecast.spend(at.tx, program, month)
    fees = await at.fact(outlook.read_program, program.id)
    months = outlook.months(fees, now_ms=request.now_ms)
    charged = await partner_figures.charged_of_program(at, program.id, month)
    return request.view(
        "program.html",
        program=program,
        in_short=_in_short,
        spend=spend,
        now=months[0],
        outlook=months,
        parts=bars.parts(
            {
                "sure": spend.spent_cents,
                "may": months[0].fees.expected_cents,
                "over": months[0].fees.over_cents,
            },
            whole=program.total_budget_cents,
        ),
        charged=sum(each.n for each in charged),
        **_forecast(request, program, fees, months, charged),
        in_review_cents=spend.in_review_cents,
        partners=await _partners(at, request, program, spend),
        names={row.partner_campaign_id: row.name for row in spend.partners},
        undecided=await forecast.undecided(at, program.id, spend),
        rows=rows,
        waiting=await delayed_actions.of_subjects(at, [row.subscriber_id for row in rows]),
        returned=await departures.returned(at, program.id, last_closed),
        most_reversed=reversal_page.MOST,
        can_reverse={row.id for row in rows if reversals.may_reverse(row, last_closed)},
        total=total,
        is_listed="page" in request.query,
        is_cut="page" not in request.query and total > len(rows),
        page=page.page,
        pages=page.total_pages(total),
        why_reversed=reversal_reasons.describe,
        money=money.show,
        uncharged=rules.Uncharged,
        hosted=site.page_link(program.slug) if program.slug else "",
        invite=f"{site.base_url}/network/{program.id}",
        announced=await term_changes.find_waiting(at, program.id),
        guess=program_form.guess(
            program.cpa_cents, program.max_payout_cents, program.total_budget_cents, request.query
        ),
        **await _verification(at, request, program),
    )


def _forecast(
    request: PageRequest,
    program: programs.Program,
    fees: ProgramFees,
    months: list[MonthOutlook],
    charged: list[ChargedDay],
) -> dict[str, Any]:
    now, taken = months[0], [each for month in months for each in month.taken]
    due = budget_days.due_days(taken)
    return {
        "due": due,
        "strip": budget_days.strip(
            now.month, charged, due, now_ms=request.now_ms, full_ms=now.full_ms
        ),
        # What waits for somebody.
        "undated_cents": sum(each.fee_cents * each.n for each, _ in now.taken if each.is_waiting),
        # In a large program, referrals are not told apart.
        "unfitting": {each.referral_id for each, n in taken if n < each.n == 1},
        "tried": _try_budget(request, program, fees, now),
    }


class TriedPartner(NamedTuple):
    partner_campaign_id: str
    now: ExpectedFees
    then: ExpectedFees


class TriedBudget(NamedTuple):
    """Who would be paid with another budget, by the forecast of this month."""

    cents: int
    most_cents: int
    """The budget that holds everything, a whole number of dollars above today's."""
    month: MonthOutlook
    partners: list[TriedPartner]
    """Those who would get more."""


def _try_budget(
    request: PageRequest, program: programs.Program, fees: ProgramFees, now: MonthOutlook
) -> TriedBudget | None:
    """None if nothing waits for a higher budget. Who came before keeps the budget of then, so a
    lower one changes nothing for those who are pending."""
    least_cents = program.total_budget_cents
    most_cents = now.spent_cents + now.fees.pending_cents
    most_cents += -(most_cents - least_cents) % 100
    if not now.fees.over_budget_cents or most_cents <= least_cents:
        return None
    try:
        typed = forms.amount(request.query.get("budget", ""), param="budget")
        asked = money.cents(typed, param="budget")
    except Invalid:
        asked = most_cents
    cents = min(max(asked, least_cents), MOST_BUDGET_CENTS)
    month = outlook.months(fees, now_ms=request.now_ms, budget_cents=cents)[0]
    partners = [
        TriedPartner(place, now.of(place), then)
        for place, then in month.by_partner.items()
        if then.expected_cents > now.of(place).expected_cents
    ]
    return TriedBudget(cents, most_cents, month, partners)


class PartnerLine(NamedTuple):
    """A partner of the program, as a row worth reading."""

    row: forecast.PartnerRow
    logo: str
    spark: str
    counts: PartnerFigures
    """Of 30 days."""
    older: PartnerFigures
    """Of those who came 30 to 90 days ago: who is still there?"""


async def _partners(
    at: Reading, request: PageRequest, program: programs.Program, spend: forecast.Spend
) -> list[PartnerLine]:
    """Partners who brought the most verified subscribers lately come first."""
    today = request.now_ms // DAY_MS
    days = await figures_of(at, request, program.id)
    lately = days.by_partner(lambda day: day > today - LATELY)
    older = days.by_partner(lambda day: day <= today - LATELY)
    ids = [row.partner_campaign_id for row in spend.partners]
    named = await partner_names.of(at.of_account(program.account_id), ids)
    lines = []
    for row in spend.partners:
        by_day = days.signups_by_day(row.partner_campaign_id)
        values = [by_day.get(day, 0) for day in range(today - LATELY + 1, today + 1)]
        lines.append(
            PartnerLine(
                row,
                named[row.partner_campaign_id].logo,
                bars.spark(values) if any(values) else "",
                lately.get(row.partner_campaign_id, PartnerFigures()),
                older.get(row.partner_campaign_id, PartnerFigures()),
            )
        )
    return sorted(lines, key=lambda each: (-each.counts.verified, -each.row.spent_cents))


async def figures_of(at: Reading, request: PageRequest, program_id: str) -> FigureDays:
    """Of 90 days, today included."""
    return await partner_figures.of_program(
        at,
        program_id,
        since_ms=partner_figures.since(request.now_ms, SHOWN_DAYS),
        before_ms=request.now_ms + DAY_MS,
    )


async def _verification(
    at: Reading, request: PageRequest, program: programs.Program
) -> dict[str, Any]:
    """What the program asks of its referrals, and what is wrong with that. A deleted one asks
    nothing of anybody any more."""
    if program.deleted_ms is not None:
        return {}
    of_owner = at.of_account(program.account_id)
    asked, is_offered = await verification.get_with_offer(of_owner, program.id)
    rule, level = verification.recommended(request.services.site)
    return {
        "asked": asked,
        "asked_rule": verification.RULES[asked.rule],
        "asked_level": verification.LEVELS[asked.screening],
        "lacks_email": asked.rule.needs_confirmation and not request.services.site.has_mail_server,
        "held": await held_referrals.count_held(at.tx, program.account_id, program.id),
        "is_offered": is_offered,
        "offered_rule": verification.RULES[rule] if rule.needs_confirmation else None,
        "offered_level": verification.LEVELS[level],
    }


async def choose_verification(change: Change, request: PageRequest) -> Response:
    """Takes or dismisses what we recommend to an older program."""
    program_id = request.at("id")
    if request.text("do") == "use":
        is_done = await term_changes.use_recommended(change, program_id)
        flash = "Saved. New referrals follow the recommended settings."
    else:
        is_done = await verification.keep_own(change, program_id)
        flash = "The program stays as it is. You can change it at any time under Edit program."
    if not is_done:
        flash = "This was decided before. You can change the settings under Edit program."
    return request.go(f"/program/{program_id}", flash)


async def apply_button(change: Change, request: PageRequest) -> Response:
    """Pause, resume or delete."""
    do = request.text("do")
    program = await programs.get(change, request.at("id"))
    if do == "delete":
        await programs.delete(change, program.id)
        return request.go(
            "/publications",
            "The program was deleted. "
            "Pending referrals finish as planned, and its history is kept.",
        )
    await programs.switch(change, program.id, on=do != "pause")
    await undone_stops.of_programs(change)
    flash = (
        "The program is paused. New partner referrals do not count."
        if do == "pause"
        else "The program is active again."
    )
    undo = f"resume.{program.id}" if do == "pause" else ""
    return request.go(f"/program/{program.id}", flash, undo=undo)
