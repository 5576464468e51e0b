"""Subscribers who still have to confirm their email address: decided when they join, over when they
confirm."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from honeyguide.referrals import subscribers
from honeyguide.referrals.lifecycle import NewSubscriber
from honeyguide.referrals.origins import Origin
from honeyguide.signups import signups
from honeyguide.store import migrate, open_store
from tests.support.old_databases import database_before
from tests.support.service import ENGINES, Member, Service
from tests.support.stores import statement
from tests.support.trade import verify

ASKED = {"api", "signup", "magic", "embed"}


def configure(member: Member, *, needs_confirmation: bool) -> None:
    answer = member.put(f"{member.v1}/settings", {"needs_confirmation": needs_confirmation})
    assert answer.status_code == 200, answer.text


def must_confirm(member: Member, email: str) -> bool:
    """As the export of what we hold on them says, which reads what is stored."""
    export = member.get(f"{member.v1}/subscribers/{email}/export").json()["export"]
    return export["subscriber"]["must_confirm"]  # type: ignore[no-any-return]


def sign_up(member: Member, email: str, **fields: Any) -> subscribers.Subscriber:
    new = NewSubscriber(email=email, **fields)
    return member.make(signups.sign_up, new)  # type: ignore[no-any-return]


@pytest.mark.parametrize("is_referred", [False, True])
@pytest.mark.parametrize("origin", list(Origin))
def test_who_joins_where_confirmation_is_needed_must_confirm_unless_the_list_is_the_owners(
    alice: Member, origin: str, is_referred: bool
) -> None:
    code = alice.subscribe("friend@example.org")["ref_code"] if is_referred else None
    sign_up(alice, "before@example.org", origin=origin, referrer_code=code)
    configure(alice, needs_confirmation=True)
    for status in ("active", "confirmed", "unsubscribed"):
        email = f"{status}@example.org"
        made = sign_up(alice, email, origin=origin, status=status, referrer_code=code)
        expected = origin in ASKED and status == "active"
        assert (must_confirm(alice, email), bool(made.must_confirm)) == (expected, expected)
    assert not must_confirm(alice, "before@example.org")


def test_it_ends_with_the_confirmation_and_with_nothing_else(alice: Member) -> None:
    configure(alice, needs_confirmation=True)
    path = f"{alice.v1}/subscribers/ana@example.org"
    alice.subscribe("ana@example.org")
    configure(alice, needs_confirmation=False)
    for change in ({"name": "Ana"}, {"status": "unsubscribed"}, {"email": "ana@example.org"}):
        alice.put(path, change)
        assert must_confirm(alice, "ana@example.org"), change
    alice.put(path, {"status": "confirmed"})
    assert not must_confirm(alice, "ana@example.org")
    alice.put(path, {"status": "unsubscribed"})
    assert not must_confirm(alice, "ana@example.org")


def test_a_campaign_that_asks_later_asks_nobody_who_was_there(alice: Member) -> None:
    alice.subscribe("ana@example.org")
    configure(alice, needs_confirmation=True)
    assert not must_confirm(alice, "ana@example.org")


def test_a_stranger_who_is_said_to_be_confirmed_and_to_confirm_is_found(
    service: Service, alice: Member
) -> None:
    made = alice.subscribe("ana@example.org")
    damage = "UPDATE subscriber SET status = :status, must_confirm = 1 WHERE id = :id"
    service.write(lambda tx: tx.run(statement(damage), status="active", id=made["uuid"]))
    service.run(verify(service.services.store))
    # Not by a change of the status, which would clear it.
    damage = "UPDATE subscriber SET must_confirm = 2 WHERE id = :id"
    service.write(lambda tx: tx.run(statement(damage), id=made["uuid"]))
    with pytest.raises(AssertionError, match="status and referral state are valid"):
        service.run(verify(service.services.store))
    damage = "UPDATE subscriber SET must_confirm = 0 WHERE id = :id"
    service.write(lambda tx: tx.run(statement(damage), id=made["uuid"]))


# (origin, status, referral status, reason, must confirm after the upgrade)
OLD_ROWS = [
    ("signup", "active", "verified", None, True),
    ("magic", "active", "verified", None, True),
    ("embed", "active", "pending", "holding_period", True),
    ("api", "active", "pending", "awaiting_confirmation", True),
    ("api", "active", "pending", "holding_period", False),
    ("api", "active", "verified", None, False),
    ("import", "active", "pending", "awaiting_confirmation", False),
    ("platform", "active", "verified", None, False),
    ("signup", "confirmed", "verified", None, False),
    ("signup", "unsubscribed", "verified", None, False),
]
ROWS_OF_A_CAMPAIGN = """
INSERT INTO account (id, email, email_key, name, is_admin, created_ms)
VALUES ('{account}', '{account}@x.example', '{account}@x.example', 'X', 0, 1);
INSERT INTO campaign (id, account_id, name, slug, screening, hold_days, needs_confirmation, words,
    created_ms)
VALUES ('{campaign}', '{account}', 'X', '{campaign}', 'flexible', 0, {needs_confirmation}, '{{}}',
    1);
"""
ROW_OF_A_SUBSCRIBER = """
INSERT INTO subscriber (id, account_id, campaign_id, email, email_key, person_key, ref_code, status,
    referral_status, referral_reason, origin, created_ms, received_ms)
VALUES ('{id}', '{account}', '{campaign}', '{id}@x.example', '{id}@x.example', '{id}', '{id}',
    '{status}', '{referral_status}', {reason}, '{origin}', 1, 1);
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_an_upgrade_finds_who_was_asked_and_has_not_confirmed(engine: str) -> None:
    rows, expected = "", {}
    for account, campaign, needs_confirmation in (("a", "ca", 1), ("b", "cb", 0)):
        rows += ROWS_OF_A_CAMPAIGN.format(
            account=account, campaign=campaign, needs_confirmation=needs_confirmation
        )
        for n, (origin, status, referral_status, reason, must) in enumerate(OLD_ROWS):
            expected[f"{account}{n}"] = int(must and bool(needs_confirmation))
            rows += ROW_OF_A_SUBSCRIBER.format(
                id=f"{account}{n}",
                account=account,
                campaign=campaign,
                status=status,
                referral_status=referral_status,
                reason=f"'{reason}'" if reason else "NULL",
                origin=origin,
            )
    url = database_before(engine, "0048", rows)

    async def upgraded() -> dict[str, int]:
        await migrate(url)
        store = await open_store(url)
        found = await store.read(
            lambda tx: tx.all(statement("SELECT id, must_confirm FROM subscriber"))
        )
        await store.close()
        return dict(found)

    assert asyncio.run(upgraded()) == expected
