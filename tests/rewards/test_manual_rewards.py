"""A manual reward is not lost when it is claimed: the claim is a request, which waits for the
operator until they mark it as done or decline it.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from honeyguide.kernel.paging import Page
from honeyguide.mail import notifications
from honeyguide.rewards.fulfillment import REASON_LIMIT
from tests.support.delayed import pass_minute
from tests.support.newsletter import Newsletter
from tests.support.prizes import advocate, earned_by, offer
from tests.support.readings import in_account
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.tables import dump
from tests.support.web import Operator, operator, text_of

HOOK = {"url": "http://127.0.0.1:9/hook", "reward_redeemed": True, "new_referral": True}
BEFORE = statement(
    "UPDATE won_reward SET status = 'redeemed', redeemed_ms = claimed_ms, redeemed_by = 'reader'"
    " WHERE campaign_id = :campaign_id"
)


@pytest.fixture(scope="module", params=ENGINES)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param) as running:
        yield running


@pytest.fixture
def alice(service: Service) -> Operator:
    return operator(service)


@pytest.fixture
def wax(service: Service, alice: Operator) -> Newsletter:
    made = Newsletter(service)
    made.member, made.tenant = (
        alice,
        type(made.tenant)(alice.account_id, alice.campaign_id),
    )
    return made


class Claiming:
    """Somebody who earned a shout-out."""

    def __init__(self, wax: Newsletter, alice: Operator) -> None:
        self.wax, self.alice = wax, alice
        offer(alice, name="A shout-out", kind="manual", description="In the next issue.")
        self.ana = advocate(alice, 1)
        self.hub = wax.hub(wax.person(self.ana["uuid"]))
        self.path = f"{self.hub}/claim/{self.earned['uuid']}"

    @property
    def earned(self) -> dict[str, Any]:
        (found,) = earned_by(self.alice, self.ana)
        return found

    @property
    def reader_page(self) -> str:
        return text_of(self.wax.visitor.get(self.hub).text)

    @property
    def rewards_page(self) -> str:
        return text_of(self.alice.web.get("/rewards").text)

    def claim(self) -> None:
        data = {"token": self.wax.claim_token(self.hub)}
        assert self.wax.visitor.post(self.path, data=data).status_code == 303

    def answer(self, do: str, **fields: str) -> None:
        sent = self.alice.web.post(
            "/rewards/hand-over", page="/rewards", earned=self.earned["uuid"], do=do, **fields
        )
        assert sent.status_code == 303


@pytest.fixture
def claiming(wax: Newsletter, alice: Operator) -> Claiming:
    return Claiming(wax, alice)


def events(alice: Operator) -> list[str]:
    tables = dump(alice.service)
    return [row["type"] for row in tables["event"] if row["account_id"] == alice.account_id]


def notified(alice: Operator) -> list[str]:
    found = alice.service.read(
        lambda tx: notifications.page_of(in_account(tx, alice.account_id), Page(1, 50))
    )
    return [each.notification.kind for each in found]


def test_a_claim_waits_until_the_operator_has_done_it(claiming: Claiming, alice: Operator) -> None:
    alice.post("/v2/webhooks", HOOK)
    assert "Claimed rewards" not in text_of(alice.web.get("/").text)
    claiming.claim()
    assert claiming.earned["status"] == "unlocked" and claiming.earned["redeemed_at"] is None
    assert claiming.earned["claimed_at"] is not None
    assert "Being prepared" in claiming.reader_page and "/claim/" not in claiming.reader_page
    assert "1 claimed reward to fulfill" in text_of(alice.web.get("/").text)
    assert "Mark as done" in claiming.rewards_page and "claimed" in claiming.rewards_page
    assert "reward_claimed" in notified(alice)
    assert "reward_redeemed" not in events(alice)
    claiming.answer("redeem")
    assert claiming.earned["status"] == "unlocked", "it can be undone for a minute"
    pass_minute(alice.service)
    assert claiming.earned["status"] == "redeemed" and claiming.earned["redeemed_at"] is not None
    assert claiming.earned["claimed_at"] is not None
    assert events(alice).count("reward_redeemed") == 1
    assert "Done" in claiming.reader_page and "Being prepared" not in claiming.reader_page
    assert "Mark as done" not in claiming.rewards_page
    assert "to fulfill" not in text_of(alice.web.get("/").text)


def test_claiming_twice_is_one_claim(claiming: Claiming, alice: Operator) -> None:
    token = {"token": claiming.wax.claim_token(claiming.hub)}
    for _ in range(2):
        assert claiming.wax.visitor.post(claiming.path, data=token).status_code == 303
    assert notified(alice).count("reward_claimed") == 1


def test_the_api_redeems_a_claim_at_once(claiming: Claiming, alice: Operator) -> None:
    alice.post("/v2/webhooks", HOOK)
    claiming.claim()
    path = f"{alice.v1}/rewards/{claiming.earned['uuid']}"
    assert alice.post(f"{path}/redeem", {}).json()["reward"]["status"] == "redeemed"
    assert events(alice).count("reward_redeemed") == 1
    refused = alice.post(f"{path}/decline", {"reason": "Too late"})
    assert (refused.status_code, refused.json()["code"]) == (400, "not_claimed")


@pytest.mark.parametrize("via", ["page", "api", "api under the subscriber"])
def test_a_declined_claim_can_be_made_again(claiming: Claiming, alice: Operator, via: str) -> None:
    claiming.claim()
    sentence = "We do this from May on: <b>claim it then</b>."
    if via == "page":
        claiming.answer("decline", reason=sentence)
        assert claiming.earned["claimed_at"] is not None
        pass_minute(alice.service)
    else:
        under = f"/subscribers/{claiming.ana['uuid']}" if via != "api" else ""
        path = f"{alice.v1}{under}/rewards/{claiming.earned['uuid']}/decline"
        answer = alice.post(path, {"reason": sentence})
        assert answer.status_code == 200 and answer.json()["reward"]["claimed_at"] is None
    assert (claiming.earned["status"], claiming.earned["claimed_at"]) == ("unlocked", None)
    assert sentence in claiming.reader_page
    assert "to fulfill" not in text_of(alice.web.get("/").text)
    claiming.claim()
    assert sentence not in claiming.reader_page and claiming.earned["claimed_at"] is not None
    assert notified(alice).count("reward_claimed") == 2


def test_declining_needs_a_sentence(claiming: Claiming, alice: Operator) -> None:
    claiming.claim()
    path = f"{alice.v1}/rewards/{claiming.earned['uuid']}/decline"
    for body in ({}, {"reason": ""}, {"reason": " "}, {"reason": "x" * (REASON_LIMIT + 1)}):
        assert alice.post(path, body).status_code == 400, body
    assert alice.post(path, {"reason": "x" * REASON_LIMIT}).status_code == 200
    claiming.claim()
    claiming.answer("decline", reason=" ")
    assert "sentence for the subscriber is required" in text_of(alice.web.get("/rewards").text)
    pass_minute(alice.service)
    assert claiming.earned["claimed_at"] is not None


def test_only_a_claim_that_waits_can_be_declined(claiming: Claiming, alice: Operator) -> None:
    path = f"{alice.v1}/rewards/{claiming.earned['uuid']}/decline"
    refused = alice.post(path, {"reason": "No"})
    assert (refused.status_code, refused.json()["code"]) == (400, "not_claimed")
    claiming.claim()
    claiming.answer("decline", reason="Later")
    for reason in ("Now", "Too late"):
        assert alice.post(path, {"reason": reason}).status_code == 200
    pass_minute(alice.service)
    assert "Now" in claiming.reader_page and "Later" not in claiming.reader_page


def test_others_are_claimed_at_once(wax: Newsletter, alice: Operator) -> None:
    offer(alice, name="Stickers", kind="link", link="https://files.example.org/stickers")
    ana = advocate(alice, 1)
    hub = wax.hub(wax.person(ana["uuid"]))
    (earned,) = earned_by(alice, ana)
    data = {"token": wax.claim_token(hub)}
    assert wax.visitor.post(f"{hub}/claim/{earned['uuid']}", data=data).status_code == 303
    (earned,) = earned_by(alice, ana)
    assert (earned["status"], earned["claimed_at"]) == ("redeemed", None)


def test_an_erasure_takes_the_claim_back(claiming: Claiming, alice: Operator) -> None:
    claiming.claim()
    uuid = claiming.earned["uuid"]
    alice.post(f"{alice.v1}/rewards/{uuid}/decline", {"reason": "Ana, write to us"})
    claiming.claim()
    assert alice.delete(f"{alice.v1}/subscribers/{claiming.ana['uuid']}").status_code == 200
    (row,) = [row for row in dump(alice.service)["won_reward"] if row["id"] == uuid]
    assert (row["status"], row["claimed_ms"], row["decline_reason"]) == ("unlocked", None, None)
    assert "to fulfill" not in text_of(alice.web.get("/").text)


def test_what_was_claimed_before_is_listed_until_it_was_checked(
    claiming: Claiming, alice: Operator
) -> None:
    claiming.claim()
    alice.service.write(lambda tx: tx.run(BEFORE, campaign_id=alice.campaign_id))
    assert "will be in touch" in claiming.reader_page
    assert "Claimed before you were told" in claiming.rewards_page
    assert "Ana Lopes" in claiming.rewards_page and "Mark as done" not in claiming.rewards_page
    assert alice.web.post("/rewards/earlier-claims", page="/rewards").status_code == 303
    assert "Claimed before you were told" not in claiming.rewards_page
    assert claiming.earned["status"] == "redeemed"


def test_a_subscribers_page_and_export_show_the_claim(claiming: Claiming, alice: Operator) -> None:
    claiming.claim()
    page = f"/subscribers/{claiming.ana['uuid']}"
    shown = text_of(alice.web.get(page).text)
    assert "Mark as done" in shown and "Claimed" in shown
    exported = alice.web.get(f"{page}/export.json").json()
    (reward,) = exported["rewards"]
    assert reward["claimed_at"] and reward["decline_reason"] is None
    sent = alice.web.post(
        f"{page}/rewards", page=page, earned=claiming.earned["uuid"], do="decline", reason="Later"
    )
    assert sent.status_code == 303
    pass_minute(alice.service)
    assert claiming.earned["claimed_at"] is None
    assert re.search(r"declined the claim of", text_of(alice.web.get("/account/changes").text))
