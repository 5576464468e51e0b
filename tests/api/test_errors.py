"""Every refusal on an API path: its status, its JSON shape, its headers. Never HTML, never a stack
trace.
"""

import http.client
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support import raw
from tests.support.service import ENGINES, ONE_ENGINE, Member, Service

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
@ONE_ENGINE
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


MACHINE_PATHS = ["/healthz", "/readyz", "/metrics", "/openapi.json", "/.well-known/honeyguide"]
MACHINE_PATHS += ["/.well-known/security.txt", "/llms.txt"]


@pytest.mark.parametrize("path", MACHINE_PATHS)
def test_a_wrong_method_is_the_same_405_where_machines_ask(service: Service, path: str) -> None:
    answer = httpx.post(service.url + path, verify=False)
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
@ONE_ENGINE
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
        httpx.get(f"{strict_service.url}/v1/campaigns", verify=False)
        httpx.get(
            f"{strict_service.url}/v1/nothing", headers={"X-Api-Key": alice.key[:-1]}, verify=False
        )
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
    found = alice.get(path)
    connection = http.client.HTTPConnection("127.0.0.1", alice.service.port)
    for _ in range(2):  # twice on one connection: no stray bytes follow the first
        connection.request(
            "HEAD",
            path,
            headers={"X-Api-Key": alice.key, "X-Request-Id": found.headers["x-request-id"]},
        )
        answer = connection.getresponse()
        assert answer.status == found.status_code == status
        assert answer.headers["content-length"] == found.headers["content-length"]
        assert answer.headers["content-type"] == found.headers["content-type"]
        assert answer.read() == b""
    connection.close()
