"""The proxy examples of `deploy/`, with the real Caddy and nginx in front of the real server."""

import asyncio
import base64
import json
import os
import re
from collections.abc import Iterator
from html import unescape

import httpx
import pytest
import trustme

from honeyguide.accounts import members, passwords
from honeyguide.store import open_store
from tests.support.partner_network import png, publication_fields
from tests.support.process import Credentials, Serving, migrated, new_account
from tests.support.proxies import HOST, Proxy
from tests.support.web import PASSWORD, text_of
from tests.support.webhook_receiver import WebhookReceiver

pytestmark = pytest.mark.long
BASE = f"https://{HOST}"
FEW_WRONG_KEYS = "from honeyguide.accounts import limits; limits.MOST_WRONG_KEYS = 5"
# The HTTP client reads the trusted certificates when it is imported. The process that the tests'
# commands are forked from may have imported it before SSL_CERT_FILE was set.
READ_CERTIFICATES = (
    "from aiohttp import connector; connector._SSL_CONTEXT_VERIFIED.load_default_certs()"
)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """Vouches for the receiver of webhooks."""
    return trustme.CA()


@pytest.fixture(scope="module")
def receiver(authority: trustme.CA) -> Iterator[WebhookReceiver]:
    with WebhookReceiver(authority.issue_cert("127.0.0.1")) as receiver:
        yield receiver


@pytest.fixture(scope="module")
def server(authority: trustme.CA) -> Iterator[Serving]:
    server = Serving(
        migrated("sqlite"),
        base_url=BASE,
        test_clock="",
        trusted_proxies="127.0.0.1",
        webhook_allow="127.0.0.0/8",
    )
    server.before = f"{FEW_WRONG_KEYS}; {READ_CERTIFICATES}"
    with authority.cert_pem.tempfile() as trusted, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", trusted)
        with server:
            yield server


@pytest.fixture(scope="module", params=["caddy", "nginx"])
def proxy(request: pytest.FixtureRequest, server: Serving) -> Iterator[Proxy]:
    with Proxy(request.param, server.port) as proxy:
        yield proxy


@pytest.fixture
def alice(server: Serving) -> Credentials:
    return new_account(server.database_url, f"alice{os.urandom(4).hex()}@example.org")


@pytest.fixture
def api(proxy: Proxy, alice: Credentials) -> Iterator[httpx.Client]:
    with proxy.client(**{"x-api-key": alice.key}) as client:
        yield client


@pytest.fixture
def browser(proxy: Proxy, server: Serving, alice: Credentials) -> Iterator[httpx.Client]:
    asyncio.run(_set_password(server.database_url, alice.account_id))
    with proxy.client() as client:
        fields = {"email": alice.email, "password": PASSWORD, "csrf": _csrf(client, "/login")}
        answer = client.post("/login", data=fields)
        assert answer.status_code == 303, text_of(answer.text)
        yield client


async def _set_password(database_url: str, account_id: str) -> None:
    store = await open_store(database_url)
    try:
        user_id = await store.read(members.first_owner, account_id)
        await store.write(passwords.set_hash, user_id, await passwords.hashed(PASSWORD))
    finally:
        await store.close()


def _csrf(client: httpx.Client, path: str) -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get(path).text)
    assert found, path
    return found[1]


def _join(client: httpx.Client, page: str, email: str) -> None:
    hidden = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', client.get(page).text)
    fields = {unescape(name): unescape(value) for name, value in hidden} | {"email": email}
    answer = client.post(page.partition("?")[0], data=fields)
    assert answer.status_code == 303, text_of(answer.text)


def test_http_is_redirected_to_https(proxy: Proxy) -> None:
    answer = httpx.get(
        f"http://127.0.0.1:{proxy.http_port}/docs?a=b%20c", headers={"host": HOST}, timeout=30
    )
    port = answer.headers["location"].removeprefix(BASE).removesuffix("/docs?a=b%20c")
    assert answer.status_code == 308 and port in ("", f":{proxy.https_port}")


def test_metrics_are_not_public(proxy: Proxy) -> None:
    with proxy.client() as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/metrics").status_code == 404


def test_wrong_keys_are_limited_by_the_clients_address(proxy: Proxy) -> None:
    third = 1 + os.urandom(1)[0] % 250  # the server still remembers those of the other proxy
    for spoofed in ("", "203.0.113.9"):
        headers = {"x-api-key": "nonsense"} | ({"x-forwarded-for": spoofed} if spoofed else {})
        third += 1
        with proxy.client(f"127.0.{third}.2", **headers) as one:
            statuses = [one.get("/v1/campaigns").status_code for _ in range(7)]
        assert statuses[0] == 401 and statuses[-1] == 429
        with proxy.client(f"127.0.{third}.3", **headers) as other:
            assert other.get("/v1/campaigns").status_code == 401


def test_screening_sees_the_readers_address(
    proxy: Proxy, api: httpx.Client, alice: Credentials
) -> None:
    page = _signup_page(api, alice)
    with proxy.client("127.0.9.2") as reader:
        _join(reader, page, "ana@example.org")
        ana = _subscribers(api, alice)["ana@example.org"]
        _join(reader, f"{page}?ref={ana['ref_code']}", "ana.again@example.org")
    # Claims to have the referrer's address.
    with proxy.client("127.0.9.3", **{"x-forwarded-for": "127.0.9.2"}) as friend:
        _join(friend, f"{page}?ref={ana['ref_code']}", "ben@example.org")
    found = _subscribers(api, alice)
    assert {email: each["ip_address"] for email, each in found.items()} == {
        "ana@example.org": "127.0.9.2",
        "ana.again@example.org": "127.0.9.2",
        "ben@example.org": "127.0.9.3",
    }
    assert _is_from_referrers_network(api, alice, found["ana.again@example.org"])
    assert not _is_from_referrers_network(api, alice, found["ben@example.org"])


def _signup_page(api: httpx.Client, alice: Credentials) -> str:
    settings = api.get(f"{alice.v1}/settings").json()["settings"]
    url = str(settings["signup_page_url"])
    assert url.startswith(f"{BASE}/join/")
    return url.removeprefix(BASE)


def _subscribers(api: httpx.Client, alice: Credentials) -> dict[str, dict[str, str]]:
    return {
        each["email"]: each for each in api.get(f"{alice.v1}/subscribers").json()["subscribers"]
    }


def _is_from_referrers_network(
    api: httpx.Client, alice: Credentials, person: dict[str, str]
) -> bool:
    referral = api.get(f"{alice.v1}/subscribers/{person['uuid']}/referral").json()["referral"]
    return bool(referral["signals"]["same_network_as_referrer"])


def test_a_body_over_the_limit_is_a_clear_413(proxy: Proxy, api: httpx.Client) -> None:
    for size in (3, 30):
        for _ in range(5):
            answer = api.post("/v2/publications", content=b" " * (size * 1024 * 1024))
            assert answer.status_code == 413, (answer.text, proxy.output)
            assert answer.json()["error"] == "The body is larger than 2 MB."


def test_an_upload_over_the_limit_is_a_clear_413(proxy: Proxy, browser: httpx.Client) -> None:
    fields = {"csrf": _csrf(browser, "/subscribers/import")}
    for _ in range(5):
        files = {"file": ("people.csv", b"a" * (30 * 1024 * 1024), "text/csv")}
        answer = browser.post("/subscribers/import", data=fields, files=files)
        assert answer.status_code == 413, (answer.text, proxy.output)
        assert "The upload is too large." in text_of(answer.text)


def test_a_csv_file_is_uploaded(browser: httpx.Client) -> None:
    rows = "".join(f"reader{n}@example.org,{'x' * 80}\n" for n in range(50_000))
    answer = browser.post(
        "/subscribers/import",
        data={"csrf": _csrf(browser, "/subscribers/import")},
        files={"file": ("people.csv", f"email,note\n{rows}".encode(), "text/csv")},
    )
    assert answer.status_code == 303, text_of(answer.text)
    assert "people.csv" in browser.get(answer.headers["location"]).text


def test_a_logo_is_uploaded_and_served(api: httpx.Client) -> None:
    # Noise does not compress: this is nearly the largest logo allowed, and larger as base64.
    logo = png() + os.urandom(1_040_000)
    fields = publication_fields(logo=base64.b64encode(logo).decode())
    answer = api.post("/v2/publications", json=fields)
    assert answer.status_code == 201, answer.text
    url = answer.json()["publication"]["logo_url"]
    assert url.startswith(f"{BASE}/logos/")
    served = api.get(url.removeprefix(BASE))
    assert served.status_code == 200 and served.headers["content-type"] == "image/png"


def test_absolute_urls_are_https(
    proxy: Proxy, api: httpx.Client, alice: Credentials, receiver: WebhookReceiver
) -> None:
    url = f"https://127.0.0.1:{receiver.port}/hook"
    made = api.post("/v2/webhooks", json={"url": url, "new_referral": True})
    assert made.status_code == 201, made.text
    subscribers = f"{alice.v1}/subscribers"
    ana = api.post(subscribers, json={"email": "ana@example.org"}).json()["subscriber"]
    referred = {"email": "ben@example.org", "referrer_code": ana["ref_code"]}
    assert api.post(subscribers, json=referred).status_code == 201
    assert f'"{BASE}/r/{ana["ref_code"]}"' in json.dumps(receiver.got.get(timeout=30))
    assert f"<{BASE}{subscribers}?" in api.get(f"{subscribers}?per_page=1").headers["link"]
    with proxy.client() as reader:
        assert "http://" not in reader.get(_signup_page(api, alice)).text
        link = reader.get(f"/r/{ana['ref_code']}")
        assert link.headers["location"].startswith(f"{BASE}/join/")
        asked = reader.get("/subscribers")
        assert asked.status_code == 303 and asked.headers["location"].startswith("/login")


def test_the_session_cookie_is_secure(browser: httpx.Client) -> None:
    assert [cookie.name for cookie in browser.cookies.jar if cookie.secure] == [
        "__Host-hg_session",
        "__Host-hg_known",
    ]
