"""The numbers of a period on both engines: whose day somebody joined on, in which zone, and what
counts."""

import contextlib
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

import apsw
import asyncpg
import pytest

from honeyguide.kernel.periods import Period, day_of, start_of
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import Statement, registry
from honeyguide.subscribers import statistics
from tests.support.readings import reading
from tests.support.service import Service
from tests.support.stores import OpenStore
from tests.support.web import Operator, run_import, text_of, upload

NEW_YORK = ZoneInfo("America/New_York")


def tenant_of(who: Operator) -> Tenant:
    return Tenant(who.account_id, who.campaign_id)


def totals(service: Service, who: Operator, period: Period) -> statistics.PeriodTotals:
    return service.read(lambda tx: statistics.period_totals(reading(tx, tenant_of(who)), period))[0]


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("UTC", date(2026, 3, 29), 24),
        ("Europe/Berlin", date(2026, 3, 29), 23),
        ("Europe/Berlin", date(2026, 10, 25), 25),
        ("America/Havana", date(2026, 3, 8), 23),  # clocks skip midnight
        ("Asia/Kathmandu", date(2026, 1, 1), 24),
    ],
)
def test_a_day_is_as_long_as_its_zone_makes_it(zone: str, day: date, hours: int) -> None:
    period = Period(day, day, ZoneInfo(zone))
    assert period.until_ms - period.since_ms == hours * 3_600_000
    assert day_of(period.since_ms, period.zone) == day == day_of(period.until_ms - 1, period.zone)
    assert day_of(period.until_ms, period.zone) > day


def test_days_are_cut_in_the_zone_and_imports_are_counted_apart(
    service: Service, alice: Operator
) -> None:
    ann = alice.subscribe("ann@example.org", created_at="2026-03-01T12:00:00Z")
    for email, at in (("late@example.org", "04:59:59"), ("early@example.org", "05:00:00")):
        alice.subscribe(email, referrer_code=ann["ref_code"], created_at=f"2026-03-03T{at}Z")
    file = upload(alice, "email,created_at\nold@example.org,2026-03-02T18:00:00Z\n")
    run_import(alice, file)
    second, third = date(2026, 3, 2), date(2026, 3, 3)
    in_new_york = totals(service, alice, Period(second, second, NEW_YORK))
    assert (in_new_york.new, in_new_york.referred, in_new_york.imported) == (1, 1, 1)
    in_utc = totals(service, alice, Period(third, third, ZoneInfo("UTC")))
    assert (in_utc.new, in_utc.verified, in_utc.imported) == (2, 2, 0)
    both = Period(second, third, NEW_YORK)
    (top,) = service.read(
        lambda tx: statistics.top_advocates(reading(tx, tenant_of(alice)), both, most=5)
    )
    assert (top.email, top.verified) == ("ann@example.org", 2)


def test_the_time_zone_is_chosen_on_the_settings_page(alice: Operator) -> None:
    done = alice.web.post("/settings/time-zone", page="/settings", time_zone="Asia/Tokyo")
    assert done.status_code == 303
    page = alice.web.get("/settings").text
    assert '<option value="Asia/Tokyo" selected>' in page and "Time zone saved." in text_of(page)
    for wrong in ("Mars/Olympus", "../etc/passwd", ""):
        refused = alice.web.post("/settings/time-zone", page="/settings", time_zone=wrong)
        assert refused.status_code == 400
    assert '<option value="Asia/Tokyo" selected>' in alice.web.get("/settings").text


def test_filters_and_dates_of_the_subscriber_list_use_the_time_zone(alice: Operator) -> None:
    alice.web.post("/settings/time-zone", page="/settings", time_zone="America/New_York")
    for email, at in (("late@example.org", "04:59:59"), ("early@example.org", "05:00:00")):
        alice.subscribe(email, created_at=f"2026-03-03T{at}Z")
    second = "joined_from=2026-03-02&joined_to=2026-03-02"
    page = text_of(alice.web.get(f"/subscribers?{second}").text)
    assert "late@example.org" in page and "early@example.org" not in page
    assert "Joined from: 2 Mar 2026" in page and "1 of 2 subscribers" in page
    exported = alice.web.get(f"/subscribers/export.csv?{second}").text
    assert "late@example.org" in exported and "early@example.org" not in exported
    listed = text_of(alice.web.get("/subscribers").text)
    assert "2 Mar 2026" in listed and "3 Mar 2026" in listed


def test_a_period_moves_by_whole_days_over_a_change_of_clocks() -> None:
    period = Period(date(2026, 3, 20), date(2026, 4, 2), ZoneInfo("Europe/Berlin"))
    before = period.shifted(-period.length)
    assert before.last == date(2026, 3, 19) and before.until_ms == period.since_ms
    assert [day.day for day in period.days][:2] == [date(2026, 3, 20), date(2026, 3, 21)]
    assert period.days[-1].until_ms == period.until_ms == start_of(date(2026, 4, 3), period.zone)


async def _postgres_plan(url: str, plans: Statement[Any], values: dict[str, Any]) -> str:
    connection = await asyncpg.connect(url)
    try:
        order = [values[name] for name in plans.postgres_order]
        return "\n".join(
            row[0] for row in await connection.fetch("EXPLAIN " + plans.postgres, *order)
        )
    finally:
        await connection.close()


@pytest.mark.parametrize(
    "name",
    [
        "cohorts.count",
        "cohorts.people_up_to",
        "cohorts.slice_end",
        "cohorts.joined",
        "cohorts.newest",
    ],
)
def test_a_few_days_are_looked_up_in_the_index(opened: OpenStore, name: str) -> None:
    """Also by a database that was never analyzed: it would read the whole campaign otherwise."""
    found = next(each for each in registry if each.name == f"subscribers.{name}")
    days = '[{"day": "2026-01-01", "since_ms": 1, "until_ms": 2}]'
    values = {
        "account_id": "a",
        "campaign_id": "c",
        "recorded_since_ms": 0,
        "most": 9,
        "days": days,
        "since_ms": 1,
        "until_ms": 2,
        "rows": 9,
        "most_read": 9,
    }
    if opened.engine == "postgres":
        plan = opened.run(_postgres_plan(opened.url, found, values))
    else:
        with contextlib.closing(apsw.Connection(opened.url.removeprefix("sqlite:///"))) as database:
            order = tuple(values[name] for name in found.sqlite_order)
            rows = database.execute("EXPLAIN QUERY PLAN " + found.sqlite, order)
            plan = "\n".join(row[3] for row in rows)
    assert "subscriber_list" in plan and "subscriber_person" not in plan, plan
