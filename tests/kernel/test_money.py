"""Every amount survives the way in and out to the cent; everything that is no amount is refused at
once.
"""

import json
import random
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.money import MOST_CENTS, cents, dollars, show
from tests.support.effort import effort_of


def decoded(text: str) -> object:
    return json.loads(text, parse_float=Decimal, parse_constant=Decimal)


@pytest.mark.parametrize(
    ("written", "amount_cents"),
    [
        ("0", 0),
        ("0.0", 0),
        ("-0", 0),
        ("-0.00", 0),
        ("0e999999999", 0),
        ("0.01", 1),
        ("0.1", 10),
        ("1.1", 110),
        ("1.10", 110),
        ("1.100", 110),
        ("5.000", 500),
        ("4.35", 435),
        ("1.15", 115),
        ("0.29", 29),
        ("1e2", 10_000),
        ("12.5e1", 12_500),
        ("1e-2", 1),
        ("100e-4", 1),
        ("1000000", MOST_CENTS),
        ("1000000.00", MOST_CENTS),
        ("1e6", MOST_CENTS),
        ("999999.99", MOST_CENTS - 1),
    ],
)
def test_an_amount_is_read_to_the_cent(written: str, amount_cents: int) -> None:
    assert cents(decoded(written), param="cpa") == amount_cents


@pytest.mark.parametrize(
    "written",
    [
        "-1",
        "-0.01",
        "1.999",
        "1.001",
        "0.001",
        "1e-9",
        "1e-999999999",
        "1.00000000000000000000000000000000000001",
        "1000000.01",
        "1000001",
        "1000000.000000000000000000000000000000001",
        "1000000000000",
        "1e400",
        "1e999999999",
        "-1e999999999",
        "9" * 4000,
        "NaN",
        "Infinity",
        "-Infinity",
        '"5"',
        '""',
        "true",
        "false",
        "null",
        "[5]",
        '{"dollars": 5}',
    ],
)
def test_what_is_no_amount_is_refused_by_name(written: str) -> None:
    with pytest.raises(Invalid) as refused:
        cents(decoded(written), param="total_budget")
    assert refused.value.message.startswith("total_budget must be a number of US dollars")
    assert (refused.value.param, refused.value.code) == ("total_budget", "invalid_amount")


@pytest.mark.parametrize(
    "value", [5.0, 0.1, float("nan"), float("inf"), Decimal("sNaN"), 5j, b"5", object()]
)
def test_a_binary_float_or_a_stranger_is_refused(value: object) -> None:
    with pytest.raises(Invalid):
        cents(value, param="cpa")


def test_a_number_of_a_million_digits_is_settled_quickly() -> None:
    def settle() -> None:
        assert cents(Decimal("1." + "0" * 1_000_000), param="cpa") == 100
        for hostile in (
            "1." + "0" * 1_000_000 + "1",
            "0." + "0" * 1_000_000 + "1",
            "9" * 1_000_000,
            "1e999999",
            "1e-999999",
        ):
            with pytest.raises(Invalid):
                cents(Decimal(hostile), param="cpa")

    assert effort_of(settle, most=1_000) < 1_000


@pytest.mark.parametrize("many", [50_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_random_amounts_survive_print_and_parse(many: int) -> None:
    chance = random.Random(20261115)
    amounts = [chance.randint(0, MOST_CENTS) for _ in range(many)]
    printed = "[" + ",".join([str(dollars(amount)) for amount in amounts]) + "]"
    assert "E" not in printed
    parsed = json.loads(printed, parse_float=Decimal)
    assert [cents(value, param="cpa") for value in parsed] == amounts


@given(st.integers(0, MOST_CENTS), st.integers(0, 6))
@example(0, 6)
@example(MOST_CENTS, 6)
def test_trailing_zeros_and_exponents_change_nothing(amount_cents: int, zeros: int) -> None:
    assert cents(Decimal(f"{amount_cents}{'0' * zeros}E-{2 + zeros}"), param="cpa") == amount_cents


@given(
    st.decimals(allow_nan=True, allow_infinity=True)
    | st.decimals(0, 1_000_000, places=2)
    | st.decimals(0, 10, places=3)
)
def test_an_amount_is_either_read_exactly_or_refused(value: Decimal) -> None:
    lawful = (
        value.is_finite() and 0 <= value <= 1_000_000 and value.quantize(Decimal("0.01")) == value
    )
    if lawful:
        assert Decimal(cents(value, param="cpa")) == value * 100
    else:
        with pytest.raises(Invalid):
            cents(value, param="cpa")


@given(st.integers(-(10**15), 10**15))
def test_printing_is_exact_and_plain(amount_cents: int) -> None:
    printed = str(dollars(amount_cents))
    assert Decimal(printed) * 100 == amount_cents
    assert "E" not in printed and not ("." in printed and printed.endswith("0"))


@pytest.mark.parametrize(
    ("amount_cents", "printed"),
    [
        (1250, "12.5"),
        (30_000, "300"),
        (0, "0"),
        (1, "0.01"),
        (-1, "-0.01"),
        (MOST_CENTS, "1000000"),
    ],
)
def test_dollars_have_as_few_decimals_as_they_need(amount_cents: int, printed: str) -> None:
    assert str(dollars(amount_cents)) == printed


@pytest.mark.parametrize(
    ("amount_cents", "shown"),
    [
        (0, "$0.00"),
        (5, "$0.05"),
        (123_450, "$1,234.50"),
        (MOST_CENTS, "$1,000,000.00"),
        (-1250, "-$12.50"),
        (-1, "-$0.01"),
    ],
)
def test_people_read_dollars_with_commas_and_two_decimals(amount_cents: int, shown: str) -> None:
    assert show(amount_cents) == shown
