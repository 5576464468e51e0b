"""Many referrals decided at once, by API and on the dashboard: each has its own line, gets what it
would get alone, and is decided once however many decide it together.
"""

import asyncio
import random
from collections import Counter
from functools import partial
from typing import Any

import pytest

from honeyguide.kernel.ids import new_id
from honeyguide.signups import group_decisions, signups
from honeyguide.signups.group_decisions import GroupDecision
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.change import Change
from honeyguide.subscribers import campaigns
from honeyguide.subscribers.campaigns import CampaignSettings
from tests.partners.test_charges_parallel import BUDGET, FEE, begin, check_the_budget, orders_for
from tests.support import partner_network
from tests.support.changes import changing
from tests.support.confirmers import Process
from tests.support.delayed import pass_minute
from tests.support.loop_steps import LoopSteps
from tests.support.prizes import earned_by, offer
from tests.support.service import Member, Service
from tests.support.stores import OpenStore
from tests.support.tables import dump
from tests.support.trade import NOON_MS, SITE, verify
from tests.support.web import Operator, text_of

UNKNOWN = ("not_found", "There is no such subscriber.")
UNREFERRED = ("not_referred", "Nobody referred this subscriber")
FINAL = ("illegal_move", "This referral is already verified")
REPEATED = ("repeated", group_decisions.REPEATED)


def pending(member: Member, count: int, **lead: Any) -> list[dict[str, Any]]:
    """Referrals of one new subscriber that wait for a decision."""
    member.put(f"{member.v1}/settings", {"hold_days": 9})
    code = member.subscribe(f"lead-{new_id()}@example.org", **lead)["ref_code"]
    emails = [f"r{number}-{new_id()[-6:]}@example.org" for number in range(count)]
    return [member.subscribe(email, referrer_code=code) for email in emails]


def decide(member: Member, status: str, given: list[str], **more: Any) -> Any:
    headers = {"Idempotency-Key": more.pop("key")} if "key" in more else {}
    body = {"status": status, "subscribers": given, **more}
    return member.post(f"{member.v1}/referral_decisions", body, headers=headers)


def statuses(member: Member, people: list[dict[str, Any]]) -> list[str]:
    return [member.subscriber(each["uuid"])["referral_status"] for each in people]


def test_each_line_has_its_answer_in_the_given_order(alice: Member, bob: Member) -> None:
    first, second, done, lost = pending(alice, 4)
    (theirs,) = pending(bob, 1)
    alone = alice.subscribe("alone@example.org")
    path = f"{alice.v1}/subscribers"
    assert alice.post(f"{path}/{done['uuid']}/referral/verify").status_code == 200
    assert alice.post(f"{path}/{lost['uuid']}/referral/reject").status_code == 200
    outcomes = [
        (first["email"].upper(), "rejected"),
        (done["uuid"], FINAL),
        (first["uuid"], REPEATED),
        (alone["uuid"], UNREFERRED),
        (second["uuid"].upper(), "rejected"),
        (lost["uuid"], "rejected"),
        (new_id(), UNKNOWN),
        ("nobody@example.org", UNKNOWN),
        ("not an address@", UNKNOWN),
        ("", UNKNOWN),
        (theirs["uuid"], UNKNOWN),
        (theirs["email"], UNKNOWN),
    ]
    answer = decide(alice, "rejected", [given for given, _ in outcomes])
    assert answer.status_code == 200
    for line, (given, expected) in zip(answer.json()["decisions"], outcomes, strict=True):
        assert set(line) == {"subscriber", "ok", "status", "code", "error"}
        assert line["subscriber"] == given
        if isinstance(expected, str):
            assert line == {**line, "ok": True, "status": expected, "code": None, "error": None}
        else:
            assert line == {**line, "ok": False, "status": None, "code": expected[0]}
            assert line["error"].startswith(expected[1])
    after = statuses(alice, [first, second, done, lost])
    assert after == ["rejected", "rejected", "verified", "rejected"]
    assert statuses(bob, [theirs]) == ["pending"]


def test_a_long_list_is_decided_to_its_end_and_repeats_are_seen_across_parts(alice: Member) -> None:
    people = pending(alice, group_decisions.PART + 3)
    ids = [each["uuid"] for each in people]
    lines = decide(alice, "verified", [*ids, people[0]["email"]]).json()["decisions"]
    assert [line["ok"] for line in lines] == [True] * len(ids) + [False]
    assert lines[-1]["code"] == "repeated"
    assert statuses(alice, people) == ["verified"] * len(ids)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "status"),
        ({"status": "verified"}, "subscribers"),
        ({"status": "verified", "subscribers": []}, "subscribers"),
        ({"status": "verified", "subscribers": ["x"] * 501}, "subscribers"),
        ({"status": "verified", "subscribers": [1]}, "subscribers"),
        ({"status": "verified", "subscribers": ["x", "a\0"]}, "subscribers"),
        ({"status": "verified", "subscribers": ["x", "x" * 256]}, "subscribers"),
        ({"status": "pending", "subscribers": ["x"]}, "status"),
        ({"status": "verified", "subscribers": ["x"], "reason": "x" * 2_001}, "reason"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_and_decides_nothing(
    alice: Member, body: dict[str, Any], param: str
) -> None:
    answer = alice.post(f"{alice.v1}/referral_decisions", body)
    assert (answer.status_code, answer.json()["param"]) == (400, param)


def test_five_hundred_lines_are_taken(alice: Member) -> None:
    answer = decide(alice, "verified", [new_id() for _ in range(group_decisions.MOST)])
    assert [line["code"] for line in answer.json()["decisions"]] == ["not_found"] * 500


def test_every_consequence_follows_as_if_decided_alone(alice: Member) -> None:
    offer(alice, name="Mug", referrals=2)
    people = pending(alice, 3, name="Lena Lead")
    hook = alice.post("/v2/webhooks", {"url": "http://127.0.0.1:9/hook"}).json()["webhook"]
    alice.put(f"/v2/webhooks/{hook['uuid']}/more_events", {"referral_verified": True})
    decide(alice, "verified", [each["uuid"] for each in people], reason=" Met them. ")
    lead = alice.subscriber(people[0]["referrer_code"] and _lead(alice, people[0]))
    assert lead["referrals_count"] == 3
    assert [each["name"] for each in earned_by(alice, lead)] == ["Mug"]
    tables = dump(alice.service)
    ids = {each["uuid"] for each in people}
    decisions = [row for row in tables["referral_decision"] if row["subscriber_id"] in ids]
    assert [(row["status"], row["note"], row["actor_kind"]) for row in decisions] == [
        ("verified", "Met them.", "api_key")
    ] * 3
    logged = [row for row in tables["change_log"] if row["subject_id"] in ids]
    assert [row["action"] for row in logged] == ["referral.decided"] * 3
    assert "Met them" not in str(logged)
    rows = [row for row in tables["event"] if row["subscriber_id"] in ids]
    totals = sorted(row["body"].count('"tot_referrals":3') for row in rows)
    assert [row["type"] for row in rows] == ["referral_verified"] * 3
    assert totals == [0, 0, 1], "each event has the referrer's count as it was then"


def _lead(member: Member, referred: dict[str, Any]) -> str:
    explained = member.get(f"{member.v1}/subscribers/{referred['uuid']}/referral").json()
    return str(explained["referral"]["referrer_uuid"])


def test_a_key_sent_again_decides_nothing_more(alice: Member) -> None:
    (first,) = pending(alice, 1)
    late = f"late-{new_id()[-6:]}@example.org"
    given = [first["uuid"], late]
    answer = decide(alice, "verified", given, key="k1")
    code = alice.subscriber(_lead(alice, first))["ref_code"]
    there_now = alice.subscribe(late, referrer_code=code)
    again = decide(alice, "verified", given, key="k1")
    assert again.json() == answer.json() and again.headers["idempotent-replayed"] == "true"
    assert statuses(alice, [there_now]) == ["pending"]
    assert decide(alice, "rejected", given, key="k1").status_code == 422
    assert statuses(alice, [there_now]) == ["pending"]
    assert decide(alice, "rejected", given, key="k2").json()["decisions"][1]["ok"]


def test_an_erasure_reaches_the_answer_that_is_kept(alice: Member) -> None:
    first, second = pending(alice, 2)
    decide(alice, "verified", [first["email"], second["email"]], key="k1", reason="Saw both.")
    alice.delete(f"{alice.v1}/subscribers/{second['uuid']}")
    tables = dump(alice.service)
    assert second["email"] not in str(tables["idempotency"])
    notes = {row["subscriber_id"]: row["note"] for row in tables["referral_decision"]}
    assert (notes[first["uuid"]], notes[second["uuid"]]) == ("Saw both.", None)


# -- on the dashboard


def test_the_review_page_decides_the_selection_and_says_what_was_refused(
    service: Service, alice: Operator
) -> None:
    first, second, third = pending(alice, 3)
    decide(alice, "verified", [second["uuid"]])
    page = alice.web.get("/review?show=pending").text
    assert page.count('type="checkbox" name="id"') == 2 and 'name="decision_reason"' in page
    ids = [first["uuid"], second["uuid"], third["uuid"], new_id()]
    answer = alice.web.post("/review", id=ids, do="reject", decision_reason="All from one office")
    assert answer.status_code == 303
    text = text_of(alice.web.get("/review").text)
    assert "2 referrals will be rejected in a minute." in text
    assert "1 refused: This referral is already verified and can no longer be rejected." in text
    assert "1 refused: There is no such subscriber." in text
    pass_minute(service)
    assert statuses(alice, [first, second, third]) == ["rejected", "verified", "rejected"]
    assert "“All from one office”" in text_of(alice.web.get(f"/subscribers/{first['uuid']}").text)


def test_one_is_decided_with_a_reason_and_one_too_long_is_refused_at_its_field(
    service: Service,
    alice: Operator,
) -> None:
    first, second = pending(alice, 2)
    page = f"/subscribers/{first['uuid']}"
    alice.web.post(page, page=page, do="reject", decision_reason="Bought address")
    pass_minute(service)
    assert "“Bought address”" in text_of(alice.web.get(page).text)
    for path in (f"/subscribers/{second['uuid']}", "/review?show=pending"):
        answer = alice.web.post(path, id=second["uuid"], do="reject", decision_reason="x" * 2_001)
        assert answer.status_code == 400 and 'aria-invalid="true"' in answer.text
    assert statuses(alice, [first, second]) == ["rejected", "pending"]


# -- money, in parallel processes


def test_processes_that_decide_overlapping_groups_charge_each_once(opened: OpenStore) -> None:
    trade = begin(opened)
    readers = [opened.run(trade.arrive((0, 0, 0, 1, 2, 3)[n % 6])).id for n in range(180)]
    crowd = [
        Process(orders_for(opened, trade, number, 0, confirm=readers, group=group))
        for number, group in enumerate((group_decisions.PART, group_decisions.PART, 1))
    ]
    for process in crowd:
        process.wait_until_ready()
    for process in crowd:
        process.go()
    for process in crowd:
        process.wait()
    check_the_budget(opened, trade, len(readers))
    decided = opened.ask("SELECT subscriber_id FROM referral_decision ORDER BY subscriber_id")
    assert [each for (each,) in decided] == sorted(readers), "one decision for each"
    charged = opened.ask("SELECT COUNT(*), COUNT(DISTINCT partner_referral_id) FROM charge")
    assert charged == [(BUDGET // FEE, BUDGET // FEE)]
    opened.run(verify(opened.store))


def test_groups_in_any_order_never_block_each_other(opened: OpenStore) -> None:
    """Groups with the same referrers, partners and subscribers, beside single decisions. Without
    one order of locks, PostgreSQL ends some of them as deadlocks, and they run again."""
    trade = begin(opened)
    make = partial(changing, site=SITE, tenant=trade.owner, now_ms=NOON_MS)

    def write(unit: Any, *args: Any) -> Any:
        return opened.run(opened.store.write(make(unit), *args))

    write(campaigns.configure, CampaignSettings(hold_days=5))
    leads = [
        write(signups.sign_up, NewSubscriber(email=f"l{n}@example.org")).ref_code for n in range(6)
    ]
    ids = [opened.run(trade.arrive(n % 4)).id for n in range(40)]
    for n in range(60):
        new = NewSubscriber(email=f"r{n}@example.org", referrer_code=leads[n % 6])
        ids.append(write(signups.sign_up, new).id)

    runs = Counter[int]()

    async def decide_part(change: Change, seed: int, part: GroupDecision) -> None:
        runs[seed] += 1
        if seed % 2:
            await group_decisions.decide_many(change, part)
        else:
            await signups.decide(change, part.subscribers[0], part.status)

    async def decide_all(seed: int) -> None:
        shuffled = random.Random(seed).sample(ids, len(ids))
        size = group_decisions.PART if seed % 2 else 1
        for start in range(0, len(shuffled), size):
            part = GroupDecision("verified", shuffled[start : start + size])
            await opened.store.write(make(decide_part), seed, part)

    async def race() -> None:
        await asyncio.gather(*(decide_all(seed) for seed in range(6)))

    opened.run(race())
    once = {seed: len(ids) // (group_decisions.PART if seed % 2 else 1) for seed in range(6)}
    assert runs == once
    decided = opened.ask("SELECT subscriber_id FROM referral_decision")
    assert sorted(each for (each,) in decided) == sorted(ids)
    opened.run(verify(opened.store))


def test_a_long_list_keeps_nobody_waiting(alice: Member, bob: Member) -> None:
    """On SQLite the loop runs nothing else while a part is decided, so a part must be short."""
    program = partner_network.offer(
        alice, referral_pending_duration_enabled=True, total_budget=10_000
    )
    code = partner_network.join(bob, program)["ref_code"]
    offer(alice, name="Sticker", referrals=1, recurring=True)
    alice.post("/v2/webhooks", {"url": "http://127.0.0.1:9/hook", "new_partner_referral": True})

    def decide_eighty() -> None:
        people = pending(alice, 40)
        people += [
            alice.subscribe(f"p{n}-{new_id()[-6:]}@example.org", referrer_code=code)
            for n in range(40)
        ]
        assert statuses(alice, people) == ["pending"] * 80
        lines = decide(alice, "verified", [each["uuid"] for each in people]).json()["decisions"]
        assert all(line["ok"] for line in lines)

    with LoopSteps(alice.service) as steps:
        steps.judge("decisions", decide_eighty)
    assert not steps.slow, steps.report()
