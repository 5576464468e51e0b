"""Amounts as people type them into forms and spreadsheets: none is taken for another."""

from decimal import Decimal

import pytest

from honeyguide.cli.money import Payment
from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from tests.support.network_operators import PartnerNetwork


@pytest.mark.parametrize(
    ("typed", "amount"),
    [
        ("2.50", "2.50"),
        (" $2.50 ", "2.50"),
        ("$ 3", "3"),
        ("5.", "5"),
        (".5", "0.5"),
        ("1,000", "1000"),
        ("1,234,567.89", "1234567.89"),
        ("1234567.891", "1234567.891"),
        ("-1", "-1"),
    ],
)
def test_an_amount_may_have_a_dollar_sign_and_commas_between_thousands(
    typed: str, amount: str
) -> None:
    assert forms.amount(typed, param="cpa") == Decimal(amount)


@pytest.mark.parametrize(
    "typed",
    [
        *("1,50", "2,5", "12,5", "0,99", "1,50,000", "1,0000", ",500", "1.000,50", "1000,000"),
        *("", "$", "-", ".", "x", "1e3", "٣", "1 000", "NaN", "1_000", "$$1", "1\x002"),
    ],
)
def test_what_may_mean_another_amount_is_refused(typed: str) -> None:
    with pytest.raises(Invalid, match=r"must be an amount such as 2\.50"):
        forms.amount(typed, param="cpa")


@pytest.mark.parametrize(
    "written",
    [*("1400", "1400.00", "1400,00", "1,400", "1,400.00", "1.400,00", "1 400,0", "$1,400.00"), ""],
)
def test_an_amount_in_a_file_of_payments_is_what_any_spreadsheet_writes(written: str) -> None:
    assert not Payment("id", "SEPA 1", written).contradicts(140_000)


@pytest.mark.parametrize(
    "written", ["1.40", "14.00", "140,00", "1400.01", "14,000", "-1400", "1400.0.0", "x", "²", ","]
)
def test_a_line_about_another_payment_is_noticed(written: str) -> None:
    assert Payment("id", "SEPA 1", written).contradicts(140_000)


def test_a_decimal_comma_publishes_no_program(partner_network: PartnerNetwork) -> None:
    web = partner_network.alice.web
    page = f"/program/{partner_network.program['uuid']}/change"
    answer = web.post(page, cpa="1,50", max_payout="80", total_budget="120")
    assert answer.status_code == 400
    assert "Fee per new subscriber must be an amount such as 2.50." in answer.text
    assert 'value="1,50"' in answer.text
