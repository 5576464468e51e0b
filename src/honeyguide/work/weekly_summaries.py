"""The job that writes weekly summaries: on Mondays at 8 AM in each account's time zone. It reads
the accounts that are due and no others, and each account gets one summary a week, however many
processes run this.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from honeyguide.kernel import periods
from honeyguide.kernel.clock import MONTHS
from honeyguide.kernel.money import show
from honeyguide.kernel.periods import Period, day_of, zone_of
from honeyguide.kernel.site import Site
from honeyguide.mail import notification_choices, notifications, weekly_summary
from honeyguide.mail.notification_kinds import OFF, WEEKLY_SUMMARY
from honeyguide.mail.notifications import Notification
from honeyguide.mail.weekly_summary import (
    SummaryAdvocate,
    SummaryBudget,
    WaitingTask,
    WeeklySummary,
    WeekTotal,
)
from honeyguide.partners import outlook
from honeyguide.partners.outlook import ProgramOutlook
from honeyguide.partners.rules import month_of
from honeyguide.rewards import earned_rewards, rewards
from honeyguide.signups import open_work
from honeyguide.store import Store
from honeyguide.store.reading import AccountReading, Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx, timed
from honeyguide.subscribers import campaigns, page_index, statistics, subscribers
from honeyguide.subscribers.statistics import PeriodAdvocate

BATCH = 20
ADVOCATES = 5
PROGRAMS = 5
# More things that wait than this are shown as "99+".
MOST_COUNTED = 99


class DueAccount(NamedTuple):
    id: str
    email: str
    time_zone: str
    weekly_due_ms: int
    weekly_monday: str | None
    link_version: int = 0


class _WaitingRewards(NamedTuple):
    n: int
    oldest_ms: int | None


_sql = beside(__file__)
_DUE_ACCOUNTS = _sql.query("due_accounts", DueAccount)
_MOVE = _sql.command("move")
_WAITING_REWARDS = _sql.query("waiting_rewards", _WaitingRewards)


async def due_accounts(tx: Tx, *, most: int) -> list[DueAccount]:
    return await tx.all(_DUE_ACCOUNTS, batch=most)


async def send_weekly_summary(
    site: Site, store: Store, accounts: Sequence[DueAccount], now_ms: int
) -> bool:
    (account,) = accounts
    summary = None
    if _is_time(account, now_ms):
        # Apart from the write: a week of a large newsletter takes a moment to read.
        summary = await store.slow_snapshot(timed(summarize, now_ms), site, account)
    await store.write(timed(finish, now_ms), site, account, summary)
    return True


def _is_time(account: DueAccount, now_ms: int) -> bool:
    """Not for an account that is looked at for the first time: its first summary comes after its
    first Sunday."""
    zone = zone_of(account.time_zone)
    monday = periods.monday_of(now_ms, zone)
    return (
        account.weekly_monday is not None
        and account.weekly_monday < monday.isoformat()
        and now_ms >= periods.morning_of(monday, zone)
    )


async def finish(tx: Tx, site: Site, account: DueAccount, summary: WeeklySummary | None) -> None:
    """Queues the summary, if any, and notes when to look again. Of two processes, the one that
    moves the time queues it."""
    zone = zone_of(account.time_zone)
    monday = periods.monday_of(tx.now_ms, zone)
    is_past = tx.now_ms >= periods.morning_of(monday, zone)
    moved = await tx.run(
        _MOVE,
        account_id=account.id,
        from_ms=account.weekly_due_ms,
        time_zone=account.time_zone,
        due_ms=periods.next_monday_morning(tx.now_ms, zone),
        monday=monday.isoformat() if is_past else account.weekly_monday,
    )
    if moved and summary is not None:
        notification = Notification(
            account_id=account.id,
            to=account.email,
            kind=weekly_summary.KIND,
            once=f"{weekly_summary.KIND}:{monday.isoformat()}",
            message=weekly_summary.message(summary),
            link="/",
            parts=weekly_summary.parts(summary),
            turn_off_url=summary.turn_off_url,
        )
        await notifications.notify(tx, site.base_url, notification)


async def summarize(tx: Tx, site: Site, account: DueAccount) -> WeeklySummary | None:
    """None if the account wants none, or never had a subscriber."""
    how = await notification_choices.delivery_of(tx, account.id, WEEKLY_SUMMARY)
    tenant = await campaigns.tenant_of(tx, account.id)
    if how.delivery == OFF or not await page_index.total(tx, tenant.campaign_id, "all"):
        return None
    zone = zone_of(account.time_zone)
    monday = periods.monday_of(tx.now_ms, zone)
    week = Period(monday - timedelta(days=7), monday - timedelta(days=1), zone)
    at = Reading(tx, site, tenant, tx.now_ms)
    now, before = await statistics.period_totals(at, week, week.shifted(-7))
    top = await statistics.top_advocates(at, week, most=ADVOCATES)
    return WeeklySummary(
        newsletter=(await campaigns.get(at)).name,
        days=_days(week),
        new=WeekTotal(now.new, before.new),
        referred=WeekTotal(now.referred, before.referred),
        verified=now.verified,
        pending=now.pending,
        rejected=now.rejected,
        waiting=await _waiting(at, zone),
        advocates=[
            SummaryAdvocate(each.name or each.email, each.verified, each.pending) for each in top
        ],
        almost_there=await _almost_there(at, top),
        budgets=await _budgets(at, zone),
        overview_url=f"{site.base_url}/",
        preferences_url=f"{site.base_url}/notices/preferences",
        turn_off_url=notification_choices.turn_off_url(
            site, account.id, WEEKLY_SUMMARY, link_version=account.link_version, now_ms=tx.now_ms
        ),
    )


async def _waiting(at: Reading, zone: ZoneInfo) -> list[WaitingTask]:
    """In the order in which the dashboard has them. What is not waiting is left out."""
    tasks = []

    def add(count: int, label: str, note: str, action: str, path: str) -> None:
        if count:
            how_many = f"{MOST_COUNTED}+" if count > MOST_COUNTED else str(count)
            tasks.append(WaitingTask(how_many, label, note, action, f"{at.site.base_url}{path}"))

    def since(ms: int | None) -> str:
        return f"The oldest has been waiting since {_short_day(ms, zone)}." if ms else ""

    work = await open_work.counts(at)
    first = await open_work.more(at)
    note = ""
    if first.due_ms is not None:
        note = f"The first is {first.outcome} automatically on {_short_day(first.due_ms, zone)}."
    add(work.to_review, "Referrals to review", note, "Review", "/review")
    add(work.ended_fees, "Fees that your team ended", "", "Decide", "/review/ended")
    approve = await _waiting_rewards(at, earned_rewards.AWAITING)
    add(approve.n, "Rewards to approve", since(approve.oldest_ms), "Approve", "/rewards")
    add(work.claims, "Rewards to fulfill", since(work.claimed_ms), "Fulfill", "/rewards")
    add(work.to_send, "Rewards to send", since(work.to_send_ms), "Send", "/shipments")
    codes = await _waiting_rewards(at, earned_rewards.OUT_OF_STOCK)
    add(codes.n, "Rewards without a code", since(codes.oldest_ms), "Add codes", "/rewards")
    return tasks


async def _waiting_rewards(at: Reading, status: str) -> _WaitingRewards:
    most = MOST_COUNTED + 1
    found = await at.one(_WAITING_REWARDS, status=status, most=most)
    return found or _WaitingRewards(0, None)


async def _almost_there(at: Reading, top: list[PeriodAdvocate]) -> str:
    offered = await rewards.of_campaign(at)
    for each in top:
        advocate = await subscribers.find(at, each.id)
        ahead = rewards.next_reward(offered, advocate.toward_rewards) if advocate else None
        if ahead is not None and ahead[1] == 1:
            name = each.name or each.email
            return f"{name} needs one more verified referral for {ahead[0].name}."
    return ""


async def _budgets(at: AccountReading, zone: ZoneInfo) -> list[SummaryBudget]:
    """Of the paid programs, those that cost the most this month."""
    found = await outlook.of_owner(at)
    paid = [program for program in found if program.is_paid]
    paid.sort(key=lambda program: -program.months[0].most_cents)
    budget_month = "this month’s"
    month = month_of(at.now_ms)
    if month != day_of(at.now_ms, zone).isoformat()[:7]:  # budgets are of UTC months
        budget_month = f"{MONTHS[int(month[5:]) - 1]}’s"
    return [_budget(at.site, program, budget_month) for program in paid[:PROGRAMS]]


def _budget(site: Site, program: ProgramOutlook, budget_month: str) -> SummaryBudget:
    page = f"{site.base_url}/program/{program.program_id}"
    action, url = "Change budget", f"{page}/change"
    if program.is_deleted:
        action, url = "View the program", page
    return SummaryBudget(program.publication_name, _spent(program, budget_month), action, url)


def _spent(program: ProgramOutlook, budget_month: str) -> str:
    month = program.months[0]
    sentence = (
        f"{show(month.spent_cents)} of {budget_month} {show(program.budget_cents)} budget is spent"
    )
    if month.fees.expected_cents:
        sentence += f", and the forecast is {show(month.fees.expected_cents)} more"
    if month.fees.over_cents:
        sentence += f". Pending fees of {show(month.fees.over_cents)} do not fit"
    return f"{sentence}."


def _days(week: Period) -> str:
    """Such as "Monday 9 to Sunday 15 Nov 2026, New York time"."""
    first = f"Monday {week.first.day}"
    if week.first.month != week.last.month:
        first += f" {_month(week.first)}"
    place = week.zone.key.rpartition("/")[2].replace("_", " ")
    zone = place if place == "UTC" else f"{place} time"
    return f"{first} to Sunday {week.last.day} {_month(week.last)} {week.last.year}, {zone}"


def _short_day(ms: int | None, zone: ZoneInfo) -> str:
    if ms is None:
        return ""
    day = day_of(ms, zone)
    return f"{day.day} {_month(day)}"


def _month(day: date) -> str:
    return MONTHS[day.month - 1][:3]
