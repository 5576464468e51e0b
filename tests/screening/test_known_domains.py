"""Readers who confirmed, or whom the owner brought, make a mail domain known after a fortnight."""

from __future__ import annotations

import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.tenant import Tenant
from honeyguide.screening import evidence
from honeyguide.screening.evidence import InGroup
from honeyguide.screening.signals import Signal
from tests.support.readings import reading
from tests.support.service import Member
from tests.support.stores import statement

DOMAIN = "catch-all.example"
NAMES = ("anna", "ben", "cleo", "dora", "emil", "fred", "gina", "hugo", "ines", "jan", "kim", "lou")
SET_ORIGIN = statement("UPDATE subscriber SET origin = :origin WHERE campaign_id = :campaign_id")


def is_rare(alice: Member, *, after_ms: int, code: str = "PARTNER1") -> bool:
    """Whether twelve who came so long after the domain's readers are found."""
    now_ms = alice.service.now_ms() + after_ms
    group = [
        InGroup(
            id=str(number),
            email=f"{name}@{DOMAIN}",
            received_ms=now_ms + number * 977_000 * (number % 3 + 1),
            network=None,
            status="confirmed",
            partner_campaign_id=None,
            referral_status="pending",
            referral_reason=None,
        )
        for number, name in enumerate(NAMES)
    ]
    tenant = Tenant(alice.account_id, alice.campaign_id)
    found = alice.service.read(
        lambda tx: evidence.find_group_signals(reading(tx, tenant), code, group)
    )
    signals = {each.signal for items in found.values() for each in items}
    return Signal.RARE_DOMAIN in signals


def add_readers(alice: Member, **fields: str) -> None:
    for number in range(24):
        alice.subscribe(f"planted{number}@{DOMAIN}", **fields)


def test_who_never_confirmed_makes_no_domain_known(alice: Member) -> None:
    add_readers(alice)
    assert is_rare(alice, after_ms=15 * DAY_MS)


def test_who_confirmed_makes_it_known_after_a_fortnight(alice: Member) -> None:
    add_readers(alice, status="confirmed")
    assert not is_rare(alice, after_ms=15 * DAY_MS)
    assert is_rare(alice, after_ms=13 * DAY_MS)


@pytest.mark.parametrize(
    ("origin", "expected"), [("import", False), ("platform", False), ("signup", True)]
)
def test_whom_the_owner_brought_need_not_confirm(
    alice: Member, origin: str, expected: bool
) -> None:
    add_readers(alice)
    alice.service.write(lambda tx: tx.run(SET_ORIGIN, origin=origin, campaign_id=alice.campaign_id))
    assert is_rare(alice, after_ms=15 * DAY_MS) is expected


def test_readers_of_the_same_code_make_it_known_to_nobody(alice: Member) -> None:
    ann = alice.subscribe("ann@example.org")
    add_readers(alice, status="confirmed", referrer_code=ann["ref_code"])
    assert is_rare(alice, after_ms=15 * DAY_MS, code=ann["ref_code"])
    assert not is_rare(alice, after_ms=15 * DAY_MS)
