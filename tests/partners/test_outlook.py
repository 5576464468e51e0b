"""What owners are told to expect, which is what is charged in the end if everybody stays; and what
their partners are told, which is the same limit from both sides.
"""

import random

import pytest

from honeyguide.pages.dashboard.partners import budget_days
from honeyguide.partners import forecast, network, outlook, partner_figures, rules
from honeyguide.partners.outlook import MonthOutlook, PartnerMonths, PartnerOutlook
from honeyguide.store import Store
from honeyguide.store.tx import Tx
from honeyguide.subscribers import campaigns
from tests.support.changes import changing
from tests.support.readings import in_account
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.trade import DAY_MS, NOON_MS, Trade

SEEDS = {"sqlite": 12, "postgres": 6}
HELD = {"referral_pending_duration_enabled": True, "referral_pending_duration": 14}


async def ahead_of(store: Store, account_id: str, now_ms: int) -> PartnerMonths:
    async def read(tx: Tx) -> PartnerMonths:
        at = in_account(tx, account_id, now_ms=now_ms)
        return await outlook.of_partner(at, await partner_figures.months_of_partner(at))

    return await store.snapshot(read)


async def of_partner(store: Store, account_id: str, now_ms: int) -> list[PartnerOutlook]:
    return (await ahead_of(store, account_id, now_ms)).months


async def highest_limits(trade: Trade) -> tuple[int, int]:
    """Budget and cap of today, or of somebody who came before and waits."""
    sql = "SELECT budget_cents, cap_cents FROM partner_referral WHERE decided_ms IS NULL"
    today = (trade.program.total_budget_cents, trade.program.max_payout_cents)
    budgets, caps = zip(today, *await trade.rows(sql), strict=True)
    return max(budgets), max(caps)


async def agree(trade: Trade, now_ms: int) -> list[MonthOutlook]:
    """Each partner reads the limit that the owner does, and the forecast is within all of them."""
    owner = await trade.outlook(now_ms)
    budget_cents, cap_cents = await highest_limits(trade)
    for joined in trade.partners:
        months = await of_partner(trade.store, joined.account_id, now_ms)
        for month in months:
            theirs = next((each for each in owner if each.month == month.month), None)
            assert month.limit_of(joined.id) == (theirs or month).limit_of(joined.id)
            assert set(month.limits) <= {joined.id}, "nothing of another partner"
            assert month.most_cents <= max(cap_cents, month.sure_cents)
    for month in owner:
        for place, fees in month.by_partner.items():
            assert fees.expected_cents <= month.limit_of(place).cents <= month.limit_cents
        assert month.most_cents <= month.spent_cents + month.limit_cents
        assert month.spent_cents + month.limit_cents <= max(budget_cents, month.spent_cents)
    return owner


@pytest.mark.parametrize(
    ("engine", "seed"), [(engine, seed) for engine in ENGINES for seed in range(SEEDS[engine])]
)
async def test_what_is_expected_is_what_is_charged_if_everybody_stays(
    store: Store, seed: int
) -> None:
    chance = random.Random(seed)
    trade = await Trade.begin(
        store,
        partners=chance.choice([1, 2, 3]),
        cpa=chance.choice([250, 333]),
        total_budget=chance.choice([999, 2_500, 6_000]),
        max_payout=chance.choice([600, 2_000, 9_000]),
        **HELD,
    )
    now_ms = NOON_MS - 10 * DAY_MS
    for _ in range(chance.randrange(4, 16)):
        now_ms += chance.randrange(0, DAY_MS)
        person = await trade.arrive(chance.randrange(len(trade.partners)), now_ms=now_ms)
        match chance.randrange(8):
            case 0:
                await trade.confirm(person.id, now_ms=now_ms)
            case 1:
                await trade.change(person.id, status="unsubscribed", now_ms=now_ms)
            case 2:
                cpa = chance.choice([100, 250, 400])
                await trade.offer(now_ms=now_ms, cpa=cpa)
            case 3:
                budget = chance.choice([500, 2_000, 8_000])
                await trade.offer(now_ms=now_ms, total_budget=budget)
            case 4:
                cap = chance.choice([0, 300, 9_000])
                await trade.offer(now_ms=now_ms, max_payout=cap)
        await agree(trade, now_ms)
    for expected in await agree(trade, now_ms):
        last_ms = rules.month_bounds(expected.month)[1] - 1
        await trade.verify_due(last_ms)
        assert await trade.spent(expected.month) == expected.most_cents
        for number, joined in enumerate(trade.partners):
            own = expected.of(joined.id).expected_cents
            assert await trade.earned(number, expected.month) >= own
        await trade.close_and_pay_out(rules.closes_at(expected.month))


async def test_what_is_left_is_not_expected_twice(store: Store) -> None:
    """As in the demo: two partners, each with 27.50 under their cap; 15.00 left of the budget."""
    trade = await Trade.begin(
        store, partners=2, cpa=250, total_budget=12_000, max_payout=8_000, **HELD
    )
    for number in range(42):
        await trade.confirm((await trade.arrive(number % 2)).id)
    assert await trade.spent() == 10_500
    for number in range(22):
        await trade.arrive(number % 2, now_ms=NOON_MS + number)
    (now, _) = await agree(trade, NOON_MS + DAY_MS)
    assert (now.state.left_cents, now.fees.pending_cents, now.fees.expected_cents) == (
        1_500,
        5_500,
        1_500,
    )
    # One after the other, as they fall due: three of each.
    assert [now.of(each.id).expected_cents for each in trade.partners] == [750, 750]
    # Either of them may be the first six times.
    assert [now.limit_of(each.id).cents for each in trade.partners] == [1_500, 1_500]
    assert (now.limit_of(trade.partners[0].id).shared_with, now.limit_cents) == (1, 1_500)
    assert now.full_ms == NOON_MS + 5 + 14 * DAY_MS
    bob = trade.partners[0]
    months = await of_partner(store, bob.account_id, NOON_MS + DAY_MS)
    undecided = await store.snapshot(
        lambda tx: forecast.undecided_of_partner(
            in_account(tx, bob.account_id, now_ms=NOON_MS + DAY_MS), bob.id, months
        )
    )
    assert (undecided.referrals, undecided.cents) == (11, 1_500)


async def test_the_days_of_a_large_program_come_to_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    trade = await Trade.begin(
        store, partners=2, cpa=250, total_budget=2_000, max_payout=1_500, **HELD
    )
    for number in range(12):
        await trade.arrive(number // 3 % 2, now_ms=NOON_MS + number * DAY_MS // 3)
    one_by_one = await agree(trade, NOON_MS)
    monkeypatch.setattr(outlook, "MOST_ONE_BY_ONE", 3)
    by_days = await agree(trade, NOON_MS)
    for one, other in zip(one_by_one, by_days, strict=True):
        assert one._replace(taken=[]) == other._replace(taken=[])
    days = [
        budget_days.due_days(each for month in months for each in month.taken)
        for months in (one_by_one, by_days)
    ]
    assert days[0] == days[1]


async def test_what_is_pending_elsewhere_does_not_change_a_program(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A partner with much pending in one program expects in another what its owner does."""
    trade = await Trade.begin(store, partners=2, cpa=250, total_budget=500, **HELD)
    for number, partner in enumerate((1, 0, 1)):
        await trade.arrive(partner, now_ms=NOON_MS + number)
    large = await Trade.begin(store, partners=0, cpa=250, **HELD)
    bob = trade.partners[0].account_id
    campaign = await store.snapshot(lambda tx: campaigns.tenant_of(tx, bob))
    join = changing(network.join, trade.site, campaign, NOON_MS)
    large.partners.append((await store.write(join, large.program.id, None))[0])
    for number in range(4):
        await large.arrive(now_ms=NOON_MS + number)
    monkeypatch.setattr(outlook, "MOST_ONE_BY_ONE", 3)
    (owner, _), (partner, _) = (
        await trade.outlook(NOON_MS),
        await of_partner(store, bob, NOON_MS),
    )
    place = trade.partners[0].id
    assert owner.limit_of(place) == partner.limit_of(place)
    assert owner.of(place).expected_cents == owner.limit_of(place).cents == 250


async def test_who_waits_for_somebody_comes_last_and_who_is_rejected_is_not_expected(
    store: Store,
) -> None:
    trade = await Trade.begin(
        store, partners=1, cpa=250, total_budget=750, max_payout=9_000, **HELD
    )
    people = [(await trade.arrive(now_ms=NOON_MS + n)).id for n in range(5)]

    async def set_reason(subscriber_id: str, reason: str, due_ms: int | None) -> None:
        sql = (
            "UPDATE subscriber SET referral_reason = :reason, referral_due_ms = :due_ms "
            "WHERE id = :id"
        )
        await store.write(
            lambda tx: tx.run(statement(sql), id=subscriber_id, reason=reason, due_ms=due_ms)
        )

    await set_reason(people[0], "needs_review", NOON_MS + 44 * DAY_MS)
    await set_reason(people[1], "awaiting_confirmation", None)
    await set_reason(people[2], "partner_removed", NOON_MS)
    (now, later) = await agree(trade, NOON_MS)
    assert (now.fees.referrals, now.fees.expected_cents, now.fees.over_cents) == (4, 750, 250)
    assert now.full_ms is None, "the last that fits waits for somebody"
    assert later.fees.referrals == 0, "a deadline is no date on which it is charged"


async def test_whom_the_program_has_paid_for_is_expected_only_after_a_reversal(
    store: Store,
) -> None:
    """They were erased, and came again."""
    trade = await Trade.begin(store, cpa=250, **HELD)
    first = await trade.arrive(email="ana@example.org")
    await trade.confirm(first.id)
    await trade.erase(first.id)
    again = await trade.arrive(email="ana@example.org")
    (now, _) = await agree(trade, NOON_MS)
    assert (now.most_cents, now.fees.referrals) == (250, 0)
    await trade.confirm(again.id)
    assert await trade.outcome(again.id) == ("verified", None, "2026-11", "already_charged")
    assert await trade.reverse(first.id) == [None]
    await trade.erase(again.id)
    await trade.arrive(email="ana@example.org")
    now, later = await agree(trade, NOON_MS)
    assert now.most_cents + later.most_cents == 250


async def test_only_what_time_verifies_has_a_date(store: Store) -> None:
    """A review and a sign of life have deadlines; a confirmation may come later than its date."""
    trade = await Trade.begin(store, cpa=250, **HELD)
    people = [(await trade.arrive(now_ms=NOON_MS)).id for _ in range(5)]
    reasons = ("needs_review", "awaiting_activity", "awaiting_confirmation", "partner_removed")
    sql = "UPDATE subscriber SET referral_reason = :reason WHERE id = :id"
    for person, reason in zip(people, reasons, strict=False):
        await store.write(lambda tx, to=reason, of=person: tx.run(statement(sql), reason=to, id=of))
    day = (NOON_MS + 14 * DAY_MS) // DAY_MS
    owner = await trade.outlook(NOON_MS)
    partner = await ahead_of(store, trade.partners[0].account_id, NOON_MS)
    for pending in ([each for month in owner for each in month.taken], partner.pending):
        assert budget_days.due_days(pending) == [budget_days.DueDay(day, 1, 250, 0)]


async def test_programs_are_not_added_up(store: Store) -> None:
    trade = await Trade.begin(store, total_budget=12_000, **HELD)
    other = await Trade.begin(store, total_budget=15_000, **HELD)
    await trade.arrive()
    own = await store.snapshot(
        lambda tx: outlook.of_owner(in_account(tx, trade.owner.account_id, now_ms=NOON_MS))
    )
    assert [(each.program_id, each.budget_cents) for each in own] == [(trade.program.id, 12_000)]
    assert own[0].months == await trade.outlook(NOON_MS)
    partner = await of_partner(store, other.partners[0].account_id, NOON_MS)
    assert [each.limits for each in partner] == [{}, {}]
