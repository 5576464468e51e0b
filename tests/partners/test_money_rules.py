"""The rules of money as tables: what is charged, what is not and why, and which month it
counts in.
"""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.kernel.errors import Invalid
from honeyguide.partners import rules
from honeyguide.partners.rules import Charge, Uncharged

PAID = "paid"
LAST = "paid and reaches the budget"
BUDGET = Uncharged.BUDGET_SPENT
PARTNER = Uncharged.PARTNER_CAP


def decide(
    fee: int, budget: tuple[int, int], partner: tuple[int, int], reached: bool = False
) -> Charge | Uncharged:
    return rules.decide_charge(
        fee_cents=fee,
        budget_cap_cents=budget[0],
        budget_spent_cents=budget[1],
        budget_reached=reached,
        partner_cap_cents=partner[0],
        partner_spent_cents=partner[1],
    )


@pytest.mark.parametrize(
    ("fee", "budget", "partner", "reached", "outcome"),
    [
        # fee, (budget cap, spent), (partner cap, spent), budget reached, outcome
        (500, (30_000, 0), (9_000, 0), False, PAID),
        (500, (30_000, 29_000), (9_000, 0), False, PAID),
        (500, (30_000, 29_499), (9_000, 0), False, PAID),
        # exactly on the budget: paid, and reached
        (500, (30_000, 29_500), (9_000, 0), False, LAST),
        (30_000, (30_000, 0), (30_000, 0), False, LAST),
        (1, (1, 0), (1, 0), False, LAST),
        # one cent too much: nothing, never a part
        (500, (30_000, 29_501), (9_000, 0), False, BUDGET),
        (500, (499, 0), (9_000, 0), False, BUDGET),
        (1, (30_000, 30_000), (9_000, 0), False, BUDGET),
        # reached stays reached, for a fee that would fit too
        (500, (30_000, 29_400), (9_000, 0), True, BUDGET),
        (1, (30_000, 29_999), (9_000, 0), True, BUDGET),
        (1, (30_000, 0), (9_000, 0), True, BUDGET),
        # exactly on the partner's cap: paid, and the budget is not reached by that
        (500, (30_000, 0), (9_000, 8_500), False, PAID),
        (500, (30_000, 0), (500, 0), False, PAID),
        # one cent over the partner's cap
        (500, (30_000, 0), (9_000, 8_501), False, PARTNER),
        (500, (30_000, 0), (499, 0), False, PARTNER),
        (500, (30_000, 0), (0, 0), False, PARTNER),
        # fits neither, or would fill the budget but not fit the partner
        (500, (30_000, 29_501), (9_000, 8_501), False, BUDGET),
        (500, (30_000, 29_500), (9_000, 8_501), False, PARTNER),
        (500, (30_000, 29_000), (9_000, 9_000), True, BUDGET),
        # both caps met at once
        (500, (30_000, 29_500), (9_000, 8_500), False, LAST),
        # caps lowered under what is spent
        (500, (10_000, 29_500), (9_000, 0), False, BUDGET),
        (1, (0, 29_500), (9_000, 0), False, BUDGET),
        (500, (30_000, 0), (1_000, 8_500), False, PARTNER),
        # no budget at all
        (500, (0, 0), (9_000, 0), False, BUDGET),
        # a free referral asks no cap and reaches none
        (0, (30_000, 0), (9_000, 0), False, Uncharged.FREE),
        (0, (30_000, 30_000), (9_000, 0), False, Uncharged.FREE),
        (0, (30_000, 0), (9_000, 0), True, Uncharged.FREE),
        (0, (0, 0), (0, 0), False, Uncharged.FREE),
    ],
)
def test_a_referral_costs_its_whole_fee_or_nothing(
    fee: int, budget: tuple[int, int], partner: tuple[int, int], reached: bool, outcome: str
) -> None:
    decision = decide(fee, budget, partner, reached)
    if outcome in (PAID, LAST):
        assert decision == Charge(fee, reaches_budget=outcome == LAST)
    else:
        assert decision is outcome


amounts = st.integers(0, 50)


@given(
    st.lists(st.tuples(st.integers(0, 2), amounts), max_size=60),
    st.integers(0, 300),
    st.integers(0, 120),
)
def test_a_month_of_charges_keeps_every_cap(
    arrivals: list[tuple[int, int]], cap: int, partner_cap: int
) -> None:
    spent, by_partner, reached = 0, [0, 0, 0], False
    for partner, fee in arrivals:
        decision = decide(fee, (cap, spent), (partner_cap, by_partner[partner]), reached)
        if isinstance(decision, Charge):
            assert not reached and decision.fee_cents == fee > 0
            spent, by_partner[partner] = spent + fee, by_partner[partner] + fee
            assert decision.reaches_budget == (spent == cap)
            reached = decision.reaches_budget
        elif decision is Uncharged.BUDGET_SPENT:
            assert reached or spent + fee > cap
            reached = True
        elif decision is Uncharged.PARTNER_CAP:
            assert spent + fee <= cap and by_partner[partner] + fee > partner_cap
        assert spent == sum(by_partner) <= cap and max(by_partner) <= partner_cap


@pytest.mark.parametrize(
    ("reached", "old", "new", "spent", "after"),
    [
        (True, 30_000, 30_001, 30_000, False),  # raised above what is spent
        (True, 30_000, 40_000, 29_900, False),
        (True, 30_000, 30_000, 29_900, True),  # written again unchanged
        (True, 30_000, 29_950, 29_900, True),  # lowered, though still above what is spent
        (True, 30_000, 10_000, 29_900, True),
        (True, 10_000, 29_900, 29_900, True),  # raised, but only to what is spent
        (True, 10_000, 29_901, 29_900, False),
        (True, 10_000, 20_000, 29_900, True),  # raised, but still under what is spent
        (False, 30_000, 10_000, 29_900, True),  # lowered below what is spent
        (False, 30_000, 29_900, 29_900, True),  # lowered to what is spent
        (False, 30_000, 29_901, 29_900, False),  # lowered, but above what is spent
        (False, 10_000, 20_000, 29_900, True),  # raised, but still under what is spent
        (False, 30_000, 40_000, 0, False),
        (False, 30_000, 0, 0, True),  # lowered to nothing
        (False, 0, 1, 0, False),
    ],
)
def test_a_change_to_or_below_what_is_spent_reaches_a_budget_and_a_raise_above_it_reopens_it(
    reached: bool, old: int, new: int, spent: int, after: bool
) -> None:
    assert (
        rules.reached_after_change(
            reached=reached, old_cap_cents=old, new_cap_cents=new, spent_cents=spent
        )
        is after
    )


@pytest.mark.parametrize(
    ("spent", "cap", "nearly"),
    [
        (0, 0, False),
        (0, 100, False),
        (79, 100, False),
        (80, 100, True),
        (100, 100, True),
        (3, 4, False),
        (4, 5, True),
        (1, 1, True),
        (5, 0, True),
        (23_999, 30_000, False),
        (24_000, 30_000, True),
        (79_999_999, 100_000_000, False),
    ],
)
def test_the_owner_is_told_from_eighty_per_cent_on(spent: int, cap: int, nearly: bool) -> None:
    assert rules.nearly_spent(spent_cents=spent, cap_cents=cap) is nearly


def test_what_is_left_is_never_negative() -> None:
    assert [rules.left_cents(spent_cents=spent, cap_cents=100) for spent in (0, 99, 100, 250)] == [
        100,
        1,
        0,
        0,
    ]


def test_every_reason_has_a_stable_word_and_a_sentence() -> None:
    assert {reason.value for reason in Uncharged} == {
        "own_program",
        "already_charged",
        "free",
        "budget_spent",
        "partner_cap",
    }
    sentences = [reason.sentence for reason in Uncharged]
    assert len(set(sentences)) == len(sentences)
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in sentences)


def at(*moment: int) -> int:
    return round(
        (datetime(*moment, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC))
        / timedelta(milliseconds=1)
    )  # type: ignore[misc,arg-type]


@pytest.fixture(params=["UTC", "Pacific/Kiritimati", "Etc/GMT+12", "America/New_York"])
def machine_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(os.environ, "TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("machine_zone")
@pytest.mark.parametrize(
    ("moment_ms", "month"),
    [
        (0, "1970-01"),
        (-1, "1969-12"),
        (at(2026, 11, 1), "2026-11"),
        (at(2026, 12, 1) - 1, "2026-11"),
        (at(2026, 12, 1), "2026-12"),
        (at(2026, 12, 31, 23, 59, 59, 999_000), "2026-12"),
        (at(2027, 1, 1), "2027-01"),
        (at(2028, 2, 29, 23, 59, 59), "2028-02"),
        (at(2026, 2, 28, 23, 59, 59), "2026-02"),
        (at(2026, 3, 1), "2026-03"),
        (at(2100, 3, 1) - 1, "2100-02"),
        (at(2000, 2, 29), "2000-02"),
    ],
)
def test_a_moment_is_in_its_utc_month_wherever_the_machine_is(moment_ms: int, month: str) -> None:
    assert rules.month_of(moment_ms) == month


@pytest.mark.parametrize(
    ("month", "start", "end", "before", "after"),
    [
        ("2026-11", at(2026, 11, 1), at(2026, 12, 1), "2026-10", "2026-12"),
        ("2026-12", at(2026, 12, 1), at(2027, 1, 1), "2026-11", "2027-01"),
        ("2027-01", at(2027, 1, 1), at(2027, 2, 1), "2026-12", "2027-02"),
        ("2028-02", at(2028, 2, 1), at(2028, 3, 1), "2028-01", "2028-03"),
        ("2026-09", at(2026, 9, 1), at(2026, 10, 1), "2026-08", "2026-10"),
        ("2999-12", at(2999, 12, 1), at(3000, 1, 1), "2999-11", "3000-01"),
    ],
)
def test_a_month_has_its_bounds_and_neighbours(
    month: str, start: int, end: int, before: str, after: str
) -> None:
    assert rules.month_bounds(month) == (start, end)
    assert rules.closes_at(month) == end + 3_600_000
    assert (rules.previous_month(month), rules.next_month(month)) == (before, after)


def test_a_month_is_spoken_by_its_name() -> None:
    months = [rules.month_name(f"2026-{number:02d}") for number in range(1, 13)]
    assert (months[0], months[1], months[10], months[11]) == (
        "January 2026",
        "February 2026",
        "November 2026",
        "December 2026",
    )
    assert len(set(months)) == 12


@given(st.integers(0, at(2999, 12, 31)))
def test_every_moment_is_inside_the_bounds_of_its_month(moment_ms: int) -> None:
    month = rules.month_of(moment_ms)
    start_ms, end_ms = rules.month_bounds(month)
    assert start_ms <= moment_ms < end_ms
    assert rules.month_of(end_ms) == rules.next_month(month) > month
    assert rules.month_of(start_ms - 1) == rules.previous_month(month)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=moment_ms)
    assert month == f"{moment.year:04d}-{moment.month:02d}"


@pytest.mark.parametrize(
    ("now_ms", "last_closed", "month"),
    [
        (at(2026, 11, 15), None, "2026-11"),
        (at(2026, 11, 15), "2026-10", "2026-11"),
        (at(2026, 12, 1, 0, 30), "2026-10", "2026-12"),
        (
            at(2026, 12, 1) - 5_000,
            "2026-11",
            "2026-12",
        ),  # the clock stepped back over a closed edge
        (at(2026, 12, 31), "2026-12", "2027-01"),
        (at(2027, 3, 1), "2026-12", "2027-03"),
    ],
)
def test_a_closed_month_takes_no_charge(now_ms: int, last_closed: str | None, month: str) -> None:
    assert rules.month_to_charge(now_ms, last_closed=last_closed) == month


@pytest.mark.parametrize("value", ["2026-11", "1970-01", "2999-12", "2026-09"])
def test_a_month_is_read(value: str) -> None:
    assert rules.parse_month(value, param="month") == value


@pytest.mark.parametrize(
    "value",
    [
        "",
        "2026",
        "2026-13",
        "2026-00",
        "2026-1",
        "2026-11-01",
        "1969-12",
        "3000-01",
        "０００２-11",
        "2026-11\n",
        " 2026-11",
    ],
)
def test_what_is_no_month_is_refused(value: str) -> None:
    with pytest.raises(Invalid, match=r"month must be a month such as 2026-11\.") as refused:
        rules.parse_month(value, param="month")
    assert refused.value.param == "month"
