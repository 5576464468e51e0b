"""A referral keeps the budget and the cap under which it came, where they are higher than those of
the day on which it is charged. On both engines.
"""

import pytest

from honeyguide.partners import forecast
from honeyguide.store import Store
from tests.partners.test_partner_signups import join, offer
from tests.support.service import Service
from tests.support.trade import DAY_MS, NOON_MS, Trade
from tests.support.web import operator, text_of

NOVEMBER = "2026-11"
HELD = {"referral_pending_duration_enabled": True, "referral_pending_duration": 5}
DUE_MS = NOON_MS + 5 * DAY_MS
PAID = ("verified", 300, NOVEMBER, None)


def unpaid(reason: str) -> tuple[str, None, str, str]:
    return "verified", None, NOVEMBER, reason


async def limits_used(trade: Trade) -> list[tuple[int, int]]:
    """Of each charge: budget and cap."""
    sql = "SELECT budget_cap_cents, partner_cap_cents FROM charge ORDER BY budget_step"
    return await trade.rows(sql)  # type: ignore[return-value]


@pytest.mark.parametrize("is_put_back", [True, False])
@pytest.mark.parametrize("name", ["total_budget", "max_payout"])
async def test_a_limit_lowered_to_nothing_is_for_those_who_come_later(
    store: Store, name: str, is_put_back: bool
) -> None:
    trade = await Trade.begin(store, cpa=300, total_budget=900, max_payout=800, **HELD)
    before = await trade.arrive()
    await trade.offer(**{name: 0}, now_ms=NOON_MS + DAY_MS)
    after = await trade.arrive(now_ms=NOON_MS + DAY_MS)
    await trade.verify_due(DUE_MS)
    assert await trade.outcome(before.id) == PAID
    assert await limits_used(trade) == [(900, 800)]
    if is_put_back:
        await trade.offer(**{name: 900}, now_ms=DUE_MS)
    await trade.verify_due(DUE_MS + DAY_MS)
    reason = "budget_spent" if name == "total_budget" else "partner_cap"
    assert await trade.outcome(after.id) == (PAID if is_put_back else unpaid(reason))
    assert (await trade.reached()) is (name == "total_budget" and not is_put_back)


async def test_a_raised_limit_is_for_everybody(store: Store) -> None:
    trade = await Trade.begin(store, cpa=300, total_budget=0, max_payout=0, **HELD)
    reader = await trade.arrive()
    await trade.offer(total_budget=1_000, max_payout=700)
    await trade.verify_due(DUE_MS)
    assert await trade.outcome(reader.id) == PAID
    assert await limits_used(trade) == [(1_000, 700)]


@pytest.mark.parametrize(("limit", "n"), [(599, 1), (600, 2), (601, 2), (899, 2), (900, 3)])
@pytest.mark.parametrize("name", ["total_budget", "max_payout"])
async def test_within_the_limits_of_arrival_whole_fees_are_paid_and_not_one_more(
    store: Store, name: str, limit: int, n: int
) -> None:
    terms = {"total_budget": 9_000, "max_payout": 9_000, name: limit}
    trade = await Trade.begin(store, cpa=300, **terms, **HELD)
    people = [await trade.arrive(now_ms=NOON_MS + at) for at in range(4)]
    await trade.offer(**{name: 1})
    await trade.verify_due(DUE_MS + 4)
    reason = "budget_spent" if name == "total_budget" else "partner_cap"
    outcomes = [await trade.outcome(each.id) for each in people]
    assert outcomes == [PAID] * n + [unpaid(reason)] * (4 - n)
    assert await trade.spent() == 300 * n


async def test_a_month_stops_only_those_whose_own_limit_it_has_reached(store: Store) -> None:
    """What did not fit a budget ends the month for smaller fees under the same budget, whatever it
    is today."""
    trade = await Trade.begin(store, cpa=400, total_budget=1_000, **HELD)
    high = [await trade.arrive(now_ms=NOON_MS + at) for at in range(3)]
    await trade.offer(cpa=100, now_ms=NOON_MS + 3)
    small = await trade.arrive(now_ms=NOON_MS + 3)
    await trade.offer(total_budget=2_000, now_ms=NOON_MS + 4)
    highest = await trade.arrive(now_ms=NOON_MS + 4)
    await trade.offer(total_budget=500, now_ms=NOON_MS + 5)
    low = await trade.arrive(now_ms=NOON_MS + 5)
    await trade.verify_due(DUE_MS)
    assert not await trade.reached()
    await trade.verify_due(DUE_MS + 9)
    found = [(await trade.outcome(each.id))[1] for each in (*high, small, highest, low)]
    assert found == [400, 400, None, None, 100, None]
    (kept,) = await trade.rows("SELECT spent_cents, reached_cents, overrun_cents FROM budget")
    assert kept == (900, 500, 1_000) and await trade.reached()
    for budget, is_reached in ((900, True), (1_000, True), (1_001, False), (1_000, True)):
        await trade.offer(total_budget=budget, now_ms=DUE_MS)
        assert (await trade.reached()) is is_reached, budget


@pytest.mark.parametrize("fee", [699, 700, 701, 5_000])
async def test_a_higher_fee_that_finds_no_room_stops_nobody_who_came_before_it(
    store: Store, fee: int
) -> None:
    """Or an owner would raise the fee, send one reader, and owe nothing for all who wait."""
    trade = await Trade.begin(store, cpa=300, total_budget=1_000, max_payout=9_000, **HELD)
    first, *early = [await trade.arrive(now_ms=NOON_MS + at) for at in (0, 1, 1)]
    await trade.confirm(first.id)
    await trade.offer(cpa=fee)
    dear = await trade.arrive(now_ms=NOON_MS + 2)
    await trade.confirm(dear.id)
    assert await trade.reached() is (fee >= 700)
    await trade.offer(cpa=100)
    late = await trade.arrive(now_ms=NOON_MS + 2)
    month, *_ = await trade.outlook(NOON_MS + 2)
    await trade.verify_due(DUE_MS + 2)
    found = [(await trade.outcome(each.id))[1] for each in (first, dear, *early, late)]
    fits = fee <= 700
    assert found == ([300, fee, None, None, None] if fits else [300, None, 300, 300, None])
    assert month.spent_cents + month.fees.expected_cents == await trade.spent()


async def test_a_fee_that_passes_the_budget_of_today_reaches_it_and_notifies_once(
    store: Store,
) -> None:
    trade = await Trade.begin(store, cpa=300, total_budget=900, **HELD)
    people = [await trade.arrive(now_ms=NOON_MS + at) for at in range(3)]
    await trade.offer(total_budget=500)
    spend = []
    for at, reader in enumerate(people):
        await trade.verify_due(DUE_MS + at)
        assert await trade.outcome(reader.id) == PAID
        await trade.tell(DUE_MS)
        spend.append(
            await store.snapshot(lambda tx: forecast.spend(tx.at(DUE_MS), trade.program, NOVEMBER))
        )
    assert [(each.spent_cents, each.left_cents, each.reached) for each in spend] == [
        (300, 200, False),
        (600, 0, True),
        (900, 0, True),
    ]
    sql = "SELECT times_reached, reached_cents FROM budget"
    assert await trade.rows(sql) == [(1, 900)]
    told = await trade.rows("SELECT COUNT(*) FROM notice WHERE kind = 'budget_reached'")
    assert told == [(1,)]


async def test_taken_back_and_verified_again_it_still_has_the_limits_of_its_arrival(
    store: Store,
) -> None:
    trade = await Trade.begin(store, cpa=300, total_budget=900, max_payout=600)
    reader = await trade.arrive()
    await trade.offer(total_budget=0, max_payout=0)
    assert await trade.reverse(reader.id) == [None]
    await trade.confirm(reader.id)
    assert await trade.outcome(reader.id) == PAID
    assert await limits_used(trade) == [(900, 600)] * 3


def test_owner_and_partner_read_what_can_still_fall_due(service: Service) -> None:
    """On the form, after saving a lower limit, and in what both sides are told to expect."""
    alice, bob = operator(service, "alice"), operator(service, "bob")
    program = offer(alice, cpa=2.5, total_budget=40, max_payout=30, **HELD)
    place = join(bob, program)
    form = f"/program/{program['uuid']}/change"
    assert "who came before" not in text_of(alice.web.get(form).text)
    for number in range(13):
        alice.subscribe(f"early{number}@example.org", referrer_code=place["ref_code"])
    sentence = "Up to $30.00 for 13 who came before can still fall due."
    assert sentence in text_of(alice.web.get(form).text)
    terms = {"cpa": "2.50", "max_payout": "30", "referral_pending_duration_enabled": "yes"}
    terms |= {"redirect_url": "https://wax.example/", "referral_pending_duration": "5"}
    answer = alice.web.post(form, **terms, total_budget="5.00")
    assert answer.status_code == 303, answer.text
    page = text_of(alice.web.get(answer.headers["location"]).text)
    assert sentence in page and "$30.00 pending, fits" in page
    alice.subscribe("late@example.org", referrer_code=place["ref_code"])
    assert "$30.00 pending, fits" in text_of(alice.web.get(f"/program/{program['uuid']}").text)
    assert "at most $30.00" in text_of(bob.web.get("/earnings").text)
    service.set_clock(5 * 86_400 + 60)
    service.run_jobs()
    spend = alice.get(f"/v2/partner_programs/{program['uuid']}/spend").json()["spend"]
    assert (spend["spent"], spend["total_budget"], spend["reached"]) == (30, 5, True)
    alice.web.log_in(alice.email)
    page = text_of(alice.web.get(f"/program/{program['uuid']}").text)
    assert "To continue this month, raise the budget above $30.00." in page
