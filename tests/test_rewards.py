"""Rewards over the API: offering them, winning them by kind, approving, redeeming, and who is told."""

from __future__ import annotations

import time
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook as Verifier

from honeyguide.kernel.ids import new_id
from honeyguide.kernel.paging import Page
from honeyguide.mail import bell, letters
from honeyguide.mail.letters import Letter
from honeyguide.referrals import catching_up, coupons, hub, people, rewards
from honeyguide.referrals.campaigns import Owner
from honeyguide.store.tx import Tx
from tests.support.courier import ReceiverThread
from tests.support.service import Member

KEYS = {
    "uuid", "name", "referrals", "kind", "recurring", "approval", "description", "link", "coupon_code", "coupon_codes_total",
    "coupon_codes_left", "created_at",
}  # fmt: skip
WON = {"uuid", "reward_uuid", "name", "status", "coupon_code", "unlocked_at", "redeemed_at"}


def offer(member: Member, **fields: Any) -> dict[str, Any]:
    answer = member.post(f"{member.v1}/rewards", {"name": "The mug", "referrals": 1, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()["reward"]  # type: ignore[no-any-return]


def advocate(member: Member, friends: int = 0, email: str = "ana@example.org") -> dict[str, Any]:
    made = member.subscribe(email, name="Ana Lopes")
    bring(member, made, friends)
    return made


def bring(member: Member, who: dict[str, Any], friends: int) -> None:
    for _ in range(friends):
        member.subscribe(f"{new_id()[-12:]}@example.org", referrer_code=who["ref_code"])


def won_by(member: Member, who: dict[str, Any]) -> list[dict[str, Any]]:
    answer = member.get(f"{member.v1}/subscribers/{who['uuid']}/rewards")
    assert answer.status_code == 200, answer.text
    return answer.json()["rewards"]  # type: ignore[no-any-return]


def post_of(member: Member, kind: str) -> list[Letter]:
    async def work(tx: Tx) -> list[Letter]:
        return [each for each in await letters.of_account(tx, member.account_id, Page(1, 200)) if each.kind == kind]

    return member.service.read(work)


def catch_up(member: Member) -> None:
    """The background work of rewards, to its end, whatever the service itself is doing meanwhile."""
    site, now_ms = member.service.house.site, member.service.now_ms()
    for job in (catching_up.walk, catching_up.supply):
        while member.service.write(lambda tx, job=job: job(tx, site, now_ms=now_ms)):  # type: ignore[misc]
            pass


def owner_of(member: Member) -> Owner:
    return Owner(member.account_id, member.campaign_id)


# -- offering


def test_a_reward_is_created_read_changed_and_deleted(alice: Member) -> None:
    made = offer(alice, name="The mug", referrals=3)
    assert set(made) == KEYS
    assert (made["kind"], made["recurring"], made["approval"]) == ("manual", False, "automatic")
    assert (made["description"], made["link"], made["coupon_code"], made["coupon_codes_left"]) == (None, None, None, None)
    path = f"{alice.v1}/rewards/{made['uuid']}"
    assert alice.get(path).json() == {"reward": made}
    changes = {"name": "The cup", "referrals": 4, "recurring": True, "approval": "manual", "description": "Big."}
    changed = alice.put(path, changes)
    assert changed.json() == {"reward": {**made, **changes}}
    assert alice.put(path, {"description": None}).json()["reward"]["description"] is None
    nearer = offer(alice, name="A sticker", referrals=1)
    assert [each["uuid"] for each in alice.get(f"{alice.v1}/rewards").json()["rewards"]] == [nearer["uuid"], made["uuid"]]
    assert alice.delete(path).json() == {"message": "The reward was deleted."}
    for answer in (alice.get(path), alice.put(path, {}), alice.delete(path)):
        assert answer.status_code == 404
    assert [each["uuid"] for each in alice.get(f"{alice.v1}/rewards").json()["rewards"]] == [nearer["uuid"]]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"referrals": 1}, "name"),
        ({"name": "x"}, "referrals"),
        ({"name": " ", "referrals": 1}, "name"),
        ({"name": "x", "referrals": 0}, "referrals"),
        ({"name": "x", "referrals": -1}, "referrals"),
        ({"name": "x", "referrals": 10**18}, "referrals"),
        ({"name": "x", "referrals": 1.5}, "referrals"),
        ({"name": "x", "referrals": "3"}, "referrals"),
        ({"name": "x", "referrals": True}, "referrals"),
        ({"name": "x", "referrals": 1, "kind": "car"}, "kind"),
        ({"name": "x", "referrals": 1, "approval": "never"}, "approval"),
        ({"name": "x", "referrals": 1, "recurring": "yes"}, "recurring"),
        ({"name": "x", "referrals": 1, "kind": "link"}, "link"),
        ({"name": "x", "referrals": 1, "kind": "link", "link": "javascript:alert(1)"}, "link"),
        ({"name": "x", "referrals": 1, "link": "https://example.org"}, "link"),
        ({"name": "x", "referrals": 1, "kind": "coupon"}, "coupon_code"),
        ({"name": "x", "referrals": 1, "kind": "coupon", "coupon_code": "A", "coupon_codes": ["B"]}, "coupon_code"),
        ({"name": "x", "referrals": 1, "coupon_code": "A"}, "coupon_code"),
        ({"name": "x", "referrals": 1, "coupon_codes": ["A"]}, "coupon_codes"),
        ({"name": "x", "referrals": 1, "kind": "coupon", "coupon_codes": ["A", " "]}, "coupon_codes"),
        ({"name": "x", "referrals": 1, "kind": "coupon", "coupon_codes": ["A\x00"]}, "coupon_codes"),
        ({"name": "x", "referrals": 1, "kind": "coupon", "coupon_codes": [1]}, "coupon_codes"),
        ({"name": "x", "referrals": 1, "kind": "coupon", "coupon_codes": [str(n) for n in range(10_001)]}, "coupon_codes"),
        ({"name": "x" * 256, "referrals": 1}, "name"),
        ({"name": "x", "referrals": 1, "description": "x" * 2001}, "description"),
    ],
)
def test_a_reward_that_makes_no_sense_is_refused(alice: Member, body: dict[str, Any], param: str) -> None:
    answer = alice.post(f"{alice.v1}/rewards", body)
    assert (answer.status_code, answer.json().get("param")) == (400, param), answer.text
    assert alice.get(f"{alice.v1}/rewards").json() == {"rewards": []}


def test_what_a_reward_is_cannot_change(alice: Member) -> None:
    shared = offer(alice, kind="coupon", coupon_code="ALL")
    pool = offer(alice, kind="coupon", coupon_codes=["A"])
    for reward, change in (
        (shared, {"kind": "manual"}), (shared, {"coupon_codes": ["B"]}), (pool, {"coupon_code": "B"}), (pool, {"link": "https://x.org"}),
        (shared, {"name": None}), (shared, {"coupon_code": None}),
    ):  # fmt: skip
        assert alice.put(f"{alice.v1}/rewards/{reward['uuid']}", change).status_code == 400, change
    assert alice.put(f"{alice.v1}/rewards/{shared['uuid']}", {"kind": "coupon", "coupon_code": "NEW"}).status_code == 200


# -- winning


def test_a_milestone_unlocks_once_when_it_is_reached(alice: Member) -> None:
    reward = offer(alice, referrals=2)
    ana = advocate(alice, 1)
    assert won_by(alice, ana) == []
    bring(alice, ana, 3)
    (won,) = won_by(alice, ana)
    assert set(won) == WON
    assert (won["reward_uuid"], won["name"], won["status"]) == (reward["uuid"], "The mug", "unlocked")
    assert won["unlocked_at"] is not None and won["redeemed_at"] is None and won["coupon_code"] is None


def test_a_recurring_reward_unlocks_at_every_multiple(alice: Member) -> None:
    offer(alice, referrals=2, recurring=True)
    ana = advocate(alice, 5)
    assert len(won_by(alice, ana)) == 2
    bring(alice, ana, 1)
    assert len(won_by(alice, ana)) == 3


def test_falling_back_and_coming_again_unlocks_nothing_twice(alice: Member) -> None:
    offer(alice, referrals=2)
    ana = advocate(alice, 1)
    friend = alice.subscribe("friend@example.org", referrer_code=ana["ref_code"])
    assert len(won_by(alice, ana)) == 1
    alice.delete(f"{alice.v1}/subscribers/{friend['uuid']}")
    assert alice.subscriber(ana["uuid"])["referrals_count"] == 1
    bring(alice, ana, 2)
    assert len(won_by(alice, ana)) == 1


def test_only_what_counts_counts(alice: Member) -> None:
    offer(alice, referrals=1)
    ana = advocate(alice)
    alice.subscribe("thrown@mailinator.com", referrer_code=ana["ref_code"])
    alice.put(f"{alice.v1}/settings", {"hold_days": 3})
    ben = alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])
    assert won_by(alice, ana) == []
    assert alice.post(f"{alice.v1}/subscribers/{ben['uuid']}/referral/verify").status_code == 200
    assert len(won_by(alice, ana)) == 1


def test_a_new_reward_reaches_those_already_past_it(alice: Member) -> None:
    ana, ben = advocate(alice, 5), advocate(alice, 2, "ben@example.org")
    once, often = offer(alice, referrals=3), offer(alice, referrals=2, recurring=True)
    catch_up(alice)
    assert [won["reward_uuid"] for won in won_by(alice, ana)].count(once["uuid"]) == 1
    assert [won["reward_uuid"] for won in won_by(alice, ana)].count(often["uuid"]) == 2
    assert [won["reward_uuid"] for won in won_by(alice, ben)] == [often["uuid"]]
    alice.put(f"{alice.v1}/rewards/{once['uuid']}", {"referrals": 2})
    catch_up(alice)
    catch_up(alice)
    assert sorted(won["reward_uuid"] for won in won_by(alice, ben)) == sorted([often["uuid"], once["uuid"]])
    assert len(won_by(alice, ana)) == 3


def test_the_walk_to_those_already_past_it_takes_as_many_steps_as_it_needs(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    everyone = [advocate(alice, 2, f"star{n}@example.org") for n in range(7)]
    monkeypatch.setattr(catching_up, "WALK_BATCH", 3)
    monkeypatch.setattr(catching_up, "GIVE_BATCH", 2)
    monkeypatch.setattr(rewards, "MOST_AT_ONCE", 1)
    offer(alice, referrals=1, recurring=True)
    catch_up(alice)
    assert [len(won_by(alice, who)) for who in everyone] == [2] * 7


def test_deleting_a_reward_keeps_what_was_won(alice: Member) -> None:
    reward = offer(alice, kind="coupon", coupon_code="THANKS")
    ana = advocate(alice, 1)
    alice.delete(f"{alice.v1}/rewards/{reward['uuid']}")
    (won,) = won_by(alice, ana)
    assert (won["name"], won["coupon_code"]) == ("The mug", "THANKS")
    assert len(won_by(alice, advocate(alice, 2, "ben@example.org"))) == 0
    assert alice.post(f"{alice.v1}/rewards/{won['uuid']}/redeem").json()["reward"]["status"] == "redeemed"


# -- coupons


def test_a_shared_code_goes_to_everybody_and_a_pool_gives_each_code_once_in_order(alice: Member) -> None:
    offer(alice, name="shared", kind="coupon", coupon_code="ALL")
    pool = offer(alice, name="pool", kind="coupon", coupon_codes=["A", "B", "A", " B "])
    assert (pool["coupon_codes_total"], pool["coupon_codes_left"]) == (2, 2)
    people = [advocate(alice, 1, f"a{n}@example.org") for n in range(3)]
    codes = [{won["name"]: (won["status"], won["coupon_code"]) for won in won_by(alice, who)} for who in people]
    assert [each["shared"] for each in codes] == [("unlocked", "ALL")] * 3
    assert [each["pool"] for each in codes] == [("unlocked", "A"), ("unlocked", "B"), ("out_of_stock", None)]


def test_codes_added_later_go_to_those_who_wait_in_their_order_and_then_to_newcomers(alice: Member) -> None:
    pool = offer(alice, kind="coupon", coupon_codes=[])
    people = [advocate(alice, 1, f"a{n}@example.org") for n in range(3)]
    path = f"{alice.v1}/rewards/{pool['uuid']}"
    assert [won_by(alice, who)[0]["status"] for who in people] == ["out_of_stock"] * 3
    assert post_of(alice, "reward_unlocked") == []
    filled = alice.put(path, {"coupon_codes": ["A", "B"]}).json()["reward"]
    assert (filled["coupon_codes_total"], filled["coupon_codes_left"]) == (2, 0)
    assert [won_by(alice, who)[0]["coupon_code"] for who in people] == ["A", "B", None]
    assert [letter.to_email for letter in post_of(alice, "reward_unlocked")] == ["a1@example.org", "a0@example.org"]
    again = alice.put(path, {"coupon_codes": ["A", "C", "D"]}).json()["reward"]
    assert (again["coupon_codes_total"], again["coupon_codes_left"]) == (4, 1)
    late = advocate(alice, 1, "late@example.org")
    assert [won_by(alice, who)[0]["coupon_code"] for who in (*people, late)] == ["A", "B", "C", "D"]


def test_a_long_queue_is_served_by_the_background_work_and_nobody_overtakes(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewards, "FILL_BATCH", 2)
    pool = offer(alice, kind="coupon", coupon_codes=[])
    people = [advocate(alice, 1, f"a{n}@example.org") for n in range(5)]
    alice.put(f"{alice.v1}/rewards/{pool['uuid']}", {"coupon_codes": [str(n) for n in range(5)]})
    late = advocate(alice, 1, "late@example.org")
    assert won_by(alice, late)[0]["status"] == "out_of_stock"
    catch_up(alice)
    assert [won_by(alice, who)[0]["coupon_code"] for who in (*people, late)] == ["0", "1", "2", "3", "4", None]


def test_the_owner_hears_once_that_codes_run_out_and_again_after_a_refill(alice: Member) -> None:
    pool = offer(alice, kind="coupon", coupon_codes=[str(n) for n in range(8)])

    def told() -> tuple[int, int]:
        return len(post_of(alice, "reward_low_stock")), len(post_of(alice, "reward_out_of_stock"))

    ends = []
    for n in range(9):
        advocate(alice, 1, f"a{n}@example.org")
        ends.append(told())
    assert ends == [(0, 0), (0, 0), (1, 0), (1, 0), (1, 0), (1, 0), (1, 0), (1, 1), (1, 1)]
    alice.put(f"{alice.v1}/rewards/{pool['uuid']}", {"coupon_codes": [f"n{n}" for n in range(8)]})
    for n in range(2):
        advocate(alice, 1, f"b{n}@example.org")
    assert told() == (2, 1)
    rung = alice.service.read(lambda tx: bell.page_of(tx, alice.account_id, Page(1, 9)))
    assert sorted(each.kind for each in rung) == ["reward_low_stock", "reward_low_stock", "reward_out_of_stock"]


def test_a_csv_of_codes_is_read_with_or_without_its_heading() -> None:
    assert coupons.read_codes("\ufeffcode,note\r\nA1,first\r\n\r\n B2 ,\r\n") == ["A1", "B2"]
    assert coupons.read_codes('A1\n"B,2"\n') == ["A1", "B,2"]
    assert coupons.read_codes("") == []


# -- deciding


def test_a_reward_that_needs_approval_waits_for_it(alice: Member) -> None:
    offer(alice, kind="coupon", coupon_codes=["A"], approval="manual")
    ana = advocate(alice, 1)
    (won,) = won_by(alice, ana)
    assert (won["status"], won["coupon_code"], won["unlocked_at"]) == ("awaiting_approval", None, None)
    assert post_of(alice, "reward_unlocked") == []
    path = f"{alice.v1}/subscribers/{ana['uuid']}/rewards/{won['uuid']}"
    refused = alice.post(f"{path}/redeem")
    assert (refused.status_code, refused.json()["code"]) == (400, "awaiting_approval")
    for _ in range(2):
        approved = alice.post(f"{path}/approve").json()["reward"]
        assert (approved["status"], approved["coupon_code"]) == ("unlocked", "A")
    assert len(post_of(alice, "reward_unlocked")) == 1


def test_redeeming_twice_is_redeeming_once_and_an_empty_shelf_cannot_be_redeemed(alice: Member) -> None:
    offer(alice, kind="coupon", coupon_codes=["A"])
    ana, ben = advocate(alice, 1), advocate(alice, 1, "ben@example.org")
    first = alice.post(f"{alice.v1}/rewards/{won_by(alice, ana)[0]['uuid']}/redeem").json()["reward"]
    assert first["status"] == "redeemed" and first["redeemed_at"] is not None
    alice.service.set_clock(3600)
    assert alice.post(f"{alice.v1}/rewards/{first['uuid']}/redeem").json()["reward"] == first
    refused = alice.post(f"{alice.v1}/rewards/{won_by(alice, ben)[0]['uuid']}/redeem")
    assert (refused.status_code, refused.json()["code"]) == (400, "out_of_stock")


def test_a_won_reward_is_found_under_its_own_advocate_only(alice: Member) -> None:
    offer(alice)
    ana, ben = advocate(alice, 1), advocate(alice, 1, "ben@example.org")
    of_ana = won_by(alice, ana)[0]["uuid"]
    assert alice.post(f"{alice.v1}/subscribers/{ben['uuid']}/rewards/{of_ana}/redeem").status_code == 404
    assert alice.post(f"{alice.v1}/subscribers/ana@example.org/rewards/{of_ana}/redeem").status_code == 200
    assert alice.post(f"{alice.v1}/rewards/{new_id()}/approve").status_code == 404


def test_a_reader_claims_a_physical_reward_with_an_address(alice: Member) -> None:
    offer(alice, kind="physical")
    ana = advocate(alice, 1)
    won_id = won_by(alice, ana)[0]["uuid"]
    site, now_ms = alice.service.house.site, alice.service.now_ms()
    address = rewards.Shipping("Ana Lopes", "1 Hive Lane", "Porto", "4000", "PT")

    async def claim(tx: Tx, shipping: rewards.Shipping | None) -> rewards.Won:
        owner = owner_of(alice)
        reader = await people.get(tx, owner, ana["uuid"])
        return await rewards.claim(tx, site, owner, reader, won_id, shipping=shipping, now_ms=now_ms)

    for wrong in (None, rewards.Shipping("Ana", " ", "Porto", "4000", "PT")):
        with pytest.raises(Exception, match=r"send it|line1"):
            alice.service.write(lambda tx, wrong=wrong: claim(tx, wrong))  # type: ignore[misc]
    won = alice.service.write(lambda tx: claim(tx, address))
    assert (won.status, won.redeemed_by) == ("redeemed", "reader")
    assert '"Porto"' in (won.shipping or "")
    with pytest.raises(Exception, match="no such reward"):
        alice.service.write(lambda tx: claim_as_stranger(tx, alice, won_id))


async def claim_as_stranger(tx: Tx, member: Member, won_id: str) -> None:
    owner = owner_of(member)
    (friend, *_), _ = await people.page_of(tx, owner, "referrals", Page())
    await rewards.claim(tx, member.service.house.site, owner, friend, won_id, now_ms=member.service.now_ms())


# -- telling


def test_webhooks_are_told_of_unlocking_and_redeeming_signed_and_once(alice: Member) -> None:
    reward = offer(alice, kind="coupon", coupon_code="THANKS", referrals=1)
    far = offer(alice, name="A hive", referrals=5)
    with ReceiverThread() as receiver:
        flags = {"new_referral": True, "reward_unlocked": True, "reward_redeemed": True}
        hook = alice.post("/v2/webhooks", {"url": receiver.url, **flags}).json()["webhook"]
        secret = alice.get(f"/v2/webhooks/{hook['uuid']}/secret").json()["secret"]
        ana = advocate(alice, 1)
        won = won_by(alice, ana)[0]
        address = {"name": "Ana", "line1": "1 Hive Lane", "city": "Porto", "postcode": "4000", "country": "PT"}
        for _ in range(2):
            answer = alice.post(f"{alice.v1}/rewards/{won['uuid']}/redeem", {"shipping_details": address})
            assert answer.status_code == 200, answer.text
        until = time.monotonic() + 20
        while len(receiver.requests) < 3 and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.3)
        told = {body["type"]: body for body in (Verifier(secret).verify(r.body, r.headers) for r in receiver.requests)}
        assert len(receiver.requests) == 3
    next_reward = {"id": far["uuid"], "name": "A hive", "referrals": 5, "referrals_left": 4}
    assert told["new_referral"]["referrer"]["next_reward"] == next_reward
    assert told["new_referral"]["subscriber"]["next_reward"]["referrals_left"] == 1
    shown = {"id": reward["uuid"], "name": "The mug", "referrals": 1, "recurring": False}
    for kind in ("reward_unlocked", "reward_redeemed"):
        body = told[kind]
        assert (body["reward"], body["coupon_code"], body["campaign_id"]) == (shown, "THANKS", alice.campaign_id)
        assert (body["subscriber"]["id"], body["subscriber"]["tot_referrals"]) == (ana["uuid"], 1)
        assert body["subscriber"]["next_reward"] == next_reward
    assert told["reward_redeemed"]["shipping_details"] == {**address, "line2": None, "region": None}
    assert "shipping_details" not in told["reward_unlocked"]


def test_the_reader_gets_one_letter_with_the_code_and_the_way_to_their_page(alice: Member) -> None:
    offer(alice, kind="coupon", coupon_code="THANKS-7", description="Use it at the till.")
    ana = advocate(alice, 1)
    (letter,) = post_of(alice, "reward_unlocked")
    assert (letter.to_email, letter.about_id, letter.subject) == ("ana@example.org", ana["uuid"], "You earned The mug")
    site = alice.service.house.site
    token = hub.token(site, ana["uuid"], ana["ref_code"])

    async def whose(tx: Tx) -> Any:
        return await hub.find(tx, site, token), await hub.find(tx, site, token[:-1] + ("0" if token[-1] != "0" else "1"))

    found, wrong = alice.service.read(whose)
    assert found is not None and found[1].id == ana["uuid"] and wrong is None


def test_who_left_wins_but_gets_no_mail(alice: Member) -> None:
    offer(alice)
    ana = advocate(alice)
    alice.put(f"{alice.v1}/subscribers/{ana['uuid']}", {"status": "unsubscribed"})
    bring(alice, ana, 1)
    assert won_by(alice, ana)[0]["status"] == "unlocked"
    assert post_of(alice, "reward_unlocked") == []


def test_v2_shows_what_each_of_a_page_won(alice: Member) -> None:
    offer(alice, kind="coupon", coupon_code="X")
    ana = advocate(alice, 1)
    listed = alice.get(f"{alice.v2}/subscribers", params={"expand": "campaigns"}).json()["subscribers"]
    shown = {each["email"]: each["referral_programs"][0]["rewards"] for each in listed}
    assert shown.pop("ana@example.org") == won_by(alice, ana)
    assert all(each == [] for each in shown.values()) and len(shown) == 1
    one = alice.get(f"/v2/subscribers/{ana['uuid']}", params={"expand": "campaigns"}).json()["subscriber"]
    assert one["referral_programs"][0]["rewards"][0]["coupon_code"] == "X"
