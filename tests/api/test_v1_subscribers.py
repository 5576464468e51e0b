"""v1 subscribers, one at a time: create, read, update. Lists, referrals and erasure have files of
their own.
"""

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest

from honeyguide.kernel.clock import iso
from honeyguide.kernel.ids import is_id, new_id
from tests.support.service import ONE_ENGINE, Member

WRITTEN = {
    "uuid",
    "email",
    "name",
    "ref_code",
    "referrer_code",
    "referrals_count",
    "ip_address",
    "user_agent",
    "origin",
    "utm_source",
    "utm_campaign",
    "created_at",
}
READ = WRITTEN | {"referred", "referral_status"}
FULL = {
    "email": "ana@example.org",
    "name": "Ana",
    "ip_address": "203.0.113.9",
    "user_agent": "Mozilla/5.0",
    "utm_source": "x",
    "utm_campaign": "spring",
    "created_at": "2020-02-29T12:00:00Z",
}


def test_a_create_answers_201_with_exactly_the_written_fields(alice: Member) -> None:
    answer = alice.post(f"{alice.v1}/subscribers", FULL)
    assert answer.status_code == 201
    assert answer.json().keys() == {"subscriber"}
    subscriber = answer.json()["subscriber"]
    assert set(subscriber) == WRITTEN
    assert is_id(subscriber["uuid"])
    assert re.fullmatch("[23456789abcdefghjkmnpqrstwxyz]{8}", subscriber["ref_code"])
    assert {name: subscriber[name] for name in FULL if name != "created_at"} == {
        k: v for k, v in FULL.items() if k != "created_at"
    }
    assert subscriber["created_at"] == "2020-02-29T12:00:00.000Z"
    assert (subscriber["referrals_count"], subscriber["origin"], subscriber["referrer_code"]) == (
        0,
        "api",
        None,
    )


def test_a_read_adds_referred_and_referral_status(alice: Member) -> None:
    written = alice.subscribe(**FULL)
    answer = alice.get(f"{alice.v1}/subscribers/{written['uuid']}")
    assert answer.status_code == 200
    assert answer.json() == {
        "subscriber": {**written, "referred": False, "referral_status": "verified"}
    }
    assert set(answer.json()["subscriber"]) == READ


def test_everything_but_the_email_may_be_left_out_or_null(alice: Member) -> None:
    bare = alice.subscribe("bare@example.org")
    nulls = alice.subscribe(
        "null@example.org", **dict.fromkeys((*(set(FULL) - {"email"}), "referrer_code"))
    )
    for subscriber in (bare, nulls):
        for name in (
            "name",
            "referrer_code",
            "ip_address",
            "user_agent",
            "utm_source",
            "utm_campaign",
        ):
            assert subscriber[name] is None
        assert abs(
            datetime.fromisoformat(subscriber["created_at"]) - datetime.now(UTC)
        ) < timedelta(minutes=1)


@pytest.mark.parametrize("body", [{}, {"email": None}, {"email": ""}, {"name": "Ana"}])
def test_no_email_is_refused_in_the_words_clients_know(
    alice: Member, body: dict[str, object]
) -> None:
    answer = alice.post(f"{alice.v1}/subscribers", body)
    assert answer.status_code == 400
    assert answer.json()["error"] == "You have to provide at least an email"
    assert answer.json()["param"] == "email"


@pytest.mark.parametrize(
    "email", ["x", "a@", "@b.org", "a b@c.org", "a@b@c.org", "a@b", "a@b..org", " "]
)
@ONE_ENGINE
def test_what_is_no_email_is_refused_in_the_words_clients_know(alice: Member, email: str) -> None:
    answer = alice.post(f"{alice.v1}/subscribers", {"email": email})
    assert answer.status_code == 400
    assert answer.json()["error"] == "Email is invalid"


@pytest.mark.parametrize("again", ["ana@example.org", "ANA@EXAMPLE.ORG", " Ana@example.org\t"])
def test_an_email_is_taken_once_per_campaign_whatever_its_case(
    alice: Member, bob: Member, again: str
) -> None:
    alice.subscribe("Ana@Example.org")
    answer = alice.post(f"{alice.v1}/subscribers", {"email": again})
    assert answer.status_code == 400
    assert answer.json()["error"] == "Email has already been taken"
    assert answer.json()["code"] == "email_taken"
    assert alice.total() == 1
    assert bob.subscribe(again)["uuid"]


def test_case_of_the_local_part_is_kept_and_of_the_domain_is_not(alice: Member) -> None:
    assert alice.subscribe("Ana.Lopez@EXAMPLE.org")["email"] == "Ana.Lopez@example.org"


@pytest.mark.parametrize("name", sorted(set(FULL) - {"email"}))
@pytest.mark.parametrize("value", [5, 1.5, True, [], ["a"], {}])
@ONE_ENGINE
def test_a_field_of_a_wrong_type_is_refused_and_blamed(
    alice: Member, name: str, value: object
) -> None:
    answer = alice.post(f"{alice.v1}/subscribers", {"email": "ana@example.org", name: value})
    assert answer.status_code == 400
    assert answer.json()["param"] == name
    assert alice.total() == 0


LONGEST = {
    "name": 255,
    "referrer_code": 255,
    "ip_address": 255,
    "user_agent": 1024,
    "utm_source": 255,
    "utm_campaign": 255,
}


@pytest.mark.parametrize(("name", "limit"), LONGEST.items())
def test_text_is_taken_up_to_its_limit_and_not_beyond(alice: Member, name: str, limit: int) -> None:
    assert alice.subscribe("fits@example.org", **{name: "é" * limit})
    answer = alice.post(
        f"{alice.v1}/subscribers", {"email": "over@example.org", name: "é" * (limit + 1)}
    )
    assert answer.status_code == 400
    assert answer.json()["param"] == name
    assert alice.total() == 1


@pytest.mark.parametrize("name", LONGEST)
def test_a_nul_in_any_text_is_refused(alice: Member, name: str) -> None:
    answer = alice.post(f"{alice.v1}/subscribers", {"email": "ana@example.org", name: "a\x00b"})
    assert answer.status_code == 400
    assert answer.json()["param"] == name


FOREIGN = {
    "uuid": new_id(),
    "id": new_id(),
    "ref_code": "aaaaaaaa",
    "origin": "signup",
    "referrals_count": 99,
    "referred": True,
    "referral_status": "rejected",
    "paid": True,
    "status": "unsubscribed",
    "campaign_id": new_id(),
    "account_id": new_id(),
    "referrer_id": new_id(),
    "erased_ms": 1,
}


def test_fields_that_are_ours_to_set_are_ignored_on_create_and_update(alice: Member) -> None:
    made = alice.subscribe("ana@example.org", **FOREIGN)
    assert made["uuid"] != FOREIGN["uuid"] and made["ref_code"] != FOREIGN["ref_code"]
    updated = alice.put(
        f"{alice.v1}/subscribers/{made['uuid']}",
        {**FOREIGN, "status": "confirmed", "referrer_code": made["ref_code"]},
    )
    assert updated.status_code == 200
    read = alice.subscriber(made["uuid"])
    assert read == {**made, "referred": False, "referral_status": "verified"}
    assert (read["origin"], read["referrals_count"], read["referrer_code"]) == ("api", 0, None)


# -- created_at


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("2019-05-01T23:59:59Z", "2019-05-01T23:59:59.000Z"),
        ("2019-05-01T23:59:59.9Z", "2019-05-01T23:59:59.900Z"),
        ("2019-05-01T23:59:59.123456789Z", "2019-05-01T23:59:59.123Z"),
        ("2019-05-01T23:59:59+05:30", "2019-05-01T18:29:59.000Z"),
        ("2019-05-01T23:59:59-08:00", "2019-05-02T07:59:59.000Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"),
    ],
)
def test_a_date_in_the_past_is_shown_in_utc_with_milliseconds(
    alice: Member, given: str, shown: str
) -> None:
    assert alice.subscribe("ana@example.org", created_at=given)["created_at"] == shown
    assert alice.subscriber("ana@example.org")["created_at"] == shown


def test_a_little_ahead_of_our_clock_is_taken_as_now_and_more_is_refused(alice: Member) -> None:
    now = alice.service.now_ms()
    near = alice.subscribe("near@example.org", created_at=iso(now + 290_000))
    assert abs(datetime.fromisoformat(near["created_at"]).timestamp() * 1000 - now) < 30_000
    answer = alice.post(
        f"{alice.v1}/subscribers", {"email": "far@example.org", "created_at": iso(now + 400_000)}
    )
    assert answer.status_code == 400
    assert answer.json()["param"] == "created_at"


# -- finding one


@pytest.mark.parametrize(
    "email",
    [
        "ana+news@example.org",
        "o'hara@example.org",
        "a/b@example.org",
        "100%@example.org",
        "jörg@example.org",
    ],
)
def test_an_email_in_the_path_finds_its_subscriber(alice: Member, email: str) -> None:
    made = alice.subscribe(email)
    for spelled in (quote(email, safe=""), quote(email.upper(), safe=""), quote(email, safe="@+'")):
        assert alice.subscriber(spelled)["uuid"] == made["uuid"]


def test_a_plus_in_the_path_is_a_plus_and_never_a_space(alice: Member) -> None:
    plain, tagged = alice.subscribe("ana@example.org"), alice.subscribe("ana+x@example.org")
    assert (
        alice.subscriber("ana+x@example.org")["uuid"]
        == alice.subscriber("ana%2Bx%40example.org")["uuid"]
        == tagged["uuid"]
    )
    assert alice.subscriber("ana@example.org")["uuid"] == plain["uuid"]
    assert alice.get(f"{alice.v1}/subscribers/ana%20x@example.org").status_code == 404


@pytest.mark.parametrize(
    "identifier",
    [
        "01890000-0000-7000-8000-000000000000",
        "nonsense",
        "nobody@example.org",
        "@",
        "a@",
        "%F0%9F%90%A6",
        "a" * 5000,
        "é@" * 300,
    ],
)
def test_whoever_is_not_there_is_a_404(alice: Member, identifier: str) -> None:
    alice.subscribe("ana@example.org")
    for method, tail in (("GET", ""), ("GET", "/referrals"), ("PUT", ""), ("DELETE", "")):
        answer = alice.http.request(method, f"{alice.v1}/subscribers/{identifier}{tail}")
        assert answer.status_code == 404, (method, tail)
        assert answer.json()["error"] == "There is no such subscriber."


@pytest.mark.parametrize("tail", ["/", "//referrals", "/%20", "/%09/referrals"])
@pytest.mark.parametrize("version", ["v1", "v2"])
@ONE_ENGINE
def test_a_blank_subscriber_is_a_400(alice: Member, version: str, tail: str) -> None:
    answer = alice.get(f"/{version}/campaigns/{alice.campaign_id}/subscribers{tail}")
    assert answer.status_code == 400
    assert answer.json()["param"] == "uuid"


# -- update


def test_an_update_answers_with_the_written_fields_and_changes_only_what_it_names(
    alice: Member,
) -> None:
    made = alice.subscribe(**FULL)
    address = f"{alice.v1}/subscribers/{made['uuid']}"
    for body in (
        {},
        {"name": "Ana Maria"},
        {"email": "Ana2@example.org"},
        {"status": "confirmed"},
        {"name": None},
    ):
        answer = alice.put(address, body)
        assert answer.status_code == 200
        made |= {key: value for key, value in body.items() if key != "status"}
        assert answer.json() == {"subscriber": made}
    assert alice.subscriber("ana2@example.org")["uuid"] == made["uuid"]
    assert alice.get(f"{alice.v1}/subscribers/ana@example.org").status_code == 404


def test_an_update_needs_no_body_at_all(alice: Member) -> None:
    made = alice.subscribe("ana@example.org")
    assert alice.http.put(f"{alice.v1}/subscribers/{made['uuid']}").json() == {"subscriber": made}


@pytest.mark.parametrize(
    "body",
    [
        {"email": None},
        {"email": ""},
        {"email": "x"},
        {"email": "ben@example.org"},
        {"status": None},
        {"status": "active"},
        {"status": "Confirmed"},
        {"status": ""},
        {"status": 1},
        {"name": 5},
        {"name": "x" * 256},
        {"name": "a\x00"},
    ],
)
def test_a_refused_update_changes_nothing(alice: Member, body: dict[str, object]) -> None:
    made = alice.subscribe("ana@example.org", name="Ana")
    alice.subscribe("ben@example.org")
    answer = alice.put(f"{alice.v1}/subscribers/{made['uuid']}", {"name": "changed", **body})
    assert answer.status_code == 400
    assert answer.json()["param"] == next(iter(body))
    assert alice.subscriber(made["uuid"])["name"] == "Ana"


def test_an_email_freed_by_an_update_may_be_taken_and_ones_own_may_be_kept(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    assert (
        alice.put(f"{alice.v1}/subscribers/{ana['uuid']}", {"email": "ANA@example.org"}).status_code
        == 200
    )
    assert (
        alice.put(f"{alice.v1}/subscribers/{ana['uuid']}", {"email": "new@example.org"}).status_code
        == 200
    )
    assert alice.subscribe("ana@example.org")["uuid"] != ana["uuid"]


@pytest.mark.parametrize("status", ["unsubscribed", "confirmed"])
def test_a_status_is_idempotent_and_keeps_the_person_in_lists_and_totals(
    alice: Member, status: str
) -> None:
    ana = alice.subscribe("ana@example.org")
    ben = alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])
    before = alice.subscriber(ben["uuid"])
    for _ in range(3):
        assert (
            alice.put(f"{alice.v1}/subscribers/{ben['uuid']}", {"status": status}).status_code
            == 200
        )
        assert alice.subscriber(ben["uuid"]) == before
    assert (alice.total(), alice.total("referrals"), alice.total("advocates")) == (2, 1, 1)
    assert alice.subscriber(ana["uuid"])["referrals_count"] == 1
