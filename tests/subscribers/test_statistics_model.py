"""Every number of a period against a slow count that knows nothing of how it is made: after any
history, in any zone, whether the days were counted by the job or are counted while the page waits.
"""

from collections import Counter
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.periods import Period, day_of
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.dashboard.home import decisions
from honeyguide.rewards import recent_counts
from honeyguide.store.tx import Tx
from honeyguide.subscribers import clicks, cohorts, statistics
from honeyguide.subscribers.statistics import CutPeriod
from tests.support.campaign_history import (
    CLAIMED,
    EARNED,
    ERASED_AFTER_COUNT,
    JOIN,
    LEFT_AFTER_COUNT,
    MOVES,
    START_MS,
    Clicked,
    History,
)
from tests.support.readings import reading
from tests.support.service import ENGINES
from tests.support.stores import OpenStore

COLUMNS = (
    "id, created_ms, received_ms, origin, utm_source, utm_campaign, referrer_code, referrer_id, "
    "referral_status, referral_reason, status"
)
SUSPICIOUS = ("same_network", "many_from_one_network", "burst")


def _stays(history: History, row: dict[str, Any]) -> list[tuple[int, bool]]:
    """Whether they were still subscribed after 30 and 90 days, if that is known."""
    left_ms = history.left_ms.get(row["id"])
    is_known = row["created_ms"] >= START_MS and row["received_ms"] - row["created_ms"] <= DAY_MS
    was_never_here = row["status"] == "unsubscribed" and left_ms is None
    if not is_known or was_never_here:
        return []
    return [(n, left_ms is None or left_ms > row["created_ms"] + n * DAY_MS) for n in (30, 90)]


def _clicked(history: History, period: Period, until_ms: int) -> list[Clicked]:
    return [
        each
        for each in history.clicked
        if period.first <= day_of(each.at_ms, period.zone) <= period.last
        and each.at_ms - each.at_ms % clicks.QUARTER_MS < until_ms
    ]


def slow_count(history: History, period: Period, until_ms: int) -> dict[str, Any]:
    """One person after the other."""
    totals: Counter[str] = Counter()
    days: Counter[date] = Counter()
    origins: Counter[str] = Counter()
    utm: Counter[str] = Counter()
    utm_campaigns: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    referrals: dict[str, Counter[str]] = {}
    kept = {(group, n): [0, 0] for group in ("referred", "others") for n in (30, 90)}
    rows = history.opened.ask(
        f"SELECT {COLUMNS} FROM subscriber WHERE campaign_id = :campaign_id AND erased_ms IS NULL",
        campaign_id=history.tenant.campaign_id,
    )
    for values in rows:
        row = dict(zip(COLUMNS.split(", "), values, strict=True))
        joined = day_of(row["created_ms"], period.zone)
        if not period.first <= joined <= period.last or row["created_ms"] >= until_ms:
            continue
        if row["origin"] == "import":
            totals["imported"] += 1
            continue
        totals["new"] += 1
        days[joined] += 1
        origins[row["origin"]] += 1
        utm[row["utm_source"] or ""] += 1
        utm_campaigns[row["utm_campaign"] or ""] += 1
        group = "others"
        if row["referrer_code"]:
            group = "referred"
            totals["referred"] += 1
            totals[row["referral_status"]] += 1
            counts = referrals.setdefault(row["referrer_id"], Counter())
            counts[row["referral_status"]] += 1
            if row["referral_status"] == "rejected":
                reasons[row["referral_reason"]] += 1
        is_rejected = row["referral_status"] == "rejected"
        if not (group == "referred" and is_rejected):
            for n, stayed in _stays(history, row):
                kept[group, n][0] += 1
                kept[group, n][1] += stayed
    clicked = _clicked(history, period, until_ms)
    return {
        "totals": totals,
        "days": days,
        "origin": origins,
        "utm_source": utm,
        "utm_campaign": utm_campaigns,
        "reason": reasons,
        "referrals": referrals,
        "kept": kept,
        "clicks": len(clicked),
        "hosts": Counter(each.host for each in clicked),
    }


def slow_rewards(history: History, period: Period) -> dict[str, int]:
    """Earned in the period, by status."""
    rows = history.opened.ask(
        "SELECT status, earned_ms FROM won_reward WHERE campaign_id = :campaign_id",
        campaign_id=history.tenant.campaign_id,
    )
    return Counter(
        status
        for status, earned_ms in rows
        if period.first <= day_of(earned_ms, period.zone) <= period.last
    )


def slow_decisions(history: History) -> dict[str, int]:
    """What the first card lists, by where it leads."""
    params = {"campaign_id": history.tenant.campaign_id}
    referrals = history.opened.ask(
        "SELECT referral_status, referral_reason FROM subscriber "
        "WHERE campaign_id = :campaign_id AND erased_ms IS NULL",
        **params,
    )
    earned = history.opened.ask(
        "SELECT status, subscriber_id, claimed_ms FROM won_reward WHERE campaign_id = :campaign_id",
        **params,
    )
    claimed = [ms for status, _, ms in earned if status == "unlocked" and ms is not None]
    waiting = [
        who for status, who, _ in earned if status == "out_of_stock" and who in history.people
    ]
    found = {
        "Review": sum(row[0] == "pending" and row[1] in SUSPICIOUS for row in referrals),
        "Approve": sum(status == "awaiting_approval" for status, _, _ in earned),
        "Open rewards": len(claimed),
        "Open shipments": len(history.to_send),
        "Add": len(waiting),
    }
    return {action: n for action, n in found.items() if n}


async def read_decisions(tx: Tx, history: History) -> dict[str, int]:
    at = reading(tx, history.tenant, now_ms=history.now_ms)
    found = decisions.choose(await decisions.read(at))
    return {
        each.action if each.action.startswith("Open") else each.action.split()[0]: each.n
        for each in found
    }


async def read_all(tx: Tx, tenant: Tenant, period: Period, until_ms: int | None) -> dict[str, Any]:
    at, kinds = reading(tx, tenant), ["origin", "utm_source", "utm_campaign", "reason"]
    # Beside another period, which shares days with it, as on Home.
    asked = [CutPeriod(period, until_ms), CutPeriod(period.shifted(-1))]
    span, other = await statistics.open_spans(at, *asked)
    (days,) = await statistics.by_day(at, [span])
    kept = {n: statistics.retention(span, days=n) for n in (30, 90)}
    ranked = await statistics.ranked(at, [span, other], kinds, most=99)
    referrers, _ = await statistics.referrers(at, [span, other])
    return {
        "span": span,
        "totals": statistics.total(days.values()),
        "days": {day: counts.new for day, counts in days.items() if counts.new},
        "ranked": {
            kind: {each.key: each.n for each in ranked if each.kind == kind} for kind in kinds
        },
        "rewards": await recent_counts.earned(
            reading(tx, tenant), since_ms=period.since_ms, until_ms=period.until_ms
        ),
        "advocates": await statistics.advocates(at, span, most=99),
        "referrers": referrers,
        "kept": kept,
        "hosts": {each.key: each.n for each in await statistics.hosts(at, [span], most=99)},
    }


def compare(history: History, period: Period, until_ms: int | None = None) -> None:
    found = history.opened.run(
        history.opened.store.snapshot(read_all, history.tenant, period, until_ms)
    )
    true = slow_count(history, period, until_ms or period.until_ms)
    totals, span = found["totals"], found["span"]
    assert span.is_counted and span.stored_ms is None
    for name in ("new", "referred", "verified", "pending", "rejected", "imported"):
        assert getattr(totals, name) == true["totals"][name], name
    assert totals.not_referred == true["totals"]["new"] - true["totals"]["referred"]
    assert totals.clicks == true["clicks"] and found["hosts"] == true["hosts"]
    assert found["days"] == true["days"]
    for kind in ("origin", "utm_source", "utm_campaign", "reason"):
        assert found["ranked"][kind] == true[kind]
    assert {
        each.id: (each.verified, each.pending, each.rejected) for each in found["advocates"]
    } == {
        who: (n["verified"], n["pending"], n["rejected"])
        for who, n in true["referrals"].items()
        if n["verified"] + n["pending"] and who in history.people
    }
    assert found["referrers"].n == len(true["referrals"])
    assert found["referrers"].referrals == sum(map(Counter.total, true["referrals"].values()))
    earned = slow_rewards(history, period)
    assert found["rewards"] == (
        earned["awaiting_approval"],
        earned["unlocked"],
        earned["out_of_stock"],
        earned["redeemed"],
    )
    for n in (30, 90):
        referred, others = found["kept"][n]
        assert [*referred] == true["kept"]["referred", n] and [*others] == true["kept"]["others", n]


def check(opened: OpenStore, number: int, moves: list[dict[str, Any]], length: int) -> None:
    history = History(opened, number)
    history.play(moves)
    zone = ZoneInfo(history.zone)
    today = day_of(history.now_ms, zone)
    period = Period(today - timedelta(days=length - 1), today, zone)
    compare(history, period)
    before = period.shifted(-length)
    compare(history, before)
    compare(history, before, history.now_ms - length * DAY_MS)
    compare(history, Period(today - timedelta(days=400), today, zone))
    shown = opened.run(opened.store.snapshot(read_decisions, history))
    assert shown == slow_decisions(history)


@pytest.fixture(scope="module", params=ENGINES)
def opened(request: pytest.FixtureRequest) -> Any:
    with OpenStore(request.param) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(cohorts, "SLICE_ROWS", 3)
        yield store


_numbers = iter(range(10**6))


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(moves=MOVES, length=st.sampled_from([1, 7, 30]))
@example(moves=LEFT_AFTER_COUNT, length=7)
@example(moves=[*LEFT_AFTER_COUNT, {"do": "apply"}, {"do": "wait", "hours": 7}], length=7)
@example(moves=ERASED_AFTER_COUNT, length=7)
@example(moves=[JOIN, {"do": "leave_after", "who": 0, "days": 30}], length=30)
@example(moves=[JOIN, {"do": "leave_after", "who": 0, "days": 90}], length=30)
@example(moves=CLAIMED, length=7)
@example(moves=[*CLAIMED, {"do": "send", "which": 0}], length=7)
@example(moves=[*CLAIMED, {"do": "erase", "who": 0}], length=7)
@example(moves=[*EARNED, {"do": "erase", "who": 1}], length=7)
def test_every_number_is_what_a_slow_count_finds(
    opened: OpenStore, moves: list[dict[str, Any]], length: int
) -> None:
    check(opened, next(_numbers), moves, length)


@pytest.mark.long
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(moves=MOVES, length=st.sampled_from([1, 7, 30]))
def test_every_number_is_what_a_slow_count_finds_after_many_histories(
    opened: OpenStore, moves: list[dict[str, Any]], length: int
) -> None:
    check(opened, next(_numbers), moves, length)
