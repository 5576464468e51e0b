"""The weekly summary: through a real mail server, on Monday morning in the account's time zone,
with the right numbers and headers, once.
"""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx
import pytest

from honeyguide.accounts import accounts
from honeyguide.kernel import periods
from honeyguide.kernel.clock import iso
from honeyguide.kernel.paging import Page
from honeyguide.kernel.periods import zone_of
from honeyguide.mail import emails, notifications, weekly_summary
from honeyguide.mail.emails import QueuedEmail
from honeyguide.mail.weekly_summary import WeeklySummary, WeekTotal
from honeyguide.partners import rules as months
from honeyguide.store.tx import Tx
from honeyguide.work import weekly_summaries
from honeyguide.work.items import Items
from honeyguide.work.weekly_summaries import DueAccount
from tests.support.items import run_items
from tests.support.mailbox import Mailbox, Received
from tests.support.partner_network import join, publish
from tests.support.partner_network import offer as offer_program
from tests.support.prizes import offer
from tests.support.readings import reads_account
from tests.support.service import Service, until
from tests.support.stores import statement
from tests.support.web import Operator, operator

ZONE = "America/New_York"
DAY_MS = 86_400_000


@pytest.fixture
def inbox(posting: tuple[Service, Mailbox]) -> Mailbox:
    posting[1].received.clear()
    posting[1].forget_script()
    return posting[1]


@pytest.fixture
def wax(posting: tuple[Service, Mailbox]) -> Iterator[Operator]:
    """In New York. The clock is set back to today afterwards."""
    member = operator(posting[0], "wax")
    member.make(accounts.set_time_zone, ZONE)
    make_old(member)
    yield member
    member.service.set_clock(0)


def make_old(member: Operator) -> None:
    """An account of some weeks ago, which the job has seen."""
    member.service.run(run_job(member, member.service.now_ms()))
    sql = "UPDATE account SET weekly_monday = '2000-01-03' WHERE id = :account_id"
    member.service.write(lambda tx: tx.run(statement(sql), account_id=member.account_id))


async def run_job(member: Operator, now_ms: int) -> None:
    services = member.service.services
    sending = partial(weekly_summaries.send_weekly_summary, services.site)
    await run_items(services.store, Items(weekly_summaries.due_accounts, sending, 20), now_ms)


def next_monday(member: Operator) -> int:
    """8 AM of the next Monday in New York."""
    return periods.next_monday_morning(member.service.now_ms(), zone_of(ZONE))


def moment(at_ms: int) -> str:
    return iso(at_ms).replace(".000Z", "Z")


def join_in_week(member: Operator, monday_ms: int) -> dict[str, Any]:
    """The week before that Monday: 3 direct, 4 referred by Ana of whom 1 is pending and 1 rejected;
    the week before that: 2. Ana joined long ago, and an imported friend does not count."""
    service = member.service
    start = datetime.fromtimestamp(monday_ms / 1000, UTC).astimezone(zone_of(ZONE))
    week = start.replace(hour=0) - timedelta(days=7)

    def at(days: float) -> int:
        return round((week + timedelta(days=days)).timestamp() * 1000)

    ana = member.subscribe("ana@example.org", name="Ana <b>Lopes")
    code = ana["ref_code"]
    joined = [
        member.subscribe(f"friend{n}@example.org", referrer_code=code if n < 4 else None)
        for n in range(7)
    ]
    before = [member.subscribe(f"before{n}@example.org") for n in range(2)]
    imported = member.subscribe("imported@example.org", referrer_code=code)
    edges = [member.subscribe(f"edge{n}@example.org") for n in range(2)]

    async def backdate(tx: Tx) -> None:
        async def put(subscriber: dict[str, Any], at_ms: int, more: str = "") -> None:
            sql = f"UPDATE subscriber SET created_ms = {at_ms}{more} WHERE id = '{{}}'"
            await tx.run(statement(sql.format(subscriber["uuid"])))

        await put(ana, at(-90))
        for n, each in enumerate(joined):
            status = {2: "pending", 3: "rejected"}.get(n)
            more = ""
            if status:
                more = (
                    f", referral_status = '{status}', referral_reason = 'burst'"
                    f", referral_due_ms = {at(9 if status == 'pending' else 8)}"
                )
            await put(each, at(n % 6 + 0.5), more)
        for each in before:
            await put(each, at(-2))
        await put(imported, at(1), ", origin = 'import'")
        # The first and the last moment of the week are in it, and those beyond are not.
        await put(edges[0], at(0) - 1)
        await put(edges[1], at(7) - 1)

    service.write(backdate)
    return ana


def wait_for(inbox: Mailbox, to: str, count: int = 1) -> list[Received]:
    def found() -> list[Received]:
        return [each for each in inbox.received if each.to == to and "last week" in each.subject]

    until(lambda: len(found()) >= count, 60)
    return found()


def test_it_arrives_on_monday_morning_with_last_weeks_numbers(
    wax: Operator, inbox: Mailbox
) -> None:
    offer(wax, referrals=4, approval="manual")
    monday_ms = next_monday(wax)
    join_in_week(wax, monday_ms)
    now_ms = wax.service.now_ms()
    wax.service.set_clock((monday_ms - now_ms) / 1000 - 120)
    wax.service.run(run_job(wax, wax.service.now_ms()))
    assert not [each for each in inbox.received if "last week" in each.subject], "not before 8 AM"
    wax.service.set_clock((monday_ms - now_ms) / 1000 + 1)
    wax.service.run(run_job(wax, wax.service.now_ms()))
    (got,) = wait_for(inbox, wax.email)
    assert got.subject == "Wax: 8 new subscribers last week"
    html_part = got.message.get_body(("html",))
    assert html_part is not None
    html = str(html_part.get_content())
    # Two days after this Monday; the one that was rejected would have been verified a day earlier.
    first = datetime.fromtimestamp(monday_ms / 1000, UTC).astimezone(zone_of(ZONE)).date()
    first += timedelta(days=2)
    for sentence in (
        "New subscribers: 8 (from 3 the week before)",
        "Referred: 4 (from 0 the week before)",
        "2 verified",
        "1 pending",
        "1 rejected",
        f"Referrals to review: 1. The first is verified automatically on {first.day} {first:%b}.",
        "Rewards to approve: 1. The oldest has been waiting since",
        "Ana <b>Lopes: 2 verified, 1 pending",
        "Ana <b>Lopes needs one more verified referral for The mug.",
        "New York time",
    ):
        assert sentence in got.text, sentence
    for sentence in (
        ">8</p>",
        "▲ 5</span> from 3 the week before",
        ">4</p>",
        "Ana &lt;b&gt;Lopes</td>",
        "Open Home",
    ):
        assert sentence in html, sentence
    assert "<b>Lopes" not in html and "<img" not in html and len(html.encode()) < 30_000
    headers = got.message
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert headers["Auto-Submitted"] == "auto-generated"
    url = str(headers["List-Unsubscribe"]).strip("<>")
    assert url in html and url in got.text
    # One click turns it off: next week there is none.
    assert httpx.post(url, content="List-Unsubscribe=One-Click", verify=False).status_code == 200
    wax.service.run(run_job(wax, monday_ms + 7 * DAY_MS + 1))
    assert len(summaries(wax)) == 1
    assert summaries(wax)[0].status == "sent" and text_of(wax) is None, "it names people"


@pytest.mark.parametrize(
    ("n", "before", "change"),
    [
        (24, 20, "▲ 20%"),
        (8, 3, "▲ 5"),
        (1, 19, "▼ 18"),
        (1_001, 1_000, "▲ 1"),
        (7, 7, ""),
        (7, 0, ""),
    ],
)
def test_no_percentage_on_a_base_under_twenty(n: int, before: int, change: str) -> None:
    assert WeekTotal(n, before).change == change


@pytest.mark.parametrize(
    ("new", "referred", "preheader"),
    [
        ((8, 3), 4, "4 of them referred."),
        ((8, 3), 0, "None of them referred."),
        ((0, 3), 0, "3 joined the week before."),
        ((0, 0), 0, "Nobody joined the week before."),
    ],
)
def test_what_follows_the_subject_fits_it(
    new: tuple[int, int], referred: int, preheader: str
) -> None:
    summary = WeeklySummary(
        newsletter="Wax",
        days="",
        new=WeekTotal(*new),
        referred=WeekTotal(referred, 0),
        verified=0,
        pending=0,
        rejected=0,
        waiting=[],
        advocates=[],
        almost_there="",
        budgets=[],
        overview_url="",
        preferences_url="",
        turn_off_url="",
    )
    assert summary.preheader == preheader


def test_each_program_has_a_budget_of_its_own(wax: Operator, inbox: Mailbox) -> None:
    """Two programs with one name: what one cannot hold, the other does not pay."""
    monday_ms = next_monday(wax)
    join_in_week(wax, monday_ms)
    bob = operator(wax.service, "bob")
    hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 2}
    first = offer_program(wax, publish(wax), cpa=2.5, total_budget=5, max_payout=90, **hold)
    second = offer_program(wax, publish(wax), cpa=1, total_budget=100, max_payout=90)
    offer_program(wax, publish(wax), cpa=0, total_budget=0, max_payout=0)
    codes = [join(bob, program)["ref_code"] for program in (first, second)]
    for number in range(3):
        wax.subscribe(f"held{number}@example.org", referrer_code=codes[0])
    wax.subscribe("paid@example.org", referrer_code=codes[1])

    async def due(tx: Tx) -> DueAccount:
        found = await weekly_summaries.due_accounts(tx.at(monday_ms), most=1_000)
        return next(each for each in found if each.id == wax.account_id)

    account, site = wax.service.read(due), wax.service.services.site
    now_ms = wax.service.now_ms()
    if months.month_of(now_ms + 2 * DAY_MS) != months.month_of(now_ms):
        pytest.skip("due next month")
    summary = wax.service.read(lambda tx: weekly_summaries.summarize(tx.at(now_ms), site, account))
    assert summary is not None
    assert [(each.name, each.sentence) for each in summary.budgets] == [
        (
            first["name"].removesuffix("'s partner program"),
            "$0.00 of this month’s $5.00 budget is spent, and the forecast is $5.00 more. "
            "Pending fees of $2.50 do not fit.",
        ),
        (
            second["name"].removesuffix("'s partner program"),
            "$1.00 of this month’s $100.00 budget is spent.",
        ),
    ]
    text = weekly_summary.parts(summary).text
    assert text.count("Partner program: ") == 2 and "$105.00" not in text


@pytest.mark.parametrize(
    ("zone", "whose"), [("Pacific/Kiritimati", "January’s"), (ZONE, "this month’s")]
)
def test_a_budget_is_of_the_month_that_it_says(wax: Operator, zone: str, whose: str) -> None:
    """Monday morning of the first of February begins in January, in UTC."""
    wax.make(accounts.set_time_zone, zone)
    wax.subscribe("somebody@example.org")
    offer_program(wax, publish(wax), total_budget=5)
    monday = datetime(2027, 2, 1, 8, tzinfo=zone_of(zone))
    now_ms = round(monday.timestamp() * 1000)
    account = DueAccount(wax.account_id, wax.email, zone, 0, "2000-01-03")
    summary = wax.service.read(
        lambda tx: weekly_summaries.summarize(tx.at(now_ms), wax.service.services.site, account)
    )
    assert summary is not None
    sentence = f"$0.00 of {whose} $5.00 budget is spent."
    assert [each.sentence for each in summary.budgets] == [sentence]


def test_two_processes_write_one_summary_and_a_quiet_week_says_so(
    wax: Operator, inbox: Mailbox
) -> None:
    monday_ms = next_monday(wax)
    assert summaries(wax) == []
    wax.service.run(run_job(wax, monday_ms))
    assert summaries(wax) == [], "nobody ever joined"
    ana = wax.subscribe("ana@example.org")
    later_ms = monday_ms + 7 * DAY_MS

    async def backdate(tx: Tx) -> None:
        sql = f"UPDATE subscriber SET created_ms = 1 WHERE id = '{ana['uuid']}'"
        await tx.run(statement(sql))

    wax.service.write(backdate)

    async def both() -> None:
        await asyncio.gather(*(run_job(wax, later_ms) for _ in range(2)))

    wax.service.run(both())
    (summary,) = summaries(wax)
    assert summary.subject == "Wax: No new subscribers last week"
    page_of = reads_account(notifications.page_of, wax.account_id)
    shown = wax.service.read(lambda tx: page_of(tx, Page(1, 9)))
    assert [each.notification.sentence for each in shown] == [summary.subject]


@pytest.mark.parametrize("column", ["closed_ms", "paused_ms"])
def test_an_account_that_is_closed_or_paused_gets_none(wax: Operator, column: str) -> None:
    make_old(wax)
    monday_ms = next_monday(wax)
    join_in_week(wax, monday_ms)
    stop = statement(f"UPDATE account SET {column} = 1 WHERE id = :account_id")
    wax.service.write(lambda tx: tx.run(stop, account_id=wax.account_id))
    due = wax.service.read(lambda tx: weekly_summaries.due_accounts(tx.at(monday_ms), most=1_000))
    assert wax.account_id not in [each.id for each in due]
    wax.service.run(run_job(wax, monday_ms))
    assert summaries(wax) == []


def test_an_erasure_rewrites_a_summary_that_waits_for_the_mail_server(
    wax: Operator, inbox: Mailbox
) -> None:
    monday_ms = next_monday(wax)
    ana = join_in_week(wax, monday_ms)
    inbox.say("MAIL", *["421 later"] * 50)
    wax.service.run(run_job(wax, monday_ms))
    until(lambda: bool(summaries(wax)))
    assert "Ana" in (text_of(wax) or "")
    assert wax.delete(f"{wax.v1}/subscribers/{ana['uuid']}").status_code in (200, 204)
    assert text_of(wax) is None and summaries(wax)[0].status == "cancelled"
    wax.service.run(run_job(wax, monday_ms + 60_000))
    newest = summaries(wax)[0]
    assert newest.status == "waiting" and "Ana" not in (text_of(wax) or "Ana")


def test_an_erasure_sends_no_summary_again_that_is_there(wax: Operator, inbox: Mailbox) -> None:
    monday_ms = next_monday(wax)
    ana = join_in_week(wax, monday_ms)
    wax.service.set_clock((monday_ms - wax.service.now_ms()) / 1000 + 1)
    wax.service.run(run_job(wax, wax.service.now_ms()))
    until(lambda: [each.status for each in summaries(wax)] == ["sent"])
    assert wax.delete(f"{wax.v1}/subscribers/{ana['uuid']}").status_code in (200, 204)
    wax.service.run(run_job(wax, wax.service.now_ms() + 60_000))
    assert [each.status for each in summaries(wax)] == ["sent"]


def test_a_time_zone_that_changes_meanwhile_is_looked_at_again(wax: Operator) -> None:
    """Monday morning in New York is not yet Monday morning in Honolulu."""
    monday_ms = next_monday(wax)
    join_in_week(wax, monday_ms)
    service = wax.service

    async def due(tx: Tx) -> DueAccount:
        found = await weekly_summaries.due_accounts(tx.at(monday_ms), most=1_000)
        return next(each for each in found if each.id == wax.account_id)

    account = service.read(due)
    site = service.services.site
    summary = service.read(lambda tx: weekly_summaries.summarize(tx.at(monday_ms), site, account))
    assert summary is not None
    zone = "Pacific/Honolulu"
    wax.make(accounts.set_time_zone, zone)
    service.write(lambda tx: weekly_summaries.finish(tx.at(monday_ms), site, account, summary))
    assert summaries(wax) == []
    service.run(run_job(wax, monday_ms))
    assert summaries(wax) == []
    service.run(run_job(wax, periods.next_monday_morning(monday_ms, zone_of(zone))))
    assert len(summaries(wax)) == 1


def summaries(member: Operator) -> list[QueuedEmail]:
    of_account = reads_account(emails.of_account, member.account_id)
    found = member.service.read(lambda tx: of_account(tx, Page(1, 200)))
    return [each for each in found if each.kind == "weekly_summary"]


def text_of(member: Operator) -> str | None:
    email_id = summaries(member)[0].id
    text_of = reads_account(emails.text_of, member.account_id)
    return member.service.read(lambda tx: text_of(tx, email_id))
