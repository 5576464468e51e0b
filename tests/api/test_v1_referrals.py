"""Who referred whom, as v1 shows it: attribution, counts, screening's certainties, and what a
status does to a held referral.
"""

import threading
from typing import Any

import pytest

from honeyguide.store.statements import Statement
from honeyguide.store.tx import Tx
from tests.support.service import Member
from tests.support.tables import dump

DAY_S = 86_400


def hold(member: Member, *, days: int = 0, confirmation: bool = False) -> None:
    """What the operator will choose on the dashboard."""
    sql = "UPDATE campaign SET hold_days = :days, needs_confirmation = :confirmation WHERE id = :id"
    statement: Statement[Any] = Statement("test.hold", sql, sql, lambda: None)

    async def work(tx: Tx) -> None:
        await tx.run(statement, days=days, confirmation=int(confirmation), id=member.campaign_id)

    member.service.write(work)


def test_a_code_makes_its_owner_the_referrer_at_once(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    ben = alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])
    assert ben["referrer_code"] == ana["ref_code"]
    read = alice.subscriber(ben["uuid"])
    assert (read["referred"], read["referral_status"], read["referrer_code"]) == (
        True,
        "verified",
        ana["ref_code"],
    )
    assert alice.subscriber(ana["uuid"])["referrals_count"] == 1
    assert (
        alice.put(f"{alice.v1}/subscribers/{ana['uuid']}", {"name": "A"}).json()["subscriber"][
            "referrals_count"
        ]
        == 1
    )


def test_a_code_is_read_whatever_its_case_and_the_spaces_around_it(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    ben = alice.subscribe("ben@example.org", referrer_code=f" {ana['ref_code'].upper()} ")
    assert ben["referrer_code"] == ana["ref_code"]


@pytest.mark.parametrize("code", ["zzzzzzzz", "", " ", "no such code", "x" * 255, "' OR 1=1 --"])
def test_an_unknown_code_never_costs_the_signup_and_is_kept_inside(
    alice: Member, code: str
) -> None:
    ben = alice.subscribe("ben@example.org", referrer_code=code)
    assert ben["referrer_code"] is None
    read = alice.subscriber(ben["uuid"])
    assert (read["referred"], read["referral_status"]) == (False, "verified")
    assert alice.total("referrals") == 0
    row = next(row for row in dump(alice.service)["subscriber"] if row["id"] == ben["uuid"])
    assert row["claimed_code"] == code


def test_a_code_of_another_account_is_an_unknown_code(alice: Member, bob: Member) -> None:
    stranger = bob.subscribe("bea@example.org")
    assert (
        alice.subscribe("ben@example.org", referrer_code=stranger["ref_code"])["referrer_code"]
        is None
    )
    assert bob.subscriber(stranger["uuid"])["referrals_count"] == 0


def test_codes_are_unique_over_the_whole_instance(alice: Member, bob: Member) -> None:
    codes = [
        member.subscribe(f"s{n}@example.org")["ref_code"]
        for n in range(20)
        for member in (alice, bob)
    ]
    assert len(set(codes)) == 40


@pytest.mark.parametrize(
    ("referrer", "referred"),
    [
        ("ana.lopez@gmail.com", "analopez+x@gmail.com"),
        ("ana@outlook.com", "ana+2@outlook.com"),
        ("ana@example.org", "throwaway@mailinator.com"),
    ],
)
def test_a_certain_fraud_is_rejected_listed_and_not_counted(
    alice: Member, referrer: str, referred: str
) -> None:
    ana = alice.subscribe(referrer)
    ben = alice.subscribe(referred, referrer_code=ana["ref_code"])
    read = alice.subscriber(ben["uuid"])
    assert (read["referred"], read["referral_status"], read["referrer_code"]) == (
        True,
        "rejected",
        ana["ref_code"],
    )
    assert alice.subscriber(ana["uuid"])["referrals_count"] == 0
    assert (alice.total("referrals"), alice.total("advocates")) == (1, 0)
    listed = alice.get(f"{alice.v1}/subscribers/{ana['uuid']}/referrals").json()
    assert [s["uuid"] for s in listed["subscribers"]] == [ben["uuid"]]
    assert listed["meta"]["total_subscribers"] == 1


def test_a_loop_is_rejected_however_long(alice: Member) -> None:
    ana = alice.subscribe("ana@gmail.com")
    last = ana
    for n in range(4):
        last = alice.subscribe(f"link{n}@example.org", referrer_code=last["ref_code"])
    closing = alice.subscribe("a.n.a+again@gmail.com", referrer_code=last["ref_code"])
    assert alice.subscriber(closing["uuid"])["referral_status"] == "rejected"


def test_unsubscribing_rejects_a_pending_referral_and_confirming_does_not_bring_it_back(
    alice: Member,
) -> None:
    hold(alice, days=3)
    ana = alice.subscribe("ana@example.org")
    ben = alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])
    assert alice.subscriber(ben["uuid"])["referral_status"] == "pending"
    assert alice.subscriber(ana["uuid"])["referrals_count"] == 0
    for status in ("unsubscribed", "unsubscribed", "confirmed"):
        alice.put(f"{alice.v1}/subscribers/{ben['uuid']}", {"status": status})
        assert alice.subscriber(ben["uuid"])["referral_status"] == "rejected"
    row = next(row for row in dump(alice.service)["subscriber"] if row["id"] == ben["uuid"])
    assert row["referral_reason"] == "left_during_hold"
    assert (alice.total("referrals"), alice.total("advocates")) == (1, 0)


def test_a_verified_referral_stays_verified_when_the_person_leaves(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    ben = alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])
    alice.put(f"{alice.v1}/subscribers/{ben['uuid']}", {"status": "unsubscribed"})
    assert alice.subscriber(ben["uuid"])["referral_status"] == "verified"
    assert alice.subscriber(ana["uuid"])["referrals_count"] == 1


def test_confirming_verifies_what_waited_only_for_that(alice: Member) -> None:
    hold(alice, confirmation=True)
    ana = alice.subscribe("ana@example.org")
    ben = alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])
    assert alice.subscriber(ben["uuid"])["referral_status"] == "pending"
    for _ in range(2):
        alice.put(f"{alice.v1}/subscribers/{ben['uuid']}", {"status": "confirmed"})
        assert alice.subscriber(ben["uuid"])["referral_status"] == "verified"
        assert alice.subscriber(ana["uuid"])["referrals_count"] == 1
    assert alice.total("advocates") == 1


def test_confirming_leaves_a_hold_of_days_running_whatever_created_at_claims(alice: Member) -> None:
    hold(alice, days=3, confirmation=True)
    ana = alice.subscribe("ana@example.org")
    ben = alice.subscribe(
        "ben@example.org", referrer_code=ana["ref_code"], created_at="2001-01-01T00:00:00Z"
    )
    alice.put(f"{alice.v1}/subscribers/{ben['uuid']}", {"status": "confirmed"})
    assert alice.subscriber(ben["uuid"])["referral_status"] == "pending"
    alice.service.set_clock(3 * DAY_S - 60)
    alice.put(f"{alice.v1}/subscribers/{ben['uuid']}", {"status": "confirmed"})
    assert alice.subscriber(ben["uuid"])["referral_status"] == "pending"


def test_counts_are_exact_under_parallel_signups_and_departures(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    leavers = [
        alice.subscribe(f"old{n}@example.org", referrer_code=ana["ref_code"]) for n in range(10)
    ]

    def arrive(worker: int) -> None:
        for n in range(10):
            alice.subscribe(f"w{worker}n{n}@example.org", referrer_code=ana["ref_code"])

    def leave() -> None:
        for leaver in leavers:
            assert alice.delete(f"{alice.v1}/subscribers/{leaver['uuid']}").status_code == 200

    threads = [threading.Thread(target=arrive, args=(worker,)) for worker in range(4)] + [
        threading.Thread(target=leave)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert alice.subscriber(ana["uuid"])["referrals_count"] == 40
    for _ in range(2):
        assert (alice.total(), alice.total("referrals"), alice.total("advocates")) == (41, 40, 1)
        alice.service.run_jobs()


def test_one_email_in_twenty_parallel_signups_is_one_subscriber(alice: Member) -> None:
    statuses: list[int] = []

    def arrive() -> None:
        statuses.append(
            alice.post(f"{alice.v1}/subscribers", {"email": "ana@example.org"}).status_code
        )

    threads = [threading.Thread(target=arrive) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [201] + [400] * 19
    assert alice.total() == 1
