"""Who learns of a reward: receivers of webhooks, the subscriber, and callers of the v2 lists."""

import time
from typing import Any

from standardwebhooks.webhooks import Webhook as Verifier

from honeyguide.store.tx import Tx
from honeyguide.subscribers import hub
from tests.support.dispatcher import ReceiverThread
from tests.support.prizes import ADDRESS, advocate, bring, earned_by, offer, post_of
from tests.support.service import Member


def test_webhooks_are_told_of_unlocking_and_redeeming_signed_and_once(alice: Member) -> None:
    reward = offer(alice, kind="coupon", coupon_code="THANKS", referrals=1)
    far = offer(alice, name="A hive", referrals=5)
    with ReceiverThread() as receiver:
        flags = {"new_referral": True, "reward_unlocked": True, "reward_redeemed": True}
        hook = alice.post("/v2/webhooks", {"url": receiver.url, **flags}).json()["webhook"]
        secret = alice.get(f"/v2/webhooks/{hook['uuid']}/secret").json()["secret"]
        ana = advocate(alice, 1)
        earned = earned_by(alice, ana)[0]
        for _ in range(2):
            answer = alice.post(
                f"{alice.v1}/rewards/{earned['uuid']}/redeem", {"shipping_details": ADDRESS}
            )
            assert answer.status_code == 200, answer.text
        until = time.monotonic() + 20
        while len(receiver.requests) < 3 and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.3)
        found = {
            body["type"]: body
            for body in (Verifier(secret).verify(r.body, r.headers) for r in receiver.requests)
        }
        assert len(receiver.requests) == 3
    details = {"id": far["uuid"], "name": "A hive", "referrals": 5, "referrals_left": 4}
    referrer, newcomer = found["new_referral"]["referrer"], found["new_referral"]["subscriber"]
    assert (referrer["next_reward"], referrer["next_reward_details"]) == (4, details)
    assert (newcomer["next_reward"], newcomer["next_reward_details"]["id"]) == (1, reward["uuid"])
    shown = {"id": reward["uuid"], "name": "The mug", "referrals": 1, "recurring": False}
    for kind in ("reward_unlocked", "reward_redeemed"):
        body = found[kind]
        assert (body["reward"], body["coupon_code"], body["campaign_id"]) == (
            shown,
            "THANKS",
            alice.campaign_id,
        )
        assert (body["subscriber"]["id"], body["subscriber"]["tot_referrals"]) == (ana["uuid"], 1)
        assert (body["subscriber"]["next_reward"], body["subscriber"]["next_reward_details"]) == (
            4,
            details,
        )
    assert found["reward_redeemed"]["shipping_details"] == {
        **ADDRESS,
        "line2": None,
        "region": None,
        "phone": None,
    }
    assert "shipping_details" not in found["reward_unlocked"]


def test_the_reader_gets_one_letter_with_the_code_and_the_way_to_their_page(alice: Member) -> None:
    offer(alice, kind="coupon", coupon_code="THANKS-7", description="Use it at the till.")
    ana = advocate(alice, 1)
    (email,) = post_of(alice, "reward_unlocked")
    assert (email.to_email, email.about_id, email.subject) == (
        "ana@example.org",
        ana["uuid"],
        "You’ve earned “The mug”",
    )
    site = alice.service.services.site
    token = hub.token(site, ana["uuid"], ana["ref_code"])

    async def find_both(tx: Tx) -> Any:
        wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
        now_ms = alice.service.now_ms()
        return [await hub.find(tx.at(now_ms), site, each) for each in (token, wrong)]

    found, wrong = alice.service.read(find_both)
    assert found is not None and found[1].id == ana["uuid"] and wrong is None


def test_who_left_wins_but_gets_no_mail(alice: Member) -> None:
    offer(alice)
    ana = advocate(alice)
    alice.put(f"{alice.v1}/subscribers/{ana['uuid']}", {"status": "unsubscribed"})
    bring(alice, ana, 1)
    assert earned_by(alice, ana)[0]["status"] == "unlocked"
    assert post_of(alice, "reward_unlocked") == []


def test_v2_shows_what_each_of_a_page_won(alice: Member) -> None:
    offer(alice, kind="coupon", coupon_code="X")
    ana = advocate(alice, 1)
    listed = alice.get(f"{alice.v2}/subscribers", params={"expand": "campaigns"}).json()[
        "subscribers"
    ]
    shown = {each["email"]: each["referral_programs"][0]["rewards"] for each in listed}
    assert shown.pop("ana@example.org") == earned_by(alice, ana)
    assert all(each == [] for each in shown.values()) and len(shown) == 1
    one = alice.get(f"/v2/subscribers/{ana['uuid']}", params={"expand": "campaigns"}).json()[
        "subscriber"
    ]
    assert one["referral_programs"][0]["rewards"][0]["coupon_code"] == "X"
