"""What a month can still hold: whole fees in the order in which they fall due, never more than the
budget over all partners, never more than a partner's cap.
"""

import random

import pytest

from honeyguide.partners import expected_fees, rules
from honeyguide.partners.expected_fees import ExpectedFees, OpenMonth, PendingFees

A, B, C = "a", "b", "c"


def month(
    budget: int, cap: int, *, spent: dict[str, int] | None = None, reached: bool = False
) -> OpenMonth:
    spent = spent or {}
    return OpenMonth(budget, sum(spent.values()), reached, cap, spent)


def fees(
    place: str, due_ms: int, n: int = 1, fee: int = 250, *, waits: bool = False
) -> PendingFees:
    return PendingFees(place, fee, waits, due_ms, f"{due_ms:09}{place}", n)


@pytest.mark.parametrize(
    ("open_month", "left"),
    [
        (month(1_000, 1_000, spent={A: 400}), 600),
        (month(1_000, 1_000, spent={A: 1_000}), 0),
        (month(1_000, 1_000, spent={A: 1_250}), 0),  # it was lowered
        (month(1_000, 1_000, spent={A: 400}, reached=True), 0),  # and a fee was taken back since
    ],
)
def test_nothing_is_left_of_a_budget_that_was_reached(open_month: OpenMonth, left: int) -> None:
    assert open_month.left_cents == left


@pytest.mark.parametrize(
    ("open_month", "pending", "expected", "full_ms"),
    [
        pytest.param(month(1_000, 1_000), [], {}, None, id="nothing pending"),
        pytest.param(
            month(1_000, 1_000),
            [fees(A, 5), fees(B, 6)],
            {A: ExpectedFees(1, 1, 250, 0, 0), B: ExpectedFees(1, 1, 250, 0, 0)},
            None,
            id="all fits",
        ),
        pytest.param(
            month(500, 1_000),
            [fees(A, 7), fees(B, 6, 2)],
            {A: ExpectedFees(1, 0, 0, 0, 250), B: ExpectedFees(2, 2, 500, 0, 0)},
            6,
            id="who is due first is paid, whatever the order of the rows",
        ),
        pytest.param(
            month(10_000, 600),
            [fees(A, 5, 3), fees(B, 6)],
            {A: ExpectedFees(3, 2, 500, 250, 0), B: ExpectedFees(1, 1, 250, 0, 0)},
            None,
            id="a cap stops one partner, in whole fees",
        ),
        pytest.param(
            month(600, 600, spent={A: 500}),
            [fees(A, 5), fees(B, 6, fee=100)],
            {A: ExpectedFees(1, 0, 0, 0, 250), B: ExpectedFees(1, 0, 0, 0, 100)},
            5,
            id="a fee that does not fit ends the month for smaller ones too",
        ),
        pytest.param(
            month(1_000, 1_000, spent={A: 250}, reached=True),
            [fees(B, 6)],
            {B: ExpectedFees(1, 0, 0, 0, 250)},
            None,
            id="a budget that was reached holds nothing",
        ),
        pytest.param(
            month(250, 1_000),
            [fees(A, 5, waits=True), fees(B, 9)],
            {A: ExpectedFees(1, 0, 0, 0, 250), B: ExpectedFees(1, 1, 250, 0, 0)},
            9,
            id="what waits for somebody comes after what time verifies",
        ),
        pytest.param(
            month(250, 1_000),
            [fees(A, 5, 2, waits=True)],
            {A: ExpectedFees(2, 1, 250, 0, 250)},
            None,
            id="nobody knows when somebody will decide",
        ),
    ],
)
def test_what_fits(
    open_month: OpenMonth,
    pending: list[PendingFees],
    expected: dict[str, ExpectedFees],
    full_ms: int | None,
) -> None:
    found = expected_fees.expect(open_month, pending)
    assert (found.by_partner, found.full_ms) == (expected, full_ms)


@pytest.mark.parametrize("seed", range(400))
def test_any_month_charged_fee_by_fee_comes_to_the_same(seed: int) -> None:
    """Against a loop that takes one referral after the other, and the promises that always hold."""
    chance = random.Random(seed)
    places = [A, B, C][: chance.choice([1, 2, 3])]
    budget = chance.choice([0, 500, 999, 2_500, 10_000])
    cap = chance.choice([0, 250, 700, 3_000])
    spent = {place: chance.choice([0, 0, 250, 500]) for place in places}
    open_month = month(budget, cap, spent=spent, reached=chance.random() < 0.1)
    pending = [
        fees(
            chance.choice(places),
            chance.randrange(1, 30),
            chance.choice([1, 1, 2, 5]),
            chance.choice([100, 250, 333]),
            waits=chance.random() < 0.2,
        )
        for _ in range(chance.randrange(0, 20))
    ]
    found = expected_fees.expect(open_month, pending)

    left, is_reached = budget - sum(spent.values()), open_month.is_reached
    charged, count = dict(spent), dict.fromkeys(places, 0)
    for each in sorted(pending, key=lambda one: (one.is_waiting, one.due_ms, one.first_id)):
        for _ in range(each.n):
            if is_reached or each.fee_cents > left:
                is_reached = True
            elif each.fee_cents <= cap - charged[each.partner_campaign_id]:
                left -= each.fee_cents
                charged[each.partner_campaign_id] += each.fee_cents
                count[each.partner_campaign_id] += 1
                is_reached = left == 0
    for place in places:
        got = found.by_partner.get(place, ExpectedFees())
        assert got.expected_cents == charged[place] - spent[place]
        assert got.expected_referrals == count[place]
        assert got.pending_cents == sum(
            each.fee_cents * each.n for each in pending if each.partner_campaign_id == place
        )
        assert got.expected_cents == 0 or charged[place] <= cap
    whole = expected_fees.total(found.by_partner.values())
    assert whole.expected_cents <= open_month.left_cents
    assert whole.referrals == sum(each.n for each in pending)
    assert whole.expected_cents <= max(
        0, rules.left_cents(spent_cents=sum(spent.values()), cap_cents=budget)
    )
