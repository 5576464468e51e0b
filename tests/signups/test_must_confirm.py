"""Subscribers who still have to confirm their email address: decided when they join, over when they
confirm."""

from typing import Any

import pytest

from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.subscribers import subscribers
from honeyguide.subscribers.origins import Origin
from tests.support.service import Member, Service
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
