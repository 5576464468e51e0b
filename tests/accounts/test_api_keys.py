"""How an API key is read, refused and revoked."""

import http.client

import httpx
import pytest

from honeyguide.accounts import admission, keys, limits
from honeyguide.kernel.errors import Unauthorized
from tests.api.test_errors import check_shape, refused
from tests.support import raw
from tests.support.service import ENGINES, Member, Service
from tests.support.stores import OpenStore, statement


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
        refused(httpx.get(alice.service.url + path, headers=headers, verify=False), 401)


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
    (key,) = alice.service.read(lambda tx: keys.of_account(tx, alice.account_id))
    alice.make(keys.revoke, key.id)
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
            verify=False,
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
            return httpx.get(
                f"{service.url}/v1/campaigns", headers=headers, verify=False
            ).status_code

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
