"""Every number of a period against a slow count that knows nothing of how it is made: after any
history, in any zone, whether the days were counted by the job or are counted while the page waits.
"""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from honeyguide.accounts import accounts
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, iso
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.periods import Period, day_of
from honeyguide.kernel.tenant import Tenant
from honeyguide.referrals import campaigns, clicks, lifecycle, page_index, statistics
from honeyguide.referrals.lifecycle import NewSubscriber, SubscriberChanges
from honeyguide.signups import signups
from honeyguide.store.tx import Tx
from honeyguide.work.jobs import count_cohorts
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.support.trade import SITE

START_MS = 1_790_000_000_000
ZONES = ("UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Kiritimati", "Pacific/Niue")
HOSTS = ("", "example.org", "news.example")

MOVES = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {
                "do": st.just("join"),
                "referrer": st.one_of(st.none(), st.integers(0, 30)),
                "days_ago": st.sampled_from([0, 0, 0, 1, 2, 5, 40]),
                "origin": st.sampled_from(["api", "signup", "import"]),
                "utm": st.sampled_from([None, "tw", "fb"]),
                "status": st.sampled_from(["active", "active", "confirmed", "unsubscribed"]),
                "ip": st.integers(1, 3),
            }
        ),
        st.fixed_dictionaries(
            {
                "do": st.sampled_from(["leave", "confirm", "verify", "reject", "erase"]),
                "who": st.integers(0, 30),
            }
        ),
        st.fixed_dictionaries({"do": st.just("wait"), "hours": st.sampled_from([1, 7, 30, 750])}),
        st.fixed_dictionaries({"do": st.just("click"), "host": st.sampled_from(HOSTS)}),
        st.fixed_dictionaries({"do": st.sampled_from(["apply", "count"])}),
        st.fixed_dictionaries({"do": st.just("move"), "zone": st.sampled_from(ZONES)}),
    ),
    min_size=5,
    max_size=40,
)
_JOIN = {
    "do": "join",
    "referrer": None,
    "days_ago": 0,
    "origin": "api",
    "utm": "tw",
    "status": "active",
    "ip": 1,
}
# The job counted the day before somebody left, or was erased.
LEFT_AFTER_COUNT = [
    _JOIN,
    {**_JOIN, "referrer": 0},
    _JOIN,
    {"do": "apply"},
    {"do": "count"},
    {"do": "leave", "who": 0},
]
ERASED_AFTER_COUNT = [*LEFT_AFTER_COUNT[:-1], {"do": "erase", "who": 0}]
COLUMNS = (
    "id, created_ms, received_ms, origin, utm_source, referrer_code, referrer_id, referral_status, "
    "referral_reason, status"
)


class Clicked(NamedTuple):
    at_ms: int
    host: str


class History:
    """An account that lives through the moves, and remembers what the database does not say."""

    def __init__(self, opened: OpenStore, number: int) -> None:
        self.opened, self.now_ms, self.number = opened, START_MS, number
        self.people: list[str] = []
        self.left_ms: dict[str, int] = {}
        self.clicked: list[Clicked] = []
        self.zone = "UTC"
        self.tenant = self.write(self._create)

    def write(self, unit: Any, *args: Any) -> Any:
        return self.opened.run(self.opened.store.write(unit, *args))

    async def _create(self, tx: Tx) -> Tenant:
        email = EmailAddress(f"owner{self.number}@example.org")
        tenant = Tenant(*await accounts.create(tx, email, name="Wax", now_ms=START_MS))
        await campaigns.configure(
            tx, tenant, campaigns.CampaignSettings(screening="strong", hold_days=2)
        )
        await accounts.note_unsubscribes_recorded_since(tx, START_MS)
        return tenant

    def play(self, moves: list[dict[str, Any]]) -> None:
        for place, move in enumerate(moves):
            self.now_ms += 1_000
            do = move["do"]
            if do == "join":
                self.write(self._join, place, move)
            elif do in ("leave", "confirm", "verify", "reject", "erase"):
                if self.people:
                    self.write(self._change, do, self.people[move["who"] % len(self.people)])
            elif do == "wait":
                self.now_ms += move["hours"] * HOUR_MS
                self.write(self._verify_due)
            elif do == "click":
                self.write(self._click, place, move["host"])
            elif do == "move":
                self.zone = move["zone"]
                self.write(accounts.set_time_zone, self.tenant.account_id, self.zone)
            elif do == "apply":
                self.opened.run(self.opened.store.write_snapshot(page_index.apply_changes))
            else:
                while self.opened.run(count_cohorts(self.opened.store, self.now_ms)):
                    pass

    async def _join(self, tx: Tx, place: int, move: dict[str, Any]) -> None:
        code = None
        if move["referrer"] is not None and self.people:
            who = self.people[move["referrer"] % len(self.people)]
            code = (await lifecycle.subscribers.get(tx, self.tenant, who)).ref_code
        email = f"s{place}@{'mailinator.com' if place % 9 == 0 else 'example.org'}"
        new = NewSubscriber(
            email=email,
            origin=move["origin"],
            status=move["status"],
            referrer_code=code,
            utm_source=move["utm"],
            ip_address=f"9.9.9.{move['ip']}",
            created_at=iso(self.now_ms - move["days_ago"] * DAY_MS),
        )
        made = await signups.sign_up(
            tx, SITE, self.tenant, new, email=EmailAddress(email), now_ms=self.now_ms
        )
        self.people.append(made.id)

    async def _change(self, tx: Tx, do: str, who: str) -> None:
        if do == "erase":
            await signups.erase(tx, self.tenant, who, now_ms=self.now_ms)
            self.people.remove(who)
            return
        old = await lifecycle.subscribers.get(tx, self.tenant, who)
        if do in ("verify", "reject"):
            if old.referrer_code and old.referral_status != "verified":
                status = {"verify": "verified", "reject": "rejected"}[do]
                await signups.decide(
                    tx, SITE, self.tenant, who, status, by="operator", now_ms=self.now_ms
                )
            return
        status = "unsubscribed" if do == "leave" else "confirmed"
        changes = SubscriberChanges(status=status)
        await signups.change(tx, SITE, self.tenant, who, changes, now_ms=self.now_ms)
        if do == "confirm":
            self.left_ms.pop(who, None)
        elif old.status != "unsubscribed":
            self.left_ms[who] = self.now_ms

    async def _verify_due(self, tx: Tx) -> None:
        for tenant, who in await lifecycle.due(tx, now_ms=self.now_ms, batch=100):
            await signups.verify_due(tx, SITE, tenant, who, now_ms=self.now_ms)

    async def _click(self, tx: Tx, place: int, host: str) -> None:
        click = clicks.click(
            SITE,
            account_id=self.tenant.account_id,
            target_id=self.tenant.campaign_id,
            code="aaaaaaaa",
            address=f"10.0.0.{place}",
            user_agent="Firefox",
            now_ms=self.now_ms,
            referrer=f"https://{host}/page" if host else "",
        )
        await clicks.count_clicks(tx, [click])
        self.clicked.append(Clicked(self.now_ms, host))


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
        group = "others"
        if row["referrer_code"]:
            group = "referred"
            totals["referred"] += 1
            totals[row["referral_status"]] += 1
            mine = referrals.setdefault(row["referrer_id"], Counter())
            mine[row["referral_status"]] += 1
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
        "reason": reasons,
        "referrals": referrals,
        "kept": kept,
        "clicks": len(clicked),
        "hosts": Counter(each.host for each in clicked),
    }


async def read_all(tx: Tx, tenant: Tenant, period: Period, until_ms: int | None) -> dict[str, Any]:
    span = await statistics.open_span(tx, tenant, period, until_ms=until_ms)
    days = await statistics.by_day(tx, span)
    kept = {n: await statistics.retention(tx, span, days=n) for n in (30, 90)}
    return {
        "span": span,
        "totals": statistics.total(days.values()),
        "days": {day: counts.new for day, counts in days.items() if counts.new},
        "ranked": {
            kind: {
                each.key: each.joined for each in await statistics.ranked(tx, span, kind, most=99)
            }
            for kind in ("origin", "utm_source", "reason")
        },
        "advocates": await statistics.advocates(tx, span, most=99),
        "referrers": await statistics.referrers(tx, span),
        "kept": kept,
        "hosts": {each.host: each.n for each in await statistics.hosts(tx, span, most=99)},
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
    for kind in ("origin", "utm_source", "reason"):
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


@pytest.fixture(scope="module", params=ENGINES)
def opened(request: pytest.FixtureRequest) -> Any:
    with OpenStore(request.param) as store:
        yield store


_numbers = iter(range(10**6))


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(moves=MOVES, length=st.sampled_from([1, 7, 30]))
@example(moves=LEFT_AFTER_COUNT, length=7)
@example(moves=[*LEFT_AFTER_COUNT, {"do": "apply"}, {"do": "wait", "hours": 7}], length=7)
@example(moves=ERASED_AFTER_COUNT, length=7)
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
