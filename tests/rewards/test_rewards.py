"""Rewards over the API: offering them, winning them, approving and redeeming."""

from typing import Any

import pytest

from honeyguide.kernel import actors
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.paging import Page
from honeyguide.rewards import backfill, earned_rewards, shipments
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.subscribers import subscribers
from tests.support.prizes import advocate, bring, catch_up, earned_by, offer, post_of, tenant_of
from tests.support.readings import reading
from tests.support.service import ONE_ENGINE, Member

KEYS = {
    "uuid",
    "name",
    "referrals",
    "kind",
    "recurring",
    "approval",
    "description",
    "link",
    "coupon_code",
    "coupon_codes_total",
    "coupon_codes_left",
    "variants",
    "created_at",
}
WON = {"uuid", "reward_uuid", "name", "status", "coupon_code", "unlocked_at", "redeemed_at"}
WON |= {"claimed_at"}


# -- offering


def test_a_reward_is_created_read_changed_and_deleted(alice: Member) -> None:
    made = offer(alice, name="The mug", referrals=3)
    assert set(made) == KEYS
    assert (made["kind"], made["recurring"], made["approval"]) == ("manual", False, "automatic")
    assert (made["description"], made["link"], made["coupon_code"], made["coupon_codes_left"]) == (
        None,
        None,
        None,
        None,
    )
    path = f"{alice.v1}/rewards/{made['uuid']}"
    assert alice.get(path).json() == {"reward": made}
    changes = {
        "name": "The cup",
        "referrals": 4,
        "recurring": True,
        "approval": "manual",
        "description": "Big.",
    }
    changed = alice.put(path, changes)
    assert changed.json() == {"reward": {**made, **changes}}
    assert alice.put(path, {"description": None}).json()["reward"]["description"] is None
    nearer = offer(alice, name="A sticker", referrals=1)
    assert [each["uuid"] for each in alice.get(f"{alice.v1}/rewards").json()["rewards"]] == [
        nearer["uuid"],
        made["uuid"],
    ]
    assert alice.delete(path).json() == {"message": "The reward was deleted."}
    for answer in (alice.get(path), alice.put(path, {}), alice.delete(path)):
        assert answer.status_code == 404
    assert [each["uuid"] for each in alice.get(f"{alice.v1}/rewards").json()["rewards"]] == [
        nearer["uuid"]
    ]


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
        (
            {
                "name": "x",
                "referrals": 1,
                "kind": "coupon",
                "coupon_code": "A",
                "coupon_codes": ["B"],
            },
            "coupon_code",
        ),
        ({"name": "x", "referrals": 1, "coupon_code": "A"}, "coupon_code"),
        ({"name": "x", "referrals": 1, "coupon_codes": ["A"]}, "coupon_codes"),
        (
            {"name": "x", "referrals": 1, "kind": "coupon", "coupon_codes": ["A", " "]},
            "coupon_codes",
        ),
        (
            {"name": "x", "referrals": 1, "kind": "coupon", "coupon_codes": ["A\x00"]},
            "coupon_codes",
        ),
        ({"name": "x", "referrals": 1, "kind": "coupon", "coupon_codes": [1]}, "coupon_codes"),
        (
            {
                "name": "x",
                "referrals": 1,
                "kind": "coupon",
                "coupon_codes": [str(n) for n in range(10_001)],
            },
            "coupon_codes",
        ),
        ({"name": "x" * 256, "referrals": 1}, "name"),
        ({"name": "x", "referrals": 1, "description": "x" * 2001}, "description"),
    ],
)
@ONE_ENGINE
def test_a_reward_that_makes_no_sense_is_refused(
    alice: Member, body: dict[str, Any], param: str
) -> None:
    answer = alice.post(f"{alice.v1}/rewards", body)
    assert (answer.status_code, answer.json().get("param")) == (400, param), answer.text
    assert alice.get(f"{alice.v1}/rewards").json() == {"rewards": []}


def test_what_a_reward_is_cannot_change(alice: Member) -> None:
    shared = offer(alice, kind="coupon", coupon_code="ALL")
    pool = offer(alice, kind="coupon", coupon_codes=["A"])
    for reward, change in (
        (shared, {"kind": "manual"}),
        (shared, {"coupon_codes": ["B"]}),
        (pool, {"coupon_code": "B"}),
        (pool, {"link": "https://x.org"}),
        (shared, {"name": None}),
        (shared, {"coupon_code": None}),
    ):
        assert alice.put(f"{alice.v1}/rewards/{reward['uuid']}", change).status_code == 400, change
    assert (
        alice.put(
            f"{alice.v1}/rewards/{shared['uuid']}", {"kind": "coupon", "coupon_code": "NEW"}
        ).status_code
        == 200
    )


# -- winning


def test_a_milestone_unlocks_once_when_it_is_reached(alice: Member) -> None:
    reward = offer(alice, referrals=2)
    ana = advocate(alice, 1)
    assert earned_by(alice, ana) == []
    bring(alice, ana, 3)
    (earned,) = earned_by(alice, ana)
    assert set(earned) == WON
    assert (earned["reward_uuid"], earned["name"], earned["status"]) == (
        reward["uuid"],
        "The mug",
        "unlocked",
    )
    assert (
        earned["unlocked_at"] is not None
        and earned["redeemed_at"] is None
        and earned["coupon_code"] is None
    )


def test_a_recurring_reward_unlocks_at_every_multiple(alice: Member) -> None:
    offer(alice, referrals=2, recurring=True)
    ana = advocate(alice, 5)
    assert len(earned_by(alice, ana)) == 2
    bring(alice, ana, 1)
    assert len(earned_by(alice, ana)) == 3


def test_falling_back_and_coming_again_unlocks_nothing_twice(alice: Member) -> None:
    offer(alice, referrals=2)
    ana = advocate(alice, 1)
    friend = alice.subscribe("friend@example.org", referrer_code=ana["ref_code"])
    assert len(earned_by(alice, ana)) == 1
    alice.delete(f"{alice.v1}/subscribers/{friend['uuid']}")
    assert alice.subscriber(ana["uuid"])["referrals_count"] == 1
    bring(alice, ana, 2)
    assert len(earned_by(alice, ana)) == 1


def test_only_what_counts_counts(alice: Member) -> None:
    offer(alice, referrals=1)
    ana = advocate(alice)
    alice.subscribe("thrown@mailinator.com", referrer_code=ana["ref_code"])
    alice.put(f"{alice.v1}/settings", {"hold_days": 3})
    ben = alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])
    assert earned_by(alice, ana) == []
    assert alice.post(f"{alice.v1}/subscribers/{ben['uuid']}/referral/verify").status_code == 200
    assert len(earned_by(alice, ana)) == 1


@pytest.mark.parametrize("recurring", [False, True])
def test_pending_referrals_unlock_nothing_until_they_are_verified(
    alice: Member, recurring: bool
) -> None:
    offer(alice, referrals=2, recurring=recurring)
    alice.put(f"{alice.v1}/settings", {"hold_days": 3})
    ana = advocate(alice, 3)
    waiting = alice.get(f"{alice.v1}/subscribers/{ana['uuid']}/referrals").json()["subscribers"]
    assert [friend["referral_status"] for friend in waiting] == ["pending"] * 3
    assert earned_by(alice, ana) == []
    # One verified referral makes the service look at the milestones: the two that are still pending
    # must not fill them up.
    alice.post(f"{alice.v1}/subscribers/{waiting[0]['uuid']}/referral/verify")
    assert earned_by(alice, ana) == []
    alice.put(f"{alice.v1}/settings", {"hold_days": 0})
    offer(alice, name="The later mug", referrals=2)
    catch_up(alice)
    assert earned_by(alice, ana) == [], "a reward added later counts verified referrals too"
    bring(alice, ana, 1)
    assert sorted(earned["name"] for earned in earned_by(alice, ana)) == [
        "The later mug",
        "The mug",
    ]


def test_a_new_reward_reaches_those_already_past_it(alice: Member) -> None:
    ana, ben = advocate(alice, 5), advocate(alice, 2, "ben@example.org")
    once, often = offer(alice, referrals=3), offer(alice, referrals=2, recurring=True)
    catch_up(alice)
    assert [earned["reward_uuid"] for earned in earned_by(alice, ana)].count(once["uuid"]) == 1
    assert [earned["reward_uuid"] for earned in earned_by(alice, ana)].count(often["uuid"]) == 2
    assert [earned["reward_uuid"] for earned in earned_by(alice, ben)] == [often["uuid"]]
    alice.put(f"{alice.v1}/rewards/{once['uuid']}", {"referrals": 2})
    catch_up(alice)
    catch_up(alice)
    assert sorted(earned["reward_uuid"] for earned in earned_by(alice, ben)) == sorted(
        [often["uuid"], once["uuid"]]
    )
    assert len(earned_by(alice, ana)) == 3


def test_the_walk_to_those_already_past_it_takes_as_many_steps_as_it_needs(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    everyone = [advocate(alice, 2, f"star{n}@example.org") for n in range(7)]
    monkeypatch.setattr(backfill, "ADVOCATES_BATCH", 3)
    monkeypatch.setattr(backfill, "REWARDS_BATCH", 2)
    monkeypatch.setattr(earned_rewards, "MOST_AT_ONCE", 1)
    offer(alice, referrals=1, recurring=True)
    catch_up(alice)
    assert [len(earned_by(alice, who)) for who in everyone] == [2] * 7


def test_deleting_a_reward_keeps_what_was_won(alice: Member) -> None:
    reward = offer(alice, kind="coupon", coupon_code="THANKS")
    ana = advocate(alice, 1)
    alice.delete(f"{alice.v1}/rewards/{reward['uuid']}")
    (earned,) = earned_by(alice, ana)
    assert (earned["name"], earned["coupon_code"]) == ("The mug", "THANKS")
    assert len(earned_by(alice, advocate(alice, 2, "ben@example.org"))) == 0
    assert (
        alice.post(f"{alice.v1}/rewards/{earned['uuid']}/redeem").json()["reward"]["status"]
        == "redeemed"
    )


# -- deciding


def test_a_reward_that_needs_approval_waits_for_it(alice: Member) -> None:
    offer(alice, kind="coupon", coupon_codes=["A"], approval="manual")
    ana = advocate(alice, 1)
    (earned,) = earned_by(alice, ana)
    assert (earned["status"], earned["coupon_code"], earned["unlocked_at"]) == (
        "awaiting_approval",
        None,
        None,
    )
    assert post_of(alice, "reward_unlocked") == []
    path = f"{alice.v1}/subscribers/{ana['uuid']}/rewards/{earned['uuid']}"
    refused = alice.post(f"{path}/redeem")
    assert (refused.status_code, refused.json()["code"]) == (400, "awaiting_approval")
    for _ in range(2):
        approved = alice.post(f"{path}/approve").json()["reward"]
        assert (approved["status"], approved["coupon_code"]) == ("unlocked", "A")
    assert len(post_of(alice, "reward_unlocked")) == 1


def test_redeeming_twice_is_redeeming_once_and_an_empty_shelf_cannot_be_redeemed(
    alice: Member,
) -> None:
    offer(alice, kind="coupon", coupon_codes=["A"])
    ana, ben = advocate(alice, 1), advocate(alice, 1, "ben@example.org")
    first = alice.post(f"{alice.v1}/rewards/{earned_by(alice, ana)[0]['uuid']}/redeem").json()[
        "reward"
    ]
    assert first["status"] == "redeemed" and first["redeemed_at"] is not None
    alice.service.set_clock(3600)
    assert alice.post(f"{alice.v1}/rewards/{first['uuid']}/redeem").json()["reward"] == first
    refused = alice.post(f"{alice.v1}/rewards/{earned_by(alice, ben)[0]['uuid']}/redeem")
    assert (refused.status_code, refused.json()["code"]) == (400, "out_of_stock")


def test_a_won_reward_is_found_under_its_own_advocate_only(alice: Member) -> None:
    offer(alice)
    ana, ben = advocate(alice, 1), advocate(alice, 1, "ben@example.org")
    of_ana = earned_by(alice, ana)[0]["uuid"]
    assert (
        alice.post(f"{alice.v1}/subscribers/{ben['uuid']}/rewards/{of_ana}/redeem").status_code
        == 404
    )
    assert (
        alice.post(f"{alice.v1}/subscribers/ana@example.org/rewards/{of_ana}/redeem").status_code
        == 200
    )
    assert alice.post(f"{alice.v1}/rewards/{new_id()}/approve").status_code == 404


def test_a_reader_claims_a_physical_reward_with_an_address(alice: Member) -> None:
    offer(alice, kind="physical")
    ana = advocate(alice, 1)
    earned_id = earned_by(alice, ana)[0]["uuid"]
    site, now_ms = alice.service.services.site, alice.service.now_ms()
    address = shipments.PostalAddress("Ana Lopes", "1 Hive Lane", "Porto", "4000", "PT")

    async def claim(
        tx: Tx, shipping: shipments.PostalAddress | None
    ) -> earned_rewards.EarnedReward:
        owner = tenant_of(alice)
        reader = await subscribers.get(reading(tx, owner), ana["uuid"])
        change = Change(tx, site, owner, actors.subscriber(reader.id), now_ms)
        return await earned_rewards.claim(change, reader, earned_id, shipping=shipping)

    for wrong in (None, shipments.PostalAddress("Ana", " ", "Porto", "4000", "PT")):
        with pytest.raises(Exception, match=r"shipping address is required|line1"):
            alice.service.write(lambda tx, wrong=wrong: claim(tx, wrong))  # type: ignore[misc]
    earned = alice.service.write(lambda tx: claim(tx, address))
    assert (earned.status, earned.redeemed_by) == ("redeemed", "reader")
    assert '"Porto"' in (earned.shipping or "")
    with pytest.raises(Exception, match="no such reward"):
        alice.service.write(lambda tx: claim_as_stranger(tx, alice, earned_id))


async def claim_as_stranger(tx: Tx, member: Member, earned_id: str) -> None:
    owner = tenant_of(member)
    (friend, *_), _ = await subscribers.page_of(reading(tx, owner), "referrals", Page())
    site, now_ms = member.service.services.site, member.service.now_ms()
    change = Change(tx, site, owner, actors.subscriber(friend.id), now_ms)
    await earned_rewards.claim(change, friend, earned_id)
