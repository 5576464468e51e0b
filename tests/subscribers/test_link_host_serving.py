"""What a link host serves: its account's links, and nothing else. On both engines."""

import itertools
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from honeyguide.api.routes import ROUTES
from honeyguide.events.name_servers import TextRecords
from honeyguide.pages.dashboard.routes import PAGES
from honeyguide.pages.readers.routes import PAGES as READER_PAGES
from honeyguide.subscribers import campaigns, clicks, codes, link_hosts
from honeyguide.subscribers.codes import CodeHolder
from tests.support import partner_network
from tests.support.http_client import local_client
from tests.support.prizes import tenant_of
from tests.support.readings import in_account, reading
from tests.support.service import ENGINES, Service
from tests.support.web import Operator, operator

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


@pytest.fixture(scope="module", params=ENGINES)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param) as running:
        yield running


@pytest.fixture(scope="module")
def alice(service: Service) -> Operator:
    """She has a verified host, `go.alice.example`."""
    who = operator(service)
    verify(who, "go.alice.example")
    return who


def verify(who: Operator, host: str) -> str:
    asked, _ = who.make(link_hosts.add, host)
    who.make(link_hosts.record_check, asked.id, TextRecords((asked.token,)))
    return str(asked.id)


def ask(
    service: Service, path: str, host: str = "go.alice.example", method: str = "GET"
) -> httpx.Response:
    with local_client(service.url, {"user-agent": BROWSER}) as http:
        return http.request(method, path, headers={"host": host})


def ref_of(answer: httpx.Response) -> str | None:
    assert answer.status_code in (302, 404), answer.text
    query = parse_qs(urlsplit(answer.headers.get("location", "")).query)
    return query.get("ref", query.get("partner", [None]))[0]


def adopt(who: Operator, code: str) -> dict[str, str]:
    reader = who.subscribe(f"{code.lower()}-{who.account_id[-4:]}@example.org")
    assert who.make(codes.adopt, [CodeHolder(code, reader["uuid"])]) == []
    return reader


def test_codes_of_ours_and_of_the_old_tool_lead_to_the_right_person(
    service: Service, alice: Operator
) -> None:
    reader = adopt(alice, "Anna-2f9c")
    ours = reader["ref_code"]
    for path in (f"/{ours}", f"/{ours.upper()}", "/Anna-2f9c", "/anna-2f9c", "/%41nna-2f9c"):
        assert ref_of(ask(service, path)) == ours, path
    answer = ask(service, "/Anna-2f9c?utm_source=x&ref=evil")
    assert answer.headers["location"].endswith(f"?utm_source=x&ref={ours}")
    assert answer.headers["cache-control"] == "no-store" and "set-cookie" not in answer.headers
    assert ask(service, f"/{ours}", method="HEAD").status_code == 302
    for host in ("GO.Alice.example", "go.alice.example.", "go.alice.example:8443"):
        assert ref_of(ask(service, f"/{ours}", host)) == ours, host


def test_a_click_on_a_link_host_is_counted(service: Service, alice: Operator) -> None:
    reader = adopt(alice, "clicked-1")
    assert ref_of(ask(service, "/clicked-1")) == reader["ref_code"]
    service.run(service.application._links.counter.flush())
    code, campaign = reader["ref_code"], alice.campaign_id
    assert (
        service.read(lambda tx: clicks.total(in_account(tx, alice.account_id), campaign, code)) == 1
    )


def test_codes_of_another_account_lead_nowhere(service: Service, alice: Operator) -> None:
    bob = operator(service, "bob")
    verify(bob, "go.bob.example")
    his, hers = adopt(bob, "shared-code"), adopt(alice, "shared-code")
    assert ref_of(ask(service, "/shared-code")) == hers["ref_code"]
    assert ref_of(ask(service, "/shared-code", "go.bob.example")) == his["ref_code"]
    assert ref_of(ask(service, f"/{his['ref_code']}")) is None
    # A further code of hers may look like one of ours that he has.
    taken = adopt(alice, his["ref_code"].upper())
    assert ref_of(ask(service, f"/{his['ref_code']}")) == taken["ref_code"]


def test_partner_links_are_those_of_the_accounts_programs(
    service: Service, alice: Operator
) -> None:
    bob = operator(service, "bob")
    verify(bob, "go.partner.example")
    code = partner_network.join(bob, partner_network.offer(alice))["ref_code"]
    assert ref_of(ask(service, f"/p/{code}")) == code
    assert ref_of(ask(service, f"/p/{code}", "go.partner.example")) is None
    assert ref_of(ask(service, f"/{code}")) is None


def test_an_erased_subscribers_links_lead_nowhere(service: Service, alice: Operator) -> None:
    reader = adopt(alice, "erased-1")
    assert ref_of(ask(service, "/erased-1")) is not None
    assert alice.delete(f"{alice.v1}/subscribers/{reader['uuid']}").status_code == 200
    assert ref_of(ask(service, "/erased-1")) is None
    assert ref_of(ask(service, f"/{reader['ref_code']}")) is None


ELSEWHERE = sorted(
    {
        *(page.path for page in (*PAGES, *READER_PAGES)),
        *(route.path for route in ROUTES),
        *("/healthz", "/readyz", "/metrics", "/openapi.json", "/internal/tls", "/docs"),
        *("/static/dashboard.css", "/embed/honeyguide.js", "/api", "/dashboard/", "/join/x"),
        *("/favicon.ico", "/r/{code}", "/m/{code}", "//login", "/login/", "/.well-known/nothing"),
    }
)


def test_nothing_else_is_there(service: Service, alice: Operator) -> None:
    code = adopt(alice, "elsewhere-1")["ref_code"]
    cookies = "; ".join(f"{name}={value}" for name, value in alice.web.http.cookies.items())
    with local_client(service.url, {"x-api-key": alice.key, "cookie": cookies}) as http:
        assert http.get("/").status_code == 200, "she is logged in"
        others = itertools.cycle(("POST", "PUT", "DELETE", "OPTIONS", "HEAD"))
        for path in (each.format_map(_Named(code)) for each in ELSEWHERE):
            for method in ("GET", next(others)):
                answer = http.request(
                    method, path + "?domain=go.alice.example", headers={"host": "go.alice.example"}
                )
                assert answer.status_code == 404, f"{method} {path}"
                assert "set-cookie" not in answer.headers
                assert answer.headers["content-type"].startswith("text/plain")


def test_who_follows_a_wrong_link_finds_the_newsletter(service: Service, alice: Operator) -> None:
    base = service.settings.base_url
    slug = service.read(lambda tx: campaigns.get(reading(tx, tenant_of(alice)))).slug
    with local_client(service.url, {"accept": "text/html", "accept-language": "de"}) as http:
        answer = http.get("/mistyped", headers={"host": "go.alice.example"})
        posted = http.post("/mistyped", headers={"host": "go.alice.example"})
    assert answer.status_code == 404 and f'<base href="{base}/">' in answer.text
    assert f'href="/hub?of={slug}"' in answer.text and "<script" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert f"style-src {base};" in answer.headers["content-security-policy"]
    assert "set-cookie" not in answer.headers
    assert posted.headers["content-type"].startswith("text/plain")


class _Named(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return self.setdefault(name, next(iter(self.values()), "x"))

    def __init__(self, code: str) -> None:
        super().__init__(code=code)


def test_robots_may_follow_links(service: Service, alice: Operator) -> None:
    answer = ask(service, "/robots.txt")
    assert (answer.status_code, answer.text) == (200, "User-agent: *\nDisallow:\n")


def test_a_host_that_nobody_verified_is_answered_as_before(
    service: Service, alice: Operator
) -> None:
    alice.make(link_hosts.add, "go.waiting.example")
    for host in ("go.waiting.example", "unknown.example", "localhost", "127.0.0.1:1", "[::1]"):
        assert ask(service, "/login", host).status_code == 200, host
        assert ask(service, "/healthz", host).status_code == 200, host


def test_a_removed_host_is_forgotten_at_once(service: Service) -> None:
    bob = operator(service, "bob")
    host_id = verify(bob, "go.removed.example")
    assert ask(service, "/login", "go.removed.example").status_code == 404
    bob.make(link_hosts.remove, host_id)
    assert ask(service, "/login", "go.removed.example").status_code == 200


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("domain=go.alice.example", 200),
        ("domain=GO.alice.example.", 200),
        ("domain=go.unverified.example", 404),
        ("domain=unknown.example", 404),
        ("domain=127.0.0.1", 404),
        ("domain=localhost", 404),
        ("domain=a.go.alice.example", 404),
        ("domain=", 404),
        ("", 404),
        ("domain=%00", 404),
        ("domain=%ff", 404),
    ],
)
def test_a_proxy_may_get_certificates_for_verified_hosts_only(
    service: Service, alice: Operator, query: str, status: int
) -> None:
    alice.make(link_hosts.add, "go.unverified.example")
    answer = httpx.get(f"{service.url}/internal/tls?{query}", verify=False)
    assert answer.status_code == status, answer.text
    assert alice.account_id not in answer.text and "alice" not in answer.text
