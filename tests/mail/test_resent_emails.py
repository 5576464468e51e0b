"""Emails that an operator sends one subscriber by hand: never to somebody who left, and not too
many.
"""

from typing import Any

import msgspec
import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.ids import new_id
from honeyguide.mail import stops
from honeyguide.signups import resent_emails
from honeyguide.signups.resent_emails import EVERY_MS, Obstacles
from honeyguide.store.tx import Tx
from honeyguide.subscribers import hub_choices, subscribers
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.prizes import advocate, earned_by, offer, post_of, tenant_of
from tests.support.readings import change_of, change_of_account, reading
from tests.support.service import Member, Service
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of


@pytest.fixture
def alice(service: Service) -> Operator:
    service.set_clock(0)
    return operator(service)


def someone(alice: Operator, friends: int = 0) -> dict[str, Any]:
    """With a mailbox of their own: limits count over all accounts."""
    return advocate(alice, friends, f"{new_id()[-12:]}@example.org")


def send(alice: Operator, who: dict[str, Any], email: str = "link", **fields: str) -> Any:
    page = f"/subscribers/{who['uuid']}"
    return alice.web.post(f"{page}/emails", page=page, email=email, **fields)


def load(member: Member, who: dict[str, Any]) -> Subscriber:
    return member.service.read(
        lambda tx: subscribers.get(reading(tx, tenant_of(member)), str(who["uuid"]))
    )


@pytest.mark.parametrize(
    ("changes", "obstacles", "reason"),
    [
        ({}, Obstacles(), ""),
        ({"status": "confirmed"}, Obstacles(), ""),
        ({"status": "unsubscribed"}, Obstacles(), "unsubscribed"),
        ({"must_confirm": 1}, Obstacles(), "not confirmed"),
        ({}, Obstacles(has_left_program=True), "left the referral program"),
        ({}, Obstacles(has_stopped=True), "stopped these emails"),
        ({}, Obstacles(is_returned=True), "came back"),
    ],
)
def test_who_gets_no_email(
    alice: Operator, changes: dict[str, Any], obstacles: Obstacles, reason: str
) -> None:
    person = msgspec.structs.replace(load(alice, someone(alice)), **changes)
    found = resent_emails.why_not(person, obstacles)
    assert reason in found and bool(found) == bool(reason)


def test_the_link_is_sent_and_not_again_at_once(alice: Operator) -> None:
    ana = someone(alice)
    page = f"/subscribers/{ana['uuid']}"
    assert send(alice, ana).status_code == 303
    message = f"Their referral link is on its way to {ana['email']}."
    assert message in text_of(alice.web.get(page).text)
    (email,) = post_of(alice, "hub_link")
    assert (email.to_email, email.about_id) == (ana["email"], ana["uuid"])
    again = send(alice, ana)
    assert again.status_code == 429 and "in the last 10 minutes" in text_of(again.text)
    assert len(post_of(alice, "hub_link")) == 1


def test_at_most_five_a_day(alice: Operator, service: Service) -> None:
    ana = someone(alice)
    every_s = EVERY_MS / 1000 + 1
    for number in range(resent_emails.MOST_A_DAY):
        service.set_clock(number * every_s)
        assert send(alice, ana).status_code == 303
    service.set_clock(resent_emails.MOST_A_DAY * every_s)
    refused = send(alice, ana)
    assert refused.status_code == 429 and "Try again tomorrow." in text_of(refused.text)
    service.set_clock(DAY_MS / 1000 + resent_emails.MOST_A_DAY * every_s)
    assert send(alice, ana).status_code == 303
    service.set_clock(0)


async def _leave(tx: Tx, member: Member, who: dict[str, Any]) -> None:
    await hub_choices.leave_program(change_of(tx, tenant_of(member), now_ms=1), who["uuid"])


async def _stop(tx: Tx, member: Member, who: dict[str, Any]) -> None:
    await stops.stop(change_of_account(tx, member.account_id, now_ms=1), who["uuid"])


async def _unsubscribe(tx: Tx, member: Member, who: dict[str, Any]) -> None:
    sql = (
        "UPDATE subscriber SET status = 'unsubscribed' WHERE id = :id AND account_id = :account_id"
    )
    await tx.run(statement(sql), id=who["uuid"], account_id=member.account_id)


@pytest.mark.parametrize("gone", [_leave, _stop, _unsubscribe])
def test_nobody_who_left_is_written_to(alice: Operator, gone: Any) -> None:
    offer(alice)
    ana = someone(alice, 1)
    (earned,) = earned_by(alice, ana)
    already = len(post_of(alice, "reward_unlocked"))
    alice.service.write(lambda tx: gone(tx, alice, ana))
    for email in ({"email": "link"}, {"email": "reward", "earned": earned["uuid"]}):
        refused = send(alice, ana, **email)
        assert refused.status_code == 400 and "Nothing was sent." in text_of(refused.text)
    assert post_of(alice, "hub_link") == [] and len(post_of(alice, "reward_unlocked")) == already
    page = text_of(alice.web.get(f"/subscribers/{ana['uuid']}").text)
    assert "Their link cannot be sent." in page and "Send their link" not in page


def test_an_address_that_came_back_is_not_written_to_until_it_is_corrected(alice: Operator) -> None:
    ana = someone(alice)
    send(alice, ana)
    sql = "UPDATE letter SET bounced = 1, created_ms = 1 WHERE account_id = :account_id"
    alice.service.write(lambda tx: tx.run(statement(sql), account_id=alice.account_id))
    assert "came back" in text_of(send(alice, ana).text)
    page = f"/subscribers/{ana['uuid']}"
    alice.web.post(f"{page}/edit", page=page, name="Ana", email=f"{new_id()[-12:]}@example.org")
    assert send(alice, ana).status_code == 303


def test_a_reward_is_told_again_until_it_is_to_be_posted(alice: Operator) -> None:
    offer(alice, name="Recipes")
    offer(alice, name="Mug", kind="physical")
    ana = someone(alice, 1)
    earned = {each["name"]: each["uuid"] for each in earned_by(alice, ana)}
    # Those that were sent on the day itself are more than 10 minutes ago.
    sql = "UPDATE letter SET created_ms = 1 WHERE account_id = :account_id"
    alice.service.write(lambda tx: tx.run(statement(sql), account_id=alice.account_id))
    before = len(post_of(alice, "reward_unlocked"))
    page = text_of(alice.web.get(f"/subscribers/{ana['uuid']}").text)
    assert "Reward earned: Recipes" in page and "Reward earned: Mug" in page
    assert send(alice, ana, "reward", earned=earned["Recipes"]).status_code == 303
    assert len(post_of(alice, "reward_unlocked")) == before + 1
    address = {"name": "Ana", "line1": "Rua 1", "city": "Porto", "postcode": "1", "country": "PT"}
    path = f"{alice.v1}/rewards/{earned['Mug']}/redeem"
    assert alice.post(path, {"shipping_details": address}).status_code == 200
    refused = send(alice, ana, "reward", earned=earned["Mug"])
    assert refused.status_code == 400 and "nothing left to claim" in text_of(refused.text)
    other = someone(alice)
    assert send(alice, other, "reward", earned=earned["Recipes"]).status_code == 404


def test_a_confirmation_is_sent_again_to_those_who_have_to_confirm(
    alice: Operator, service: Service
) -> None:
    ana = someone(alice)
    alice.put(f"{alice.v1}/settings", {"needs_confirmation": True})
    ben = alice.subscribe(f"{new_id()[-12:]}@example.org", referrer_code=ana["ref_code"])
    assert "Confirmation" in text_of(alice.web.get(f"/subscribers/{ben['uuid']}").text)
    assert send(alice, ben, "confirmation").status_code == 303
    assert [each.to_email for each in post_of(alice, "confirm")] == [ben["email"]]
    assert send(alice, ben, "confirmation").status_code == 429
    assert send(alice, ana, "confirmation").status_code == 400
    assert send(alice, ana, "nonsense").status_code == 400
    assert len(post_of(alice, "confirm")) == 1
