"""All that is held on a person is theirs to see, and gone when they are erased; what they earned
and where it stands remains.
"""

from typing import Any

from honeyguide.store.tx import Tx
from honeyguide.subscribers import clicks
from tests.support.service import Member
from tests.support.tables import dump, mentions

ADDRESS = {
    "name": "Zelda Quixote",
    "line1": "77 Unmistakable Row",
    "city": "Port Nowhere",
    "postcode": "ZQ7",
    "country": "XX",
}


def furnished(member: Member) -> dict[str, Any]:
    """Somebody with one of everything."""
    member.post(
        "/v2/webhooks",
        {
            "url": "http://127.0.0.1:9/hook",
            "new_referral": True,
            "reward_unlocked": True,
            "reward_redeemed": True,
        },
    )
    member.post(f"{member.v1}/rewards", {"name": "Mug", "referrals": 1, "kind": "physical"})
    member.post(
        f"{member.v1}/rewards",
        {"name": "Code", "referrals": 1, "kind": "coupon", "coupon_codes": []},
    )
    friend = member.subscribe("friend@example.org", name="Fritz Other")
    zelda = member.subscribe(
        "zelda.quixote@example.org",
        name="Zelda Quixote",
        referrer_code=friend["ref_code"],
        ip_address="198.51.100.201",
        user_agent="Unmistakable/1.0",
        utm_source="zq-source",
    )
    member.subscribe("third@example.org", name="Theo Third", referrer_code=zelda["ref_code"])
    earned = {
        each["name"]: each
        for each in member.get(f"{member.v1}/subscribers/{zelda['uuid']}/rewards").json()["rewards"]
    }
    redeemed = member.post(
        f"{member.v1}/rewards/{earned['Mug']['uuid']}/redeem", {"shipping_details": ADDRESS}
    )
    assert redeemed.status_code == 200, redeemed.text
    assert earned["Code"]["status"] == "out_of_stock"
    services, now_ms = member.service.services, member.service.now_ms()

    async def visit(tx: Tx) -> int:
        seen = clicks.click(
            services.site,
            account_id=member.account_id,
            target_id=member.campaign_id,
            code=zelda["ref_code"],
            address="203.0.113.1",
            user_agent="Firefox",
            now_ms=now_ms,
        )
        return await clicks.count_clicks(tx, [seen])

    assert member.service.write(visit) == 1
    return zelda


def test_an_export_has_all_that_is_held_on_a_person_and_nothing_of_others(alice: Member) -> None:
    zelda = furnished(alice)
    answer = alice.get(f"{alice.v1}/subscribers/{zelda['uuid']}/export")
    assert answer.status_code == 200, answer.text
    body = answer.json()["export"]
    assert body["subscriber"]["email"] == "zelda.quixote@example.org"
    assert body["subscriber"]["referrals"] == {"verified": 1, "pending": 0, "rejected": 0}
    assert (body["subscriber"]["ip_address"], body["subscriber"]["utm_source"]) == (
        "198.51.100.201",
        "zq-source",
    )
    assert (
        body["referral"]["status"] == "verified"
        and body["referral"]["referrer_code"] == zelda["referrer_code"]
    )
    assert {(each["name"], each["status"]) for each in body["rewards"]} == {
        ("Mug", "redeemed"),
        ("Code", "out_of_stock"),
    }
    assert (
        next(each for each in body["rewards"] if each["name"] == "Mug")["shipping_details"]["city"]
        == "Port Nowhere"
    )
    assert {each["type"] for each in body["events"]} == {
        "new_referral",
        "reward_unlocked",
        "reward_redeemed",
    }
    assert all(each["deliveries"] == 1 for each in body["events"])
    assert [each["kind"] for each in body["letters"]] == ["reward_unlocked"]
    assert body["link_clicks"] == 1
    for other in ("friend@example.org", "Fritz", "third@example.org", "Theo"):
        assert other not in answer.text, other
    assert alice.get(f"{alice.v1}/subscribers/nobody@example.org/export").status_code == 404


def test_an_erased_person_leaves_states_behind_and_no_word_of_theirs(alice: Member) -> None:
    zelda = furnished(alice)
    assert alice.delete(f"{alice.v1}/subscribers/{zelda['uuid']}").status_code == 200
    everything = dump(alice.service)
    own_id = alice.account_id
    tables = {
        name: [row for row in rows if row.get("account_id", own_id) == own_id]
        for name, rows in everything.items()
    }
    for word in ("zelda", "quixote", "unmistakable", "port nowhere", "198.51.100.201", "zq-source"):
        assert mentions(tables, word) == [], word
    earned = [row for row in tables["won_reward"] if row["subscriber_id"] == zelda["uuid"]]
    assert sorted(row["status"] for row in earned) == ["out_of_stock", "redeemed"]
    assert all(row["shipping"] is None for row in earned)
    assert [
        row
        for name in ("click", "click_day")
        for row in tables[name]
        if row["code"] == zelda["ref_code"]
    ] == []
    assert [row["n"] for row in tables["click_day"] if row["target_id"] == alice.campaign_id] == [
        1
    ], "the total stays"


def test_whoever_is_erased_while_waiting_for_a_code_leaves_it_to_the_next(alice: Member) -> None:
    zelda = furnished(alice)
    third = alice.get(f"{alice.v1}/subscribers/third@example.org").json()["subscriber"]
    alice.subscribe("fourth@example.org", referrer_code=third["ref_code"])
    alice.delete(f"{alice.v1}/subscribers/{zelda['uuid']}")
    pool = next(
        each
        for each in alice.get(f"{alice.v1}/rewards").json()["rewards"]
        if each["name"] == "Code"
    )
    alice.put(f"{alice.v1}/rewards/{pool['uuid']}", {"coupon_codes": ["A", "B", "C"]})
    late = alice.subscribe("late@example.org")
    alice.subscribe("fifth@example.org", referrer_code=late["ref_code"])
    earned = {
        who: {
            each["name"]: each["coupon_code"]
            for each in alice.get(f"{alice.v1}/subscribers/{who}/rewards").json()["rewards"]
        }
        for who in ("friend@example.org", "third@example.org", "late@example.org")
    }
    assert {earned["friend@example.org"]["Code"], earned["third@example.org"]["Code"]} == {"A", "B"}
    assert earned["late@example.org"]["Code"] == "C", (
        "nobody waits any more, so a newcomer is served at once"
    )
