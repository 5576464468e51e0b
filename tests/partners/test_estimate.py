"""What a month could cost, held against the rule that charges: an estimate that disagrees with it
would be a lie.
"""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.partners import rules


def charged(
    fee: int, cap: int, budget: int, subscribers: int, partners: int
) -> tuple[int, dict[str, int]]:
    """The month lived through, one reader after another in an order of its own."""
    turns = [number % partners for number in range(subscribers)]
    random.Random(subscribers).shuffle(turns)
    spent, earned, reached = 0, [0] * partners, False
    refused: dict[str, int] = {}
    for partner in turns:
        verdict = rules.decide_charge(
            fee_cents=fee,
            budget_cap_cents=budget,
            budget_spent_cents=spent,
            budget_reached=reached,
            partner_cap_cents=cap,
            partner_spent_cents=earned[partner],
        )
        if isinstance(verdict, rules.Charge):
            spent, earned[partner] = spent + fee, earned[partner] + fee
            reached = reached or verdict.reaches_budget
        else:
            reached = reached or verdict == rules.Uncharged.BUDGET_SPENT
            refused[verdict] = refused.get(verdict, 0) + 1
    return spent, refused


@given(
    st.integers(1, 700),
    st.integers(0, 4_000),
    st.integers(0, 9_000),
    st.integers(0, 60),
    st.integers(1, 7),
)
def test_it_is_what_the_rules_would_charge(
    fee: int, cap: int, budget: int, subscribers: int, partners: int
) -> None:
    guess = rules.estimate_month(
        fee_cents=fee,
        partner_cap_cents=cap,
        budget_cents=budget,
        subscribers=subscribers,
        partners=partners,
    )
    spent, refused = charged(fee, cap, budget, subscribers, partners)
    assert guess.cost_cents == spent == guess.paid_subscribers * fee
    assert guess.paid_subscribers + guess.over_partner_cap + guess.over_budget == subscribers
    assert guess.uncapped_cents == fee * subscribers
    if (
        guess.uncapped_cents < budget
    ):  # else the budget, which outranks the cap, may refuse what both would
        assert refused.get(rules.Uncharged.PARTNER_CAP, 0) == guess.over_partner_cap


@pytest.mark.parametrize(
    ("subscribers", "partners", "cost", "over_cap", "over_budget"),
    [
        (100, 3, 12_000, 4, 48),
        (48, 3, 12_000, 0, 0),
        (49, 3, 12_000, 0, 1),
        (33, 1, 8_000, 1, 0),
        (0, 3, 0, 0, 0),
    ],
)
def test_the_demos_own_offer(
    subscribers: int, partners: int, cost: int, over_cap: int, over_budget: int
) -> None:
    """$2.50 a reader, $80 a partner, $120 in all."""
    guess = rules.estimate_month(
        fee_cents=250,
        partner_cap_cents=8_000,
        budget_cents=12_000,
        subscribers=subscribers,
        partners=partners,
    )
    assert (guess.cost_cents, guess.over_partner_cap, guess.over_budget) == (
        cost,
        over_cap,
        over_budget,
    )


def test_a_favour_costs_nothing_whatever_the_caps() -> None:
    guess = rules.estimate_month(
        fee_cents=0, partner_cap_cents=0, budget_cents=0, subscribers=9, partners=2
    )
    assert (guess.cost_cents, guess.paid_subscribers, guess.over_budget) == (0, 9, 0)
