"""The range of days on Home, on both engines: what the URL may ask for, what it is compared
with, and the same numbers on the page and in its files."""

import csv
import html
import io
import re
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, iso
from honeyguide.kernel.periods import start_of
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.home import ranges
from honeyguide.pages.dashboard.routes import PAGES
from honeyguide.pages.handlers import Uses
from honeyguide.store.tx import Tx
from honeyguide.subscribers import clicks, statistics
from tests.support.service import Service
from tests.support.web import Operator, operator, run_import, text_of, upload

UTC = ZoneInfo("UTC")
NOON_MS = start_of(date(2026, 11, 15), UTC) + 12 * HOUR_MS


def chosen(zone: ZoneInfo = UTC, now_ms: int = NOON_MS, **query: str) -> ranges.ChosenRange:
    if "first" in query:
        query["from"] = query.pop("first")
    return ranges.chosen_range(query, zone, now_ms=now_ms)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ({"first": "2026-02-30", "to": "2026-03-01"}, "From must be a date such as 2026-11-15."),
        ({"first": "2026-11-01", "to": "yesterday"}, "To must be a date such as 2026-11-15."),
        ({"first": "2026-W10-1", "to": "2026-11-01"}, "From must be a date such as 2026-11-15."),
        ({"first": "20261101", "to": "2026-11-01"}, "From must be a date such as 2026-11-15."),
        ({"first": "٢٠٢٦-11-01", "to": "2026-11-01"}, "From must be a date such as 2026-11-15."),
        ({"first": "0001-01-01", "to": "2026-11-01"}, "From must be in 2000 or later."),
        ({"first": "2026-11-10", "to": "2026-11-01"}, "From must not be after To."),
        ({"first": "2026-12-01", "to": "2026-12-02"}, "From must not be in the future."),
        ({"first": "2020-01-01", "to": "2026-11-01"}, "Choose a range of at most 5 years."),
        ({"first": "9999-12-31", "to": "9999-12-31"}, "From must not be in the future."),
    ],
)
def test_a_range_that_cannot_be_is_refused_and_the_usual_one_shown(
    query: dict[str, str], error: str
) -> None:
    found = chosen(**query)
    assert found.error == error and found.key == "30d" and found.period.length == 30


def test_ranges_end_today_in_the_accounts_zone() -> None:
    """At noon UTC it is already tomorrow on Kiritimati."""
    assert chosen(range="7d").text == "9 – 15 Nov 2026".replace("9 –", "9 Nov –")
    assert chosen(ZoneInfo("Pacific/Kiritimati"), range="7d").period.last == date(2026, 11, 16)
    assert chosen(first="2026-11-01", to="2027-01-01").period.last == date(2026, 11, 15)
    assert chosen(first="2026-11-03", to="2026-11-03").text == "3 Nov 2026"
    assert chosen(first="2025-12-30", to="2026-01-02").text == "30 Dec 2025 – 2 Jan 2026"
    assert chosen(range="nonsense").key == chosen().key == "30d"


def test_a_day_that_is_not_over_is_compared_with_as_much_of_another() -> None:
    week = chosen(range="7d")
    assert week.comparison_text == "2 Nov – 8 Nov 2026"
    assert week.comparison_until_ms == NOON_MS - 7 * DAY_MS
    past = chosen(first="2026-11-01", to="2026-11-07")
    assert past.comparison_text == "25 Oct – 31 Oct 2026" and past.comparison_until_ms is None
    year = chosen(range="7d", compare="year")
    assert year.comparison is not None and year.comparison.last == date(2025, 11, 16)
    assert year.comparison.last.weekday() == year.period.last.weekday()
    assert chosen(range="7d", compare="none").comparison is None


def rows_of(who: Operator, path: str) -> list[list[str]]:
    answer = who.web.get(path)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/csv")
    return list(csv.reader(io.StringIO(answer.text)))


def fill(service: Service) -> Operator:
    """Two referred people and another today, one referred a week ago; one was imported."""
    alice = operator(service)
    old = iso(service.now_ms() - 8 * DAY_MS)
    ann = alice.subscribe("ann@example.org", created_at=iso(service.now_ms() - 60 * DAY_MS))
    code = ann["ref_code"]
    claims: dict[str, Any] = {"utm_source": "=cmd", "utm_campaign": "spring"}
    alice.subscribe("a@example.org", referrer_code=code, **claims)
    alice.subscribe("b@mailinator.com", referrer_code=code)
    alice.subscribe("c@example.org")
    alice.subscribe("d@example.org", referrer_code=code, created_at=old)
    run_import(alice, upload(alice, "email\nold@example.org\n"))
    return alice


def test_the_page_and_its_files_have_the_same_numbers(service: Service) -> None:
    alice = fill(service)
    page = text_of(alice.web.get("/?range=7d").text)
    assert "New subscribers 3 2 more than in the 7 days before Referred 2" in page
    assert "Referred 2 1 verified , 1 rejected" in page
    assert "Imports are not in the picture. 1 subscriber who joined in this range" in page
    days = rows_of(alice, "/overview/days.csv?range=7d")
    assert len(days) == 8 and days[-1][1:] == ["3", "1", "0", "1", "1", "2", "0", "1", "0"]
    table = rows_of(alice, "/overview/summary.csv?range=7d")
    assert ["New", "3", "1"] in table and ["Imported", "1", "0"] in table
    sources = rows_of(alice, "/overview/sources.csv?range=7d&by=utm_source")
    assert sources[1:] == [["None", "2", "1"], ["'=cmd", "1", "0"]], "no formula"
    assert "Origin New Change API or added by you 3" in page
    assert "spring 1" in text_of(alice.web.get("/?range=7d&by=utm_campaign").text)


def test_a_number_leads_to_the_subscribers_it_counts(service: Service) -> None:
    alice = fill(service)
    for query in ("?range=7d", "?range=90d&by=utm_source"):
        page = alice.web.get(f"/{query}").text
        links = re.findall(r'<a href="(/subscribers\?[^"]*joined_from=[^"]*)">(\d+)', page)
        assert len(links) >= 8, "figures, funnel, imports and sources"
        for link, n in links:
            found = text_of(alice.web.get(html.unescape(link)).text)
            assert f"{n} of 6 subscribers" in found, link


def test_values_that_differ_in_case_are_counted_and_found_apart(alice: Operator) -> None:
    for number, value in enumerate(("Instagram", "instagram", "instagram", "ÉTÉ")):
        alice.subscribe(f"s{number}@example.org", utm_source=value, utm_campaign=value)
    for by in ("utm_source", "utm_campaign"):
        page = alice.web.get(f"/?range=7d&by={by}").text
        links = re.findall(rf'<a href="(/subscribers\?[^"]*{by}=[^"]*)">(\d+)', page)
        assert sorted(n for _, n in links) == ["1", "1", "2"]
        for link, n in links:
            found = text_of(alice.web.get(html.unescape(link)).text)
            assert f"{n} of 4 subscribers" in found, link


def test_a_wrong_range_is_said_next_to_the_dates(alice: Operator) -> None:
    answer = alice.web.get("/?from=2026-02-31&to=2026-03-01")
    assert answer.status_code == 400
    assert "From must be a date such as 2026-11-15." in text_of(answer.text)
    for path in ("/?from=&to=", "/?range=7d&by=secrets&compare=x", "/?from=x%00&to=y"):
        assert alice.web.get(path).status_code in (200, 400)


def test_the_numbers_of_a_large_campaign_say_as_of_when(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = fill(service)
    monkeypatch.setattr(statistics.open_spans, "__kwdefaults__", {"most_live": 0})
    assert "We are counting your subscribers for the first time" in text_of(alice.web.get("/").text)
    service.run_jobs()
    counted_ms = service.now_ms()
    alice.subscribe("e@example.org")
    service.set_clock(90)
    page = text_of(alice.web.get("/?range=7d").text)
    assert "New subscribers 3" in page, "not counted yet"
    assert f"as of {formats.time_in(counted_ms, UTC)} today" in page
    service.set_clock(6 * 60)
    service.run_jobs()
    assert "New subscribers 4" in text_of(alice.web.get("/?range=7d").text)


def test_clicks_are_counted_by_the_site_they_came_from(service: Service, alice: Operator) -> None:
    ann = alice.subscribe("ann@example.org")
    for number, site in enumerate(("https://www.News.example/a?b=c", "", "nonsense", "http://x/")):
        headers = {"user-agent": f"Firefox/{number}", **({"referer": site} if site else {})}
        assert alice.web.get(f"/r/{ann['ref_code']}", headers=headers).status_code == 302
    service.run(service.application._links.counter.flush())
    rows = rows_of(alice, "/overview/sources.csv?range=7d&by=site&compare=none")
    assert rows[1:] == [["Not known", "2", ""], ["news.example", "1", ""], ["x", "1", ""]]


def test_the_week_before_is_cut_at_the_same_time_of_day(service: Service, alice: Operator) -> None:
    """Two joined on the same weekday a week ago: one before this time of day, one after it."""
    today = date.fromtimestamp(service.now_ms() / 1000)
    noon_ms = start_of(today + timedelta(days=1), UTC) + 12 * HOUR_MS
    service.set_clock((noon_ms - service.now_ms()) / 1000)
    alice.web.log_in(alice.email)
    for name, at_ms in (("early", noon_ms - HOUR_MS), ("late", noon_ms + HOUR_MS)):
        alice.subscribe(f"{name}@example.org", created_at=iso(at_ms - 7 * DAY_MS))
    alice.subscribe("today@example.org")
    assert "New subscribers 1 as many as in the 7 days before" in text_of(
        alice.web.get("/?range=7d").text
    )


def test_the_page_lists_ten_sources_and_the_others_together(alice: Operator) -> None:
    for number in range(12):
        for each in range(2 if number == 11 else 1):
            alice.subscribe(f"s{number}.{each}@example.org", utm_source=f"site{number:02}")
    page = text_of(alice.web.get("/?range=7d&by=utm_source").text)
    assert "site11 2" in page and "site08 1" in page and "site09" not in page
    assert "Others 2" in page
    rows = rows_of(alice, "/overview/sources.csv?range=7d&by=utm_source&compare=none")
    assert len(rows) == 13 and ["site09", "1", ""] in rows


def test_visitors_cannot_claim_any_number_of_sites(service: Service, alice: Operator) -> None:

    async def click(tx: Tx, numbers: range) -> None:
        now_ms = service.now_ms() // HOUR_MS * HOUR_MS
        found = [
            clicks.click(
                service.services.site,
                account_id=alice.account_id,
                target_id=alice.campaign_id,
                code="aaaaaaaa",
                address=f"10.0.0.{number}",
                user_agent="Firefox",
                now_ms=now_ms,
                referrer=f"https://site{number}.example/",
            )
            for number in numbers
        ]
        await clicks.count_clicks(tx, found)

    for numbers in (range(40), range(40, 60)):
        service.write(lambda tx, numbers=numbers: click(tx, numbers))  # type: ignore[misc]
    rows = rows_of(alice, "/overview/sources.csv?range=7d&by=site&compare=none")
    assert len(rows) == 1 + clicks.MOST_HOSTS + 1
    assert rows[-1] == ["Others", str(60 - clicks.MOST_HOSTS), ""]


def test_home_is_read_beside_the_event_loop() -> None:
    uses = {page.path: page.uses for page in PAGES if page.method == "GET"}
    found = {uses["/"], *(uses[path] for path in uses if path.startswith("/overview/"))}
    assert found <= {Uses.SLOW_READS, Uses.REPLICA_READS}


def test_a_range_with_too_many_referrers_says_so(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = fill(service)
    service.run_jobs()
    monkeypatch.setattr(statistics, "MOST_REFERRER_ROWS", 0)
    page = text_of(alice.web.get("/?range=30d").text)
    assert "Too many referrers to count; choose a shorter range." in page
    assert "New subscribers 4" in page, "all else is counted"
