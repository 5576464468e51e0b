"""Tracking notes as operators type them, and the carriers that we know."""

import re

import pytest

from honeyguide.rewards import carriers
from honeyguide.rewards.carriers import CARRIERS, find_tracking

KNOWN = [
    ("USPS 9400 1000 0000 0000 0000 17", "USPS", "9400 1000 0000 0000 0000 17"),
    ("usps: 9400-1000-0000-0000-0000-17", "USPS", "9400-1000-0000-0000-0000-17"),
    ("9400100000000000000017", "USPS", "9400100000000000000017"),
    ("1Z 999 AA1 0123 4567 84", "UPS", "1Z 999 AA1 0123 4567 84"),
    ("UPS 1Z999AA10123456784", "UPS", "1Z999AA10123456784"),
    ("DHL Express 1234567890", "DHL", "1234567890"),
    ("RR 123 456 785 SE", "PostNord", "RR 123 456 785 SE"),
    ("  rr123456785gb ", "Royal Mail", "rr123456785gb"),
    ("Colissimo 6A12345678901", "La Poste", "6A12345678901"),
]
UNKNOWN = [
    None,
    "",
    "RR 123 456 785 PT",  # a country whose carrier we have no link for
    "left with the neighbor",
    "USPS",
    "USPS, without a number",
    "USPS first class",
    "Upside 12345678",  # starts like UPS, and is not
    "123",
    "DHL 1234567890\u0007<script>",
    "https://usps.com/9400100000000000000017",
]


@pytest.mark.parametrize(("note", "carrier", "number"), KNOWN)
def test_a_carrier_that_we_know_gets_a_link_with_its_number(
    note: str, carrier: str, number: str
) -> None:
    found = find_tracking(note)
    assert found is not None
    assert (found.carrier, found.number) == (carrier, number)
    assert re.sub(r"[ -]", "", number).upper() in found.url


@pytest.mark.parametrize("note", UNKNOWN)
def test_any_other_note_stays_as_it_was_typed(note: str | None) -> None:
    assert find_tracking(note) is None


def test_every_carrier_is_known_by_each_of_its_names_and_has_a_safe_address() -> None:
    for carrier in CARRIERS:
        assert carrier.url.startswith("https://") and "{number}" in carrier.url
        for name in (carrier.name, *carrier.also_called):
            found = find_tracking(f"{name} AB12345678")
            assert found is not None and found.carrier == carrier.name, name
    countries = [country for carrier in CARRIERS for country in carrier.countries]
    assert len(countries) == len(set(countries))
    assert len(carriers._BY_NAME) == len({name for name, _ in carriers._BY_NAME})
