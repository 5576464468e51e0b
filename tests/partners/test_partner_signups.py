"""How a partner's reader arrives and what becomes of the referral, on both engines."""

import json

import pytest

from tests.support.partner_network import join, offer, publish
from tests.support.tables import dump

DAY = 86_400


@pytest.fixture
def partner_network(alice, bob):
    """Alice's program with a hold of a week, and Bob's code in it."""
    publication = publish(alice)
    program = offer(
        alice, publication, referral_pending_duration_enabled=True, referral_pending_duration=7
    )
    return alice, bob, publication, program, join(bob, program)["ref_code"]


def referrals(alice, program):
    return {
        row["email"]: row
        for row in alice.get(f"/v2/partner_programs/{program['uuid']}/referrals").json()[
            "referrals"
        ]
    }


def test_a_partners_reader_is_pending_then_verified_by_time(partner_network, service):
    alice, _bob, _publication, program, code = partner_network
    created = alice.subscribe("ana@example.org", referrer_code=code.upper())
    assert created["referrer_code"] == code
    ana = alice.subscriber("ana@example.org")
    assert (ana["referred"], ana["referral_status"], ana["referrer_code"]) == (
        True,
        "pending",
        code,
    )
    assert alice.total("referrals") == 1
    row = referrals(alice, program)["ana@example.org"]
    assert (row["status"], row["reason"], row["charged"], row["fee"]) == (
        "pending",
        "holding_period",
        None,
        3,
    )
    assert row["due_at"] is not None
    service.set_clock(7 * DAY - 60)
    service.run_jobs()
    assert alice.subscriber("ana@example.org")["referral_status"] == "pending"
    service.set_clock(7 * DAY + 60)
    service.run_jobs()
    assert alice.subscriber("ana@example.org")["referral_status"] == "verified"
    assert referrals(alice, program)["ana@example.org"]["charged"] == 3


def test_a_hold_runs_from_the_arrival_whatever_created_at_claims(partner_network, service):
    alice, _bob, _publication, program, code = partner_network
    alice.subscribe("ana@example.org", referrer_code=code, created_at="2020-01-01T00:00:00Z")
    service.run_jobs()
    row = referrals(alice, program)["ana@example.org"]
    assert (row["status"], row["charged"]) == ("pending", None)
    service.set_clock(7 * DAY - 60)
    service.run_jobs()
    assert referrals(alice, program)["ana@example.org"]["status"] == "pending"
    service.set_clock(7 * DAY + 60)
    service.run_jobs()
    row = referrals(alice, program)["ana@example.org"]
    assert (row["status"], row["charged"]) == ("verified", 3)


def test_the_hold_runs_on_after_a_confirmation_and_ends_with_leaving(partner_network, service):
    alice, _bob, _publication, program, code = partner_network
    for name in ("ana", "ben"):
        alice.subscribe(f"{name}@example.org", referrer_code=code)
        alice.put(f"{alice.v1}/subscribers/{name}@example.org", {"status": "confirmed"})
        assert alice.subscriber(f"{name}@example.org")["referral_status"] == "pending"
    alice.put(f"{alice.v1}/subscribers/ben@example.org", {"status": "unsubscribed"})
    assert alice.subscriber("ben@example.org")["referral_status"] == "rejected"
    service.set_clock(8 * DAY)
    service.run_jobs()
    rows = referrals(alice, program)
    assert (rows["ana@example.org"]["status"], rows["ana@example.org"]["charged"]) == (
        "verified",
        3,
    )
    assert (
        rows["ben@example.org"]["status"],
        rows["ben@example.org"]["reason"],
        rows["ben@example.org"]["charged"],
    ) == (
        "rejected",
        "left_during_hold",
        None,
    )


def test_the_fee_is_the_one_of_the_arrival(partner_network, service):
    alice, _bob, _publication, program, code = partner_network
    alice.subscribe("ana@example.org", referrer_code=code)
    alice.put(f"/v2/partner_programs/{program['uuid']}", {"cpa": 50})
    service.set_clock(8 * DAY)
    service.run_jobs()
    assert referrals(alice, program)["ana@example.org"]["charged"] == 3


def test_someone_already_subscribed_is_no_new_acquisition(partner_network):
    alice, _bob, _publication, program, code = partner_network
    alice.subscribe("anna.lee@gmail.com")
    alice.put(f"{alice.v1}/subscribers/anna.lee@gmail.com", {"status": "unsubscribed"})
    same = alice.post("/v2/subscribers", {"email": "ANNA.lee@gmail.com", "referrer_code": code})
    assert same.status_code == 400
    alice.subscribe("annalee+news@gmail.com", referrer_code=code)
    row = referrals(alice, program)["annalee+news@gmail.com"]
    assert (row["status"], row["reason"]) == ("rejected", "already_subscribed")


def test_screening_applies_to_partners_too(partner_network):
    alice, bob, _publication, program, code = partner_network
    email = bob.service.read(lambda tx: _email_of(tx, bob.account_id))
    alice.subscribe("x@mailinator.com", referrer_code=code)
    alice.subscribe(email, referrer_code=code)
    rows = referrals(alice, program)
    assert (rows["x@mailinator.com"]["status"], rows["x@mailinator.com"]["reason"]) == (
        "rejected",
        "disposable_domain",
    )
    assert (rows[email]["status"], rows[email]["reason"]) == ("rejected", "own_address")


async def _email_of(tx, account_id):
    from honeyguide.accounts import accounts

    return (await accounts.get(tx, account_id)).email


def test_a_program_that_is_off_keeps_the_reader_and_rejects_the_referral(partner_network, service):
    alice, _bob, publication, program, code = partner_network
    alice.subscribe("before@example.org", referrer_code=code)
    path = f"/v2/publications/{publication['uuid']}"
    alice.put(path, {"enabled_partner_program": False})
    alice.subscribe("off@example.org", referrer_code=code)
    alice.put(path, {"enabled_partner_program": True, "status": "archived"})
    alice.subscribe("archived@example.org", referrer_code=code)
    rows = referrals(alice, program)
    assert (rows["off@example.org"]["status"], rows["off@example.org"]["reason"]) == (
        "rejected",
        "program_paused",
    )
    assert (rows["archived@example.org"]["status"], rows["archived@example.org"]["reason"]) == (
        "rejected",
        "publication_archived",
    )
    assert alice.total() == 3
    service.set_clock(8 * DAY)
    service.run_jobs()
    assert referrals(alice, program)["before@example.org"]["status"] == "verified"


def test_ones_own_program_can_be_tried_and_is_never_charged(alice):
    program = offer(alice)
    code = join(alice, program)["ref_code"]
    alice.subscribe("try@example.org", referrer_code=code)
    row = referrals(alice, program)["try@example.org"]
    assert (row["status"], row["charged"], row["uncharged_reason"]) == (
        "verified",
        None,
        "own_program",
    )


def test_an_unknown_or_foreign_partner_code_never_costs_the_signup(partner_network, mallory):
    _alice, _bob, _publication, _program, code = partner_network
    for claimed in (code, "p23456789"):
        created = mallory.subscribe(f"{claimed}@example.org", referrer_code=claimed)
        assert created["referrer_code"] is None
        assert mallory.subscriber(f"{claimed}@example.org")["referred"] is False


def test_deleted_and_created_again_is_never_charged_twice(alice, bob):
    program = offer(alice)
    code = join(bob, program)["ref_code"]
    alice.subscribe("ann.lee@gmail.com", referrer_code=code)
    alice.delete("/v2/subscribers/ann.lee@gmail.com")
    for spelled in ("ann.lee@gmail.com", "annlee+2@gmail.com"):
        alice.subscribe(spelled, referrer_code=code)
        row = referrals(alice, program)[spelled]
        assert (row["charged"], row["uncharged_reason"]) == (None, "already_charged")
        alice.delete(f"/v2/subscribers/{spelled.replace('+', '%2B')}")
    assert alice.get(f"/v2/partner_programs/{program['uuid']}/spend").json()["spend"]["spent"] == 3


def test_a_partners_reader_brings_readers_of_their_own(partner_network):
    alice, _bob, _publication, _program, code = partner_network
    ana = alice.subscribe("ana@example.org", referrer_code=code)
    alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])
    assert alice.subscriber("ana@example.org")["referrals_count"] == 1


def test_a_partner_referral_is_told_when_it_is_verified_and_never_as_a_readers(
    partner_network, service
):
    alice, bob, _publication, _program, code = partner_network
    mug = alice.post(f"{alice.v1}/rewards", {"name": "A mug", "referrals": 3}).json()["reward"]
    flags = {"new_referral": True, "new_partner_referral": True}
    hook = alice.post("/v2/webhooks", {"url": "http://127.0.0.1:9/", **flags}).json()["webhook"][
        "uuid"
    ]
    ana = alice.subscribe("ana@example.org", referrer_code=code)
    alice.subscribe("gone@example.org", referrer_code=code)
    alice.subscribe("x@mailinator.com", referrer_code=code)
    alice.put(f"{alice.v1}/subscribers/gone@example.org", {"status": "unsubscribed"})

    def delivered_types():
        return [
            each["type"]
            for each in alice.get(f"/v2/webhooks/{hook}/deliveries").json()["deliveries"]
        ]

    assert delivered_types() == []
    service.set_clock(8 * DAY)
    service.run_jobs()
    service.run_jobs()
    assert delivered_types() == ["new_partner_referral"]
    (event,) = [row for row in dump(service)["event"] if row["subscriber_id"] == ana["uuid"]]
    body = json.loads(event["body"])
    assert (body["type"], body["campaign_id"]) == ("new_partner_referral", alice.campaign_id)
    assert (body["subscriber"]["email"], body["subscriber"]["referral_status"]) == (
        "ana@example.org",
        "verified",
    )
    assert (body["subscriber"]["next_reward"], body["subscriber"]["next_reward_details"]["id"]) == (
        3,
        mug["uuid"],
    )
    assert (body["partner"]["id"], body["campaign"]["referral_code"]) == (bob.account_id, code)


@pytest.mark.parametrize(
    ("level", "status"), [("flexible", "pending"), ("strong", "pending"), ("strict", "rejected")]
)
def test_many_from_one_network_are_held_or_rejected_and_a_burst_is_what_was_asked_for(
    partner_network, level, status
):
    alice, _bob, _publication, program, code = partner_network
    alice.put(f"{alice.v1}/settings", {"screening": level})
    for n in range(12):
        alice.subscribe(f"apart{n}@example.org", referrer_code=code, ip_address=f"203.0.{n}.9")
    for n in range(4):
        alice.subscribe(f"near{n}@example.org", referrer_code=code, ip_address="198.51.100.7")
    rows = referrals(alice, program)
    assert {rows[f"apart{n}@example.org"]["reason"] for n in range(12)} == {"holding_period"}
    last = rows["near3@example.org"]
    assert last["status"] == status
    assert last["reason"] == ("holding_period" if level == "flexible" else "many_from_one_network")
