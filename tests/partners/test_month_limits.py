"""What a partner once read as "at most" for a month is never exceeded, unless a budget or cap was
raised, a reader came, a charge was taken back or somebody decided by hand.
"""

import random
from typing import NamedTuple

import pytest

from honeyguide.partners import month_limits, outlook, rules
from honeyguide.partners.expected_fees import OpenMonth, PendingFees
from honeyguide.partners.month_limits import MonthLimit
from honeyguide.store import Store
from tests.support.readings import in_account
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.trade import DAY_MS, NOON_MS, Trade

SHORT = {"sqlite": 3, "postgres": 1}
SEEDS = [
    pytest.param(engine, seed, marks=[pytest.mark.long] if seed >= SHORT[engine] else [])
    for engine in ENGINES
    for seed in range(30)
]
# Where a referral waits for a confirmation: in no program, for 30 days, for ever.
WAITS = ("nobody", "rule", "campaign")
SET_RULE = statement(
    "UPDATE program SET rule = 'confirmed', screening = 'flexible', is_verification_chosen = 1"
)


class Read(NamedTuple):
    partner: int
    month: str
    most_cents: int


class RandomProgram:
    """Three partners, and what each of them has read and may still rely on."""

    def __init__(self, trade: Trade, chance: random.Random, now_ms: int) -> None:
        self.trade, self.chance, self.now_ms = trade, chance, now_ms
        self.read: set[Read] = set()
        self.people: list[tuple[int, str]] = []

    def forget(self, partner: int | None = None) -> None:
        """One of the four causes: of one partner, or of all."""
        self.read = {each for each in self.read if partner not in (None, each.partner)}

    async def look(self) -> None:
        for number, joined in enumerate(self.trade.partners):
            for month in {rules.month_of(self.now_ms + days * DAY_MS) for days in (0, 25, 50)}:
                limits = await self.trade.store.snapshot(
                    lambda tx, of=joined.account_id, month=month: outlook.limits_of_partner(
                        in_account(tx, of, now_ms=self.now_ms), month
                    )
                )
                sure = await self.trade.earned(number, month)
                most = sure + limits.get(joined.id, MonthLimit()).cents
                self.read.add(Read(number, month, most))

    async def check(self) -> None:
        for number, month in {(each.partner, each.month) for each in self.read}:
            earned = await self.trade.earned(number, month)
            least = min(each.most_cents for each in self.read if each[:2] == (number, month))
            assert earned <= least, (number, month, earned, least)

    async def pass_time(self) -> None:
        for _ in range(self.chance.randrange(1, 9)):
            self.now_ms += DAY_MS
            await self.trade.verify_due(self.now_ms)

    async def happen(self) -> None:
        trade, chance, now_ms = self.trade, self.chance, self.now_ms
        act = chance.randrange(12)
        if act < 5 or not self.people:
            number = chance.randrange(3)
            person = await trade.arrive(number, now_ms=now_ms)
            self.people.append((number, person.id))
            self.forget(number)
            return
        number, person_id = chance.choice(self.people)
        match act:
            case 5 | 6:
                await trade.change(person_id, status="confirmed", now_ms=now_ms)
            case 7:
                self.people.remove((number, person_id))
                await trade.change(person_id, status="unsubscribed", now_ms=now_ms)
            case 8:
                if (await trade.referral(person_id))[0] == "pending":
                    self.forget(number)
                    await trade.confirm(person_id, now_ms=now_ms)
            case 9:
                if await trade.reverse(person_id, now_ms=now_ms) == [None]:
                    self.forget()
            case 10:
                await self.change_terms()
            case 11:
                await self.pass_time()

    async def change_terms(self) -> None:
        field, before = self.chance.choice(
            [
                ("total_budget", self.trade.program.total_budget_cents),
                ("max_payout", self.trade.program.max_payout_cents),
                ("cpa", self.trade.program.cpa_cents),
            ]
        )
        cents = self.chance.choice([100, 250, 400] if field == "cpa" else [300, 999, 2_500, 6_000])
        if field != "cpa" and cents > before:
            self.forget()
        await self.trade.offer(now_ms=self.now_ms, **{field: cents})


@pytest.mark.parametrize(("engine", "seed"), SEEDS)
async def test_what_a_partner_once_read_is_never_exceeded(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    trade = await Trade.begin(
        store,
        partners=3,
        cpa=chance.choice([250, 333]),
        total_budget=chance.choice([999, 2_500, 6_000]),
        max_payout=chance.choice([600, 2_000]),
        referral_pending_duration_enabled=True,
        referral_pending_duration=chance.choice([3, 14, 40]),
    )
    waits = WAITS[seed % len(WAITS)]
    if waits == "rule":
        await store.write(lambda tx: tx.run(SET_RULE))
    elif waits == "campaign":
        await trade.configure(needs_confirmation=True)
    program = RandomProgram(trade, chance, NOON_MS - 12 * DAY_MS)
    for _ in range(40):
        await program.happen()
        await program.check()
        if chance.random() < 0.3:
            await program.look()
    for _ in range(10):
        await program.pass_time()
        await program.check()


MONTH = "2026-11"


def pending(number: int, place: str = "bob", fee: int = 250, **fields: int) -> PendingFees:
    about = {"due_ms": NOON_MS, "is_waiting": False, "n": 1, **fields}
    return PendingFees(
        partner_campaign_id=place,
        fee_cents=fee,
        first_id=f"{number:04}",
        referral_id=f"{place}{number}",
        **about,  # type: ignore[arg-type]
    )


def month(
    *, budget: int = 12_000, spent: int = 0, cap: int = 8_000, reached: bool = False
) -> OpenMonth:
    return OpenMonth(budget, spent, reached, cap, {})


def of_bob(state: OpenMonth, *fees: PendingFees) -> MonthLimit:
    return month_limits.limits(state, fees)[0]["bob"]


def test_at_most_is_the_least_of_the_fees_the_cap_and_the_budget() -> None:
    fees = [pending(n) for n in range(4)]
    assert of_bob(month(), *fees).cents == 1_000
    assert of_bob(month(cap=600), *fees)[1:5] == (1_000, 600, 400, 0)
    assert of_bob(month(budget=700), *fees)[1:5] == (1_000, 700, 0, 300)
    assert of_bob(month(reached=True), *fees).cents == 0
    assert of_bob(month(cap=200), *fees).cents == 0, "a fee is never split"


def test_who_came_under_a_higher_limit_keeps_it() -> None:
    older = pending(0, budget_cents=2_000, cap_cents=2_000)
    state = month(budget=500, spent=500, reached=True)
    assert of_bob(state, older, pending(1)).cents == 250


def test_a_budget_is_shared_only_if_it_does_not_hold_everybodys() -> None:
    everybody = [pending(n, place) for place in ("bob", "carl", "dora") for n in range(2)]
    assert of_bob(month(), *everybody).shared_with == 0
    scarce = of_bob(month(budget=1_200), *everybody)
    assert (scarce.cents, scarce.shared_with) == (500, 2)
    assert month_limits.limits(month(budget=1_200), everybody)[1] == 1_200


def test_a_fee_stands_from_its_due_date_to_the_last_day_on_which_it_can_be_decided() -> None:
    def months(fees: PendingFees) -> list[str]:
        ahead = ("2026-10", "2026-11", "2026-12", "2027-01", "2031-01")
        return [each for each in ahead if month_limits.stands_in(fees, rules.month_bounds(each))]

    assert months(pending(0)) == [MONTH]
    last_day = rules.month_bounds(MONTH)[1] - 1
    assert months(pending(0, due_ms=last_day)) == [MONTH, "2026-12"], "it may be decided late"
    review = pending(0, deadline_ms=NOON_MS + 50 * DAY_MS)
    assert months(review) == [MONTH, "2026-12", "2027-01"]
    assert len(months(pending(0, deadline_ms=month_limits.NO_DEADLINE_MS))) == 4


def test_rows_that_fit_are_within_the_limit() -> None:
    fees = [pending(0), pending(1), pending(2), pending(3, n=2, due_ms=NOON_MS + DAY_MS)]
    found = month_limits.fitting(fees, {MONTH: month(cap=1_000)})
    assert found == {"bob0": 1, "bob1": 1, "bob2": 1, "bob3": 1}
    late = pending(4, deadline_ms=NOON_MS + 30 * DAY_MS, is_waiting=True)
    found = month_limits.fitting([*fees, late], {MONTH: month(cap=1_000), "2026-12": month()})
    assert found["bob4"] == 1, "it fits in December"
