"""Every refusal on an API path: its status, its JSON shape, its headers. Never HTML, never a stack trace."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from honeyguide.accounts import admission, keys, limits
from honeyguide.kernel.errors import Unauthorized
from honeyguide.store.tx import Tx
from tests.support import raw
from tests.support.service import ENGINES, Member, Service
from tests.support.stores import OpenStore, statement

UNKNOWN_PATHS = [
    "/v1",
    "/v1/",
    "/v2/",
    "/v1/nothing",
    "/v2/campaigns",
    "/v1/subscribers",
    "/v1//campaigns",
    "/v2/subscribers/x/y/z",
    "/v1/Campaigns",
    "/v1/campaigns/x/subscribers/y/referrals/z",
    "/v1/campaigns;x",
    "/v1/%2e%2e/campaigns",
]


def check_shape(status: int, headers: Any, body: Any) -> dict[str, str]:
    """The one form of every error."""
    assert headers["content-type"] == "application/json; charset=utf-8"
    assert isinstance(body, dict)
    assert (
        {"error", "code", "request_id"} <= body.keys() <= {"error", "code", "request_id", "param"}
    )
    assert all(isinstance(value, str) and value for value in body.values())
    assert re.fullmatch("[a-z_]+", body["code"])
    assert body["request_id"] == headers["x-request-id"]
    assert headers["cache-control"] == "no-store"
    assert not re.search(r"Traceback|File \"|<html|SELECT|asyncpg|apsw", json.dumps(body))
    return body


def refused(answer: httpx.Response, status: int) -> dict[str, str]:
    assert answer.status_code == status, answer.text
    return check_shape(status, answer.headers, answer.json())


def test_an_invalid_request_is_a_400_that_names_the_parameter(alice: Member) -> None:
    body = refused(alice.get(f"{alice.v1}/subscribers?page=0"), 400)
    assert body["param"] == "page"
    assert body["error"].endswith(".")


@pytest.mark.parametrize("path", UNKNOWN_PATHS)
def test_an_unknown_path_is_a_404_with_a_good_key(alice: Member, path: str) -> None:
    answer = raw.request(alice, "GET", path, headers={"X-Api-Key": alice.key})
    assert answer.status == 404
    assert check_shape(404, answer.headers, answer.json())["code"] == "not_found"


def test_no_slash_is_ever_answered_with_a_redirect(alice: Member) -> None:
    for path in (
        "/v1/campaigns/",
        f"{alice.v1}/",
        f"{alice.v1}/subscribers/",
        f"{alice.v1}/subscribers/x/",
    ):
        answer = alice.get(path)
        assert answer.status_code in {400, 404}
        assert "location" not in answer.headers


@pytest.mark.parametrize("method", ["PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])
def test_a_wrong_method_is_a_405_that_names_the_right_ones(alice: Member, method: str) -> None:
    answer = alice.http.request(method, f"{alice.v1}/subscribers")
    body = refused(answer, 405)
    assert body["code"] == "method_not_allowed"
    assert answer.headers["allow"] == "GET, POST"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/openapi.json"])
def test_a_wrong_method_is_the_same_405_where_machines_ask(service: Service, path: str) -> None:
    answer = httpx.post(service.url + path)
    assert refused(answer, 405)["code"] == "method_not_allowed"
    assert answer.headers["allow"] == "GET"


def test_a_body_over_2_mb_is_a_413(alice: Member) -> None:
    body = json.dumps({"email": "ana@example.org", "junk": "x" * 2 * 1024 * 1024})
    assert (
        refused(alice.http.post(f"{alice.v1}/subscribers", content=body), 413)["code"]
        == "too_large"
    )
    just_under = json.dumps({"email": "ana@example.org", "junk": "x" * (2 * 1024 * 1024 - 100)})
    assert alice.http.post(f"{alice.v1}/subscribers", content=just_under).status_code == 201


NOT_JSON = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "text/json",
    "*/*",
    "application/json; charset=utf-16",
    "application/json; charset=utf-16; x=y",
    "application/jsonx",
    ";",
]


@pytest.mark.parametrize("kind", NOT_JSON)
def test_another_content_type_is_a_415_that_says_what_to_send(alice: Member, kind: str) -> None:
    answer = alice.http.post(
        f"{alice.v1}/subscribers", content=b'{"email":"a@b.org"}', headers={"Content-Type": kind}
    )
    assert "application/json" in refused(answer, 415)["error"]
    assert alice.total() == 0


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON;charset=UTF-8",
        'application/json; charset="utf-8"',
        "application/json;",
        "application/json; charset=utf-8;",
        "application/json; charset=utf-8; profile=x",
        "",
        None,
    ],
)
def test_json_by_any_of_its_names_or_none_is_taken(alice: Member, kind: str | None) -> None:
    answer = alice.http.post(
        f"{alice.v1}/subscribers",
        content=b'{"email":"a@b.org"}',
        headers={} if kind is None else {"Content-Type": kind},
    )
    assert answer.status_code == 201


def test_an_idempotency_key_with_another_body_is_a_422(alice: Member) -> None:
    key = {"Idempotency-Key": "k"}
    alice.post(f"{alice.v1}/subscribers", {"email": "a@example.org"}, headers=key)
    body = refused(
        alice.post(f"{alice.v1}/subscribers", {"email": "b@example.org"}, headers=key), 422
    )
    assert body["code"] == "idempotency_key_reused"


# -- who calls


def test_no_key_and_every_wrong_key_hear_the_same_401(alice: Member) -> None:
    right = alice.key
    flipped = right[:-1] + ("a" if right[-1] != "a" else "b")
    wrong = [
        None,
        "",
        "x",
        keys.generate(),
        flipped,
        right.lower(),
        right + "x",
        right[:-1],
        "hg_live_" + "é" * 49,
        "x" * 10_000,
    ]
    heard = set()
    for key in wrong:
        for path in ("/v1/campaigns", alice.v1, f"{alice.v1}/subscribers/", "/v2/subscribers"):
            answer = raw.request(alice, "GET", path, headers={"X-Api-Key": key or ""})
            assert answer.status == 401
            body = check_shape(401, answer.headers, answer.json())
            heard.add((body["error"], body["code"], frozenset(answer.headers)))
    assert len(heard) == 1
    assert heard.pop()[1] == "unauthorized"


@pytest.mark.parametrize(("before", "after"), [("", " "), ("", "\t"), (" \t ", " \t ")])
def test_blanks_around_a_header_are_no_part_of_it(alice: Member, before: str, after: str) -> None:
    body = b'{"email":"ana@example.org"}'
    headers = {"X-Api-Key": f"{before}{alice.key}{after}", "Idempotency-Key": f"{before}k{after}"}
    first = raw.request(alice, "POST", f"{alice.v1}/subscribers", body, headers=headers)
    again = raw.request(
        alice, "POST", f"{alice.v1}/subscribers", body, headers={"Idempotency-Key": "k"}
    )
    assert first.status == again.status == 201
    assert again.body == first.body


def test_a_key_anywhere_but_in_its_header_is_no_key(alice: Member) -> None:
    elsewhere = [
        (f"/v1/campaigns?X-Api-Key={alice.key}&api_key={alice.key}&key={alice.key}", {}),
        ("/v1/campaigns", {"Authorization": f"Bearer {alice.key}"}),
        ("/v1/campaigns", {"Cookie": f"X-Api-Key={alice.key}"}),
        ("/v1/campaigns", {"Api-Key": alice.key}),
    ]
    for path, headers in elsewhere:
        refused(httpx.get(alice.service.url + path, headers=headers), 401)


def test_the_headers_name_is_read_whatever_its_case(alice: Member) -> None:
    for name in ("x-api-key", "X-API-KEY", "x-Api-kEY"):
        assert (
            raw.request(
                alice, "GET", "/v1/campaigns", headers={"X-Api-Key": "", name: alice.key}
            ).status
            == 200
        )


def test_a_revoked_key_is_refused_on_the_next_request_of_an_open_connection(alice: Member) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", alice.service.port)

    def ask() -> tuple[int, int]:
        connection.request("GET", "/v1/campaigns", headers={"X-Api-Key": alice.key})
        socket_number = connection.sock.fileno()
        answer = connection.getresponse()
        answer.read()
        return answer.status, socket_number

    assert (first := ask())[0] == 200

    async def revoke(tx: Tx) -> None:
        key = (await keys.of_account(tx, alice.account_id))[0]
        await keys.revoke(tx, alice.account_id, key.id, now_ms=alice.service.now_ms())

    alice.service.write(revoke)
    assert ask() == (401, first[1])
    connection.close()


def test_many_wrong_keys_from_one_address_are_a_429_and_honest_keys_go_on(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_WRONG_KEYS", 20)
    statuses = set()
    for n in range(60):
        wrong = "nonsense" if n % 2 else keys.generate()
        answer = httpx.get(
            f"{alice.service.url}/v1/campaigns",
            headers={"X-Api-Key": wrong, "X-Forwarded-For": f"198.51.100.{n}"},
        )
        statuses.add(answer.status_code)
        if answer.status_code == 429:
            break
        refused(answer, 401)
    assert 429 in statuses
    assert refused(answer, 429)["code"] == "rate_limited"
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert alice.get("/v1/campaigns").status_code == 200


@pytest.mark.parametrize(("proxies", "other"), [("", 429), ("127.0.0.1", 401)])
def test_a_forwarded_address_counts_only_behind_a_proxy_that_is_named(
    monkeypatch: pytest.MonkeyPatch, proxies: str, other: int
) -> None:
    monkeypatch.setattr(limits, "MOST_WRONG_KEYS", 5)
    with Service("sqlite", trusted_proxies=proxies) as service:

        def status(forwarded: str) -> int:
            headers = {"X-Api-Key": "nonsense", "X-Forwarded-For": forwarded}
            return httpx.get(f"{service.url}/v1/campaigns", headers=headers).status_code

        while status("198.51.100.1") == 401:
            pass
        assert (status("198.51.100.1"), status("198.51.100.2")) == (429, other)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_never_a_key_of_ours_is_refused_without_asking_the_database(engine: str) -> None:
    """The table of keys is gone: whoever asked for it would hear of that."""
    key = keys.generate()
    never = [
        "",
        "x",
        key[:-1] + ("a" if key[-1] != "a" else "b"),
        key[:9] + ("a" if key[9] != "a" else "b") + key[10:],
    ]

    async def asked(door: admission.Admission, key: str) -> Exception:
        with pytest.raises(Exception) as refusal:
            await door.admit(key, "198.51.100.1", 1)
        return refusal.value

    with OpenStore(engine) as opened:
        door = admission.admission(opened.store, 60, "https://refer.example.org")
        assert isinstance(opened.run(asked(door, key)), Unauthorized)
        opened.run(
            opened.store.write(lambda tx: tx.all(statement("ALTER TABLE api_key RENAME TO lost")))
        )
        assert not isinstance(opened.run(asked(door, key)), Unauthorized)
        for one in never:
            assert isinstance(opened.run(asked(door, one)), Unauthorized)


# -- the rate limit


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=ENGINES)
def strict_service(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param, rate_limit=5) as service:
        yield service


def test_the_sixth_of_five_allowed_requests_is_a_429_that_says_when_to_come_back(
    strict_service: Service,
) -> None:
    alice, bob = strict_service.member("alice"), strict_service.member("bob")
    calls = [
        ("GET", "/v1/campaigns"),
        ("GET", "/v2/subscribers/nobody"),
        ("GET", "/v2/subscribers?page=0"),
        ("POST", "/v2/subscribers"),
        ("HEAD", "/v1/campaigns"),
    ]
    for n, (method, path) in enumerate(calls):
        answer = alice.http.request(method, path)
        assert answer.status_code != 429
        assert answer.headers["x-ratelimit-limit"] == "5"
        assert answer.headers["x-ratelimit-remaining"] == str(4 - n)
        assert 0 <= int(answer.headers["x-ratelimit-reset"]) - strict_service.now_ms() / 1000 <= 61
    answer = alice.get("/v1/campaigns")
    assert refused(answer, 429)["code"] == "rate_limited"
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert answer.headers["x-ratelimit-remaining"] == "0"
    assert bob.get("/v1/campaigns").status_code == 200
    strict_service.set_clock(61)
    assert alice.get("/v1/campaigns").status_code == 200


def test_unauthenticated_requests_and_429s_are_not_counted(strict_service: Service) -> None:
    alice = strict_service.member("alice")
    for _ in range(8):
        httpx.get(f"{strict_service.url}/v1/campaigns")
        httpx.get(f"{strict_service.url}/v1/nothing", headers={"X-Api-Key": alice.key[:-1]})
    statuses = [alice.get("/v1/campaigns").status_code for _ in range(8)]
    assert statuses == [200] * 5 + [429] * 3


def test_without_a_limit_no_limit_is_told(alice: Member) -> None:
    assert not [name for name in alice.get("/v1/campaigns").headers if "ratelimit" in name]


# -- request ids and HEAD


def test_every_answer_has_a_request_id_of_its_own(alice: Member) -> None:
    seen = [
        alice.get(path).headers["x-request-id"]
        for path in ("/v1/campaigns", "/v1/nothing", "/v1/campaigns", alice.v1)
    ]
    assert len(set(seen)) == 4


def test_a_clients_own_request_id_is_used_when_it_is_harmless(alice: Member) -> None:
    assert (
        refused(alice.get("/v1/nothing", headers={"X-Request-Id": "job-7.b_C"}), 404)["request_id"]
        == "job-7.b_C"
    )
    for odd in ("x" * 65, "a b", "a;b", "<b>", ""):
        given = alice.get("/v1/campaigns", headers={"X-Request-Id": odd}).headers["x-request-id"]
        assert given != odd and re.fullmatch("[A-Za-z0-9._-]+", given)


@pytest.mark.parametrize(
    ("path", "status"),
    [("/v1/campaigns", 200), ("/v1/nothing", 404), ("/v2/subscribers?page=0", 400)],
)
def test_head_answers_as_get_without_the_body(alice: Member, path: str, status: int) -> None:
    told = alice.get(path)
    connection = http.client.HTTPConnection("127.0.0.1", alice.service.port)
    for _ in range(2):  # twice on one connection: no stray bytes follow the first
        connection.request(
            "HEAD",
            path,
            headers={"X-Api-Key": alice.key, "X-Request-Id": told.headers["x-request-id"]},
        )
        answer = connection.getresponse()
        assert answer.status == told.status_code == status
        assert answer.headers["content-length"] == told.headers["content-length"]
        assert answer.headers["content-type"] == told.headers["content-type"]
        assert answer.read() == b""
    connection.close()
