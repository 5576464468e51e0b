"""Requests that charge one program at the same moment: no fee too many and none twice."""

import asyncio
import random
from collections import Counter
from typing import Any

import httpx

from honeyguide.kernel.ids import new_id
from honeyguide.work import money
from tests.support.items import run_items
from tests.support.partner_network import join, offer
from tests.support.service import Member, Service
from tests.support.stores import statement
from tests.support.trade import verify


def at_once(member: Member, requests: list[tuple[str, str, Any]]) -> list[httpx.Response]:
    """All at the same moment; who is told that there is no room just now asks again, as a client
    would.
    """

    async def send() -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=100)
        headers = {"X-Api-Key": member.key}
        async with httpx.AsyncClient(
            base_url=member.service.url,
            headers=headers,
            timeout=60,
            limits=limits,
            verify=False,
        ) as http:

            async def ask(method: str, path: str, body: Any) -> httpx.Response:
                for _ in range(20):
                    answer = await http.request(method, path, json=body)
                    if answer.status_code != 500 or answer.json()["code"] == "internal_error":
                        break
                    await asyncio.sleep(random.uniform(0.1, 0.5))
                return answer

            return await asyncio.gather(*(ask(*request) for request in requests))

    return asyncio.run(send())


def pending(owner: Member, code: str, count: int) -> list[str]:
    fields = [{"email": f"r{new_id()}@example.org", "referrer_code": code} for _ in range(count)]
    made = at_once(owner, [("POST", f"{owner.v1}/subscribers", one) for one in fields])
    assert {answer.status_code for answer in made} == {201}
    return [answer.json()["subscriber"]["uuid"] for answer in made]


def referrals(owner: Member, program: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for page in (1, 2):
        answer = owner.get(
            f"/v2/partner_programs/{program['uuid']}/referrals",
            params={"per_page": 200, "page": page},
        )
        found += answer.json()["referrals"]
    return found


def prove(service: Service) -> None:
    service.run(verify(service.services.store))


def test_a_hundred_confirmations_with_room_for_thirty_three(alice: Member, bob: Member) -> None:
    program = offer(
        alice, cpa=3, total_budget=99, max_payout=500, referral_pending_duration_enabled=True
    )
    readers = pending(alice, join(bob, program)["ref_code"], 100)
    answers = at_once(
        alice,
        [("POST", f"{alice.v1}/subscribers/{reader}/referral/verify", {}) for reader in readers],
    )
    assert {answer.status_code for answer in answers} == {200}
    found = Counter(
        (row["status"], row["charged"], row["uncharged_reason"])
        for row in referrals(alice, program)
    )
    assert found == {("verified", 3, None): 33, ("verified", None, "budget_spent"): 67}
    spend = alice.get(f"/v2/partner_programs/{program['uuid']}/spend").json()["spend"]
    assert (spend["spent"], spend["left"], spend["reached"], spend["uncharged_referrals"]) == (
        99,
        0,
        True,
        67,
    )
    prove(alice.service)


def test_fifty_confirmations_of_one_referral_are_one_charge(alice: Member, bob: Member) -> None:
    program = offer(alice, referral_pending_duration_enabled=True)
    (reader,) = pending(alice, join(bob, program)["ref_code"], 1)
    at_once(alice, [("POST", f"{alice.v1}/subscribers/{reader}/referral/verify", {})] * 50)
    assert [row["charged"] for row in referrals(alice, program)] == [3]
    assert alice.get(f"/v2/partner_programs/{program['uuid']}/spend").json()["spend"]["spent"] == 3
    prove(alice.service)


def test_flapping_between_confirmed_and_unsubscribed_is_at_most_one_charge(
    alice: Member, bob: Member
) -> None:
    program = offer(alice, referral_pending_duration_enabled=True)
    for reader in pending(alice, join(bob, program)["ref_code"], 4):
        path = f"{alice.v1}/subscribers/{reader}"
        moves = [("PUT", path, {"status": status}) for status in ("confirmed", "unsubscribed")]
        answers = at_once(
            alice, [*moves * 10, *[("POST", f"{path}/referral/verify", {})] * 10, *moves * 5]
        )
        assert {answer.status_code for answer in answers} == {200}
        at_once(alice, [("POST", f"{path}/referral/verify", {})] * 5)
    assert [row["charged"] for row in referrals(alice, program)] == [3] * 4
    assert alice.get(f"/v2/partner_programs/{program['uuid']}/spend").json()["spend"]["spent"] == 12
    prove(alice.service)


def test_fifty_confirmations_that_reach_a_budget_tell_everybody_once(service: Service) -> None:
    alice, partners = service.member("alice"), [service.member("bob") for _ in range(3)]
    program = offer(
        alice, cpa=3, total_budget=90, max_payout=90, referral_pending_duration_enabled=True
    )
    codes = [join(partner, program)["ref_code"] for partner in partners]
    join(alice, program)
    readers = pending(alice, codes[0], 50)
    at_once(
        alice,
        [("POST", f"{alice.v1}/subscribers/{reader}/referral/verify", {}) for reader in readers],
    )

    async def tell_in_parallel() -> None:
        services, now_ms = service.services, service.now_ms()
        telling = money.budgets_to_notify(services.site)
        await asyncio.gather(*(run_items(services.store, telling, now_ms) for _ in range(8)))

    for _ in range(2):
        service.run(tell_in_parallel())

    def kinds_in(member: Member, table: str) -> list[str]:
        kinds = statement(f"SELECT kind FROM {table} WHERE account_id = :id ORDER BY kind")
        return [row[0] for row in service.read(lambda tx: tx.all(kinds, id=member.account_id))]

    for table in ("notice", "letter"):
        joined = ["partner_joined"] * 3
        assert kinds_in(alice, table) == ["budget_100", "budget_80", "no_confirmations", *joined]
        assert [kinds_in(partner, table) for partner in partners] == [["budget_reached"]] * 3
    prove(service)
