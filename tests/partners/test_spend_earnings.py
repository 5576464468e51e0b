"""What a program spends and what a partner earns, as the API tells it: pending, confirmed and
uncharged kept apart.
"""

from typing import Any

from honeyguide.kernel.ids import new_id
from honeyguide.partners import forecast, outlook
from honeyguide.store import Store
from tests.partners.test_outlook import of_partner as outlook_of_partner
from tests.support.partner_network import join, offer
from tests.support.service import Member
from tests.support.trade import DAY_MS, NOON_MS, Trade, verify

EDGE_MS = 1_796_083_200_000  # 2026-12-01T00:00:00Z


def spend(owner: Member, program: dict[str, Any], **query: str) -> dict[str, Any]:
    answer = owner.get(f"/v2/partner_programs/{program['uuid']}/spend", params=query)
    assert answer.status_code == 200, answer.text
    assert set(answer.json()) == {"spend"}
    return answer.json()["spend"]  # type: ignore[no-any-return]


def earnings(partner: Member, **query: str) -> dict[str, Any]:
    answer = partner.get("/v2/partner_profile/earnings", params=query)
    assert answer.status_code == 200, answer.text
    assert set(answer.json()) == {"earnings"}
    return answer.json()["earnings"]  # type: ignore[no-any-return]


def arrives(owner: Member, code: str) -> str:
    return owner.subscribe(f"r{new_id()}@example.org", referrer_code=code)["uuid"]  # type: ignore[no-any-return]


def month_of(each: outlook.MonthOutlook) -> tuple[str, int, int, int]:
    return each.month, each.spent_cents, each.fees.expected_cents, each.fees.over_cents


def prove(member: Member) -> None:
    member.service.run(verify(member.service.services.store))


def test_a_month_from_both_sides(alice: Member, bob: Member) -> None:
    program = offer(
        alice, cpa=2.5, total_budget=10, max_payout=7.5, referral_pending_duration_enabled=True
    )
    place = join(bob, program)
    readers = [arrives(alice, place["ref_code"]) for _ in range(6)]
    month = alice.service.services.clock and spend(alice, program)["month"]
    assert spend(alice, program) == {
        "month": month,
        "total_budget": 10,
        "spent": 0,
        "pending": 15,
        "left": 10,
        "reached": False,
        "uncharged_referrals": 0,
        "partners": [
            {"partner_campaign_uuid": place["uuid"], "name": "Bob", "spent": 0, "pending": 15}
        ],
    }
    for reader in readers[:4]:
        assert alice.post(f"{alice.v1}/subscribers/{reader}/referral/verify", {}).status_code == 200
    assert (
        alice.put(f"{alice.v1}/subscribers/{readers[4]}", {"status": "unsubscribed"}).status_code
        == 200
    )
    assert spend(alice, program) == {
        "month": month,
        "total_budget": 10,
        "spent": 7.5,
        "pending": 2.5,
        "left": 2.5,
        "reached": False,
        "uncharged_referrals": 1,
        "partners": [
            {"partner_campaign_uuid": place["uuid"], "name": "Bob", "spent": 7.5, "pending": 2.5}
        ],
    }
    money = {"confirmed": 7.5, "pending": 2.5, "at_most": 7.5}
    assert earnings(bob) == {
        "month": month,
        **money,
        "rejected_referrals": 1,
        "uncharged_referrals": 1,
        "programs": [
            {
                "partner_program_uuid": program["uuid"],
                "name": program["name"],
                **money,
                "remaining_payout": 0,
            },
        ],
    }
    assert (
        bob.get(f"/v2/partner_profile/partner_campaigns/{place['uuid']}").json()[
            "partner_campaign"
        ]["remaining_payout"]
        == 0
    )
    prove(alice)


def test_another_month_is_empty_and_a_wrong_one_is_refused(alice: Member, bob: Member) -> None:
    program = offer(alice)
    place = join(bob, program)
    arrives(alice, place["ref_code"])
    past = spend(alice, program, month="2020-01")
    assert (past["month"], past["spent"], past["pending"], past["reached"], past["left"]) == (
        "2020-01",
        0,
        0,
        False,
        300,
    )
    assert earnings(bob, month="2020-01")["confirmed"] == 0
    assert earnings(bob)["confirmed"] == 3
    for wrong in ("2026", "2026-13", "november", "2026-1"):
        answers = [
            alice.get(f"/v2/partner_programs/{program['uuid']}/spend", params={"month": wrong}),
            bob.get("/v2/partner_profile/earnings", params={"month": wrong}),
        ]
        assert [(answer.status_code, answer.json()["param"]) for answer in answers] == [
            (400, "month")
        ] * 2


def test_ones_own_program_earns_nothing_and_waits_for_nothing(alice: Member) -> None:
    program = offer(alice, referral_pending_duration_enabled=True)
    place = join(alice, program)
    reader = arrives(alice, place["ref_code"])
    assert (spend(alice, program)["pending"], earnings(alice)["pending"]) == (0, 0)
    alice.post(f"{alice.v1}/subscribers/{reader}/referral/verify", {})
    assert (spend(alice, program)["spent"], spend(alice, program)["uncharged_referrals"]) == (0, 1)
    assert earnings(alice)["confirmed"] == 0 and earnings(alice)["uncharged_referrals"] == 1
    prove(alice)


def test_strangers_learn_nothing(alice: Member, bob: Member, mallory: Member) -> None:
    program = offer(alice)
    place = join(bob, program)
    arrives(alice, place["ref_code"])
    for stranger in (bob, mallory):
        answers = [
            stranger.get(f"/v2/partner_programs/{id}/spend")
            for id in (program["uuid"], new_id(), "x")
        ]
        assert [answer.status_code for answer in answers] == [404] * 3
        assert len({answer.json()["error"] for answer in answers}) == 1
    assert earnings(mallory) == {**earnings(mallory), "confirmed": 0, "pending": 0, "programs": []}
    assert (
        "total_budget"
        not in bob.get(f"/v2/partner_network/partner_programs/{program['uuid']}").text
    )


def test_a_lowered_cap_leaves_nothing_and_never_less(alice: Member, bob: Member) -> None:
    program = offer(alice, cpa=3, total_budget=9, max_payout=9)
    place = join(bob, program)
    for _ in range(2):
        arrives(alice, place["ref_code"])
    alice.put(f"/v2/partner_programs/{program['uuid']}", {"total_budget": 1, "max_payout": 1})
    now = spend(alice, program)
    assert (now["total_budget"], now["spent"], now["left"], now["reached"]) == (1, 6, 0, True)
    assert earnings(bob)["programs"][0]["remaining_payout"] == 0
    offered = bob.get(f"/v2/partner_network/partner_programs/{program['uuid']}").json()[
        "partner_program"
    ]
    assert offered["budget_left"] == "none"
    arrives(alice, place["ref_code"])
    assert (spend(alice, program)["spent"], spend(alice, program)["reached"]) == (6, True)
    prove(alice)


async def test_the_outlook_says_what_ripens_this_month_and_next_and_what_will_not_fit(
    store: Store,
) -> None:
    held = {"referral_pending_duration_enabled": True, "referral_pending_duration": 14}
    trade = await Trade.begin(
        store, partners=2, cpa=300, total_budget=1_000, max_payout=700, **held
    )
    for number in range(4):  # ripe on 29 November
        await trade.arrive(number % 2, now_ms=NOON_MS)
    for _ in range(3):  # ripe on 4 December
        await trade.arrive(0, now_ms=NOON_MS + 5 * DAY_MS)
    now_ms = NOON_MS + 6 * DAY_MS
    of_program = await trade.outlook(now_ms)
    assert [month_of(each) for each in of_program] == [
        ("2026-11", 0, 900, 300),  # the fourth fee of 300 does not fit in the last 100
        ("2026-12", 0, 600, 300),
    ]
    partner = trade.partners[0].account_id
    of_partner = await outlook_of_partner(store, partner, now_ms)
    assert [(each.month, each.limit[:4]) for each in of_partner] == [
        ("2026-11", (2, 600, 600, 0)),
        ("2026-12", (3, 900, 700, 200)),
    ]
    present = await store.snapshot(
        lambda tx: forecast.spend(tx.at(now_ms), trade.program, "2026-11")
    )
    later = await store.snapshot(lambda tx: forecast.spend(tx.at(now_ms), trade.program, "2026-12"))
    assert (present.pending_cents, later.pending_cents) == (2_100, 900), (
        "all that waits; and what falls due in December"
    )
    await trade.verify_due(EDGE_MS - 1)
    (after, _) = await trade.outlook(EDGE_MS - 1)
    assert (month_of(after), after.state.left_cents) == (("2026-11", 900, 0, 0), 0), (
        "reached: nothing is left to spend"
    )
