"""DELETE erases a person: out of every list, every count and every table, while codes, states and
those they brought stay.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.support.partner_network import join
from tests.support.partner_network import offer as offer_program
from tests.support.prizes import bring, earned_by, offer
from tests.support.service import ENGINES, Member, Service, until
from tests.support.shipments import ADDRESS
from tests.support.tables import dump, mentions

PERSON = {
    "email": "Quentin.Zebrafish@unusual-domain.example",
    "name": "Quentin Quillfeather",
    "ip_address": "203.0.113.77",
    "user_agent": "ZebraBrowser/99.1",
    "utm_source": "zebrasource",
    "utm_campaign": "zebracampaign",
    "referrer_code": "zebracode",
}
TRACES = (
    "zebrafish",
    "unusual-domain",
    "quillfeather",
    "203.0.113.77",
    "zebrabrowser",
    "zebrasource",
    "zebracampaign",
    "zebracode",
)


@pytest.mark.parametrize("by", ["uuid", "email"])
def test_a_delete_answers_with_a_message_and_the_person_is_gone(alice: Member, by: str) -> None:
    ana = alice.subscribe("ana@example.org")
    answer = alice.delete(f"{alice.v1}/subscribers/{ana[by]}")
    assert answer.status_code == 200
    assert answer.json().keys() == {"message"}
    assert isinstance(answer.json()["message"], str)
    for identifier in (ana["uuid"], ana["email"]):
        for method, tail in (("GET", ""), ("PUT", ""), ("DELETE", ""), ("GET", "/referrals")):
            assert (
                alice.http.request(method, f"{alice.v1}/subscribers/{identifier}{tail}").status_code
                == 404
            )
    assert alice.total() == 0


@pytest.fixture(params=ENGINES)
def only_member(request: pytest.FixtureRequest) -> Iterator[Member]:
    """For tests that look for a person in all tables: nobody else has any."""
    with Service(request.param) as service:
        yield service.member()


def test_nothing_personal_remains_in_any_table(only_member: Member) -> None:
    alice = only_member
    made = alice.post(
        f"{alice.v1}/subscribers", PERSON, headers={"Idempotency-Key": "signup-1"}
    ).json()["subscriber"]
    again = alice.post(
        "/v2/subscribers", {"email": "other@example.org"}, headers={"Idempotency-Key": "signup-2"}
    ).json()
    alice.put(f"{alice.v1}/subscribers/{made['uuid']}", {"name": "Quentin Zebrafish Quillfeather"})
    before = dump(alice.service)
    assert all(mentions(before, trace) for trace in TRACES), (
        "the test must look where the traces are"
    )
    assert alice.delete(f"{alice.v1}/subscribers/{made['uuid']}").status_code == 200
    after = dump(alice.service)
    assert {trace: places for trace in TRACES if (places := mentions(after, trace))} == {}
    assert "idempotency.body" in mentions(after, again["subscriber"]["email"]), (
        "a stranger's stored answer must stay"
    )
    row = next(row for row in after["subscriber"] if row["id"] == made["uuid"])
    assert row["ref_code"] == made["ref_code"]
    assert row["erased_ms"] is not None


@pytest.mark.parametrize("role", ["referred", "referrer"])
def test_what_others_were_told_about_the_person_is_erased_and_cancelled(
    only_member: Member, role: str
) -> None:
    alice = only_member
    for path in (f"{alice.v1}/webhooks", "/v2/webhooks"):
        assert (
            alice.post(path, {"url": "http://127.0.0.1:9/hook", "new_referral": True}).status_code
            == 201
        )
    if role == "referred":
        code = alice.subscribe("ana@example.org")["ref_code"]
        person = alice.subscribe(**{**PERSON, "referrer_code": code})
    else:
        person = alice.subscribe(**PERSON)
        alice.subscribe("ben@example.org", referrer_code=person["ref_code"])
    assert "event.body" in mentions(dump(alice.service), "zebrafish"), (
        "the event must tell of the person first"
    )
    assert alice.delete(f"{alice.v1}/subscribers/{person['uuid']}").status_code == 200
    after = dump(alice.service)
    assert {trace: places for trace in TRACES if (places := mentions(after, trace))} == {}
    statuses = [row["status"] for row in after["delivery"] if row["account_id"] == alice.account_id]
    assert len(statuses) == 2 and "pending" not in statuses


def traces_in_files(service: Service) -> list[str]:
    """What the SQLite file still holds in any page, used or free, once its log is folded in."""
    path = service.database_url.removeprefix("sqlite:///")
    with contextlib.closing(apsw.Connection(path)) as connection:
        connection.set_busy_timeout(5000)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    content = Path(path).read_bytes().lower()
    return [trace for trace in TRACES if trace.encode() in content]


def test_nothing_personal_remains_in_the_pages_of_an_sqlite_file() -> None:
    with Service("sqlite") as service:
        alice = service.member()
        made = alice.post(
            f"{alice.v1}/subscribers", PERSON, headers={"Idempotency-Key": "signup"}
        ).json()["subscriber"]
        assert traces_in_files(service) == list(TRACES)
        alice.delete(f"{alice.v1}/subscribers/{made['uuid']}")
        # The service empties its log after the answer, and two checkpoints at once keep each other
        # out.
        until(lambda: traces_in_files(service) == [])


def test_a_replay_after_the_erasure_does_not_bring_the_person_back_from_the_stored_answer(
    alice: Member,
) -> None:
    key = {"Idempotency-Key": "signup"}
    first = alice.post(f"{alice.v1}/subscribers", PERSON, headers=key)
    alice.delete(f"{alice.v1}/subscribers/{first.json()['subscriber']['uuid']}")
    second = alice.post(f"{alice.v1}/subscribers", PERSON, headers=key)
    assert second.status_code == 201
    assert "idempotent-replayed" not in second.headers
    assert second.json()["subscriber"]["uuid"] != first.json()["subscriber"]["uuid"]


def test_no_stored_answer_says_anything_about_the_person(only_member: Member) -> None:
    """Whatever was asked for with an Idempotency-Key, and whether by UUID or by email address."""
    alice, bob = only_member, only_member.service.member("bob")
    program = offer_program(alice)
    offer(alice, kind="physical", referrals=1)
    ann = alice.subscribe("ann-zebra@example.org", referrer_code=join(bob, program)["ref_code"])
    bring(alice, ann, 1)
    by_id, by_email = (f"{alice.v1}/subscribers/{ann[name]}" for name in ("uuid", "email"))
    referrals = f"/v2/partner_programs/{program['uuid']}/referrals"
    (referral,) = alice.get(referrals).json()["referrals"]
    (earned,) = earned_by(alice, ann)
    address = {**ADDRESS, "line1": "1 Zebra Lane"}
    for number, (path, body) in enumerate(
        (
            (f"{referrals}/{referral['uuid']}/reversal", {"reason": "other", "text": "A zebra"}),
            (f"{by_id}/referral/verify", {}),
            (f"{by_email}/adjustments", {"amount": 1, "reason": "Is a zebra"}),
            (f"{by_email}/tags/add", {"tags": ["zebra"]}),
            (f"{by_id}/codes", {"code": "zebra"}),
            (f"{alice.v1}/rewards/{earned['uuid']}/redeem", {"shipping_details": address}),
            (f"{alice.v1}/shipments/{earned['uuid']}/sent", {"tracking_note": "zebra"}),
        )
    ):
        answer = alice.post(path, body, headers={"Idempotency-Key": f"about-ann-{number}"})
        assert answer.status_code in (200, 201), answer.text
    ben = alice.subscribe("ben@example.org")
    key = {"Idempotency-Key": "about-ben"}
    stays = f"{alice.v1}/subscribers/{ben['email']}/adjustments"
    alice.post(stays, {"amount": 1, "reason": "Is a gnu"}, headers=key)
    assert alice.delete(by_id).status_code == 200
    answers = {"idempotency": dump(alice.service)["idempotency"]}
    assert mentions(answers, "zebra") == mentions(answers, ann["uuid"]) == []
    again = alice.post(stays, {"amount": 1, "reason": "Is a gnu"}, headers=key)
    assert again.headers["idempotent-replayed"] == "true"


def test_the_same_email_may_come_back_as_somebody_new(alice: Member) -> None:
    first = alice.subscribe(**PERSON)
    for _ in range(3):
        assert alice.delete(f"{alice.v1}/subscribers/{first['email']}").status_code == 200
        fresh = alice.subscribe(PERSON["email"])
        assert fresh["uuid"] != first["uuid"] and fresh["ref_code"] != first["ref_code"]
        assert fresh["name"] is None
    assert alice.total() == 1
    assert alice.get(f"{alice.v1}/subscribers/{first['uuid']}").status_code == 404


def test_a_deleted_referral_leaves_its_referrers_count_and_every_list(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    ben = alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])
    cy = alice.subscribe("cy@example.org", referrer_code=ana["ref_code"])
    alice.delete(f"{alice.v1}/subscribers/{ben['uuid']}")
    assert alice.subscriber(ana["uuid"])["referrals_count"] == 1
    listed = alice.get(f"{alice.v1}/subscribers/{ana['uuid']}/referrals").json()
    assert [s["uuid"] for s in listed["subscribers"]] == [cy["uuid"]]
    assert (alice.total(), alice.total("referrals"), alice.total("advocates")) == (2, 1, 1)
    alice.delete(f"{alice.v1}/subscribers/{cy['uuid']}")
    assert (alice.total(), alice.total("referrals"), alice.total("advocates")) == (1, 0, 0)


def test_those_a_deleted_person_brought_keep_their_referrer_code(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    ben = alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])
    alice.delete(f"{alice.v1}/subscribers/{ana['uuid']}")
    read = alice.subscriber(ben["uuid"])
    assert (read["referred"], read["referrer_code"], read["referral_status"]) == (
        True,
        ana["ref_code"],
        "verified",
    )
    assert (alice.total(), alice.total("referrals"), alice.total("advocates")) == (1, 1, 0)
    alice.delete(f"{alice.v1}/subscribers/{ben['uuid']}")
    assert (alice.total(), alice.total("referrals"), alice.total("advocates")) == (0, 0, 0)


def test_the_code_of_a_deleted_person_is_an_unknown_code(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    alice.delete(f"{alice.v1}/subscribers/{ana['uuid']}")
    assert (
        alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])["referrer_code"] is None
    )
    assert (alice.total(), alice.total("referrals"), alice.total("advocates")) == (1, 0, 0)
