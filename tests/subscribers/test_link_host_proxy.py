"""Link hosts behind the real Caddy, with the part of `deploy/Caddyfile` that is for them: a host
gets its certificate when it is first asked for, if Honeyguide says that it is verified, and only
then.
"""

import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from tests.subscribers.test_link_host_serving import verify
from tests.support.proxies import HOST, Proxy
from tests.support.service import Service
from tests.support.web import Operator, operator

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with Service("sqlite", trusted_proxies="127.0.0.1") as service:
        yield service


@pytest.fixture(scope="module")
def alice(service: Service) -> Operator:
    return operator(service)


@pytest.fixture(scope="module")
def caddy(service: Service) -> Iterator[Proxy]:
    with Proxy("caddy", urlsplit(service.url).port or 0, link_hosts=True) as caddy:
        yield caddy


def ask(caddy: Proxy, host: str, path: str) -> httpx.Response:
    """By the certificate authority that Caddy made for itself."""
    (authority,) = caddy.folder.glob("caddy/pki/authorities/local/root.crt")
    trust = ssl.create_default_context(cafile=str(authority))
    with httpx.Client(verify=trust, timeout=30) as http:
        return http.get(
            f"https://127.0.0.1:{caddy.https_port}{path}",
            headers={"host": host, "user-agent": "Mozilla/5.0 Firefox/145.0"},
            extensions={"sni_hostname": host},
        )


def test_a_verified_host_gets_its_certificate_and_serves_links(
    caddy: Proxy, alice: Operator
) -> None:
    verify(alice, "go.alice.example")
    code = alice.subscribe("lea@example.org")["ref_code"]
    found = ask(caddy, "go.alice.example", f"/{code}")
    assert found.status_code == 302 and code in found.headers["location"]
    assert ask(caddy, "go.alice.example", "/login").status_code == 404
    assert (
        ask(caddy, "go.alice.example", "/internal/tls?domain=go.alice.example").status_code == 404
    )


@pytest.mark.parametrize("host", ["go.mallory.example", "asked.alice.example"])
def test_no_other_host_gets_one(caddy: Proxy, alice: Operator, host: str) -> None:
    """Nobody asked for the first; for the second, the record was never found."""
    if host.startswith("asked"):
        alice.web.post("/settings/link-hosts", host=host)
    with pytest.raises(httpx.ConnectError, match=r"(?i)tls|ssl"):
        ask(caddy, host, "/")


@pytest.mark.parametrize("host", [HOST, "nobody.example.org", "127.0.0.1:8000", "localhost"])
@pytest.mark.parametrize("path", ["/metrics", "/internal/tls?domain=go.alice.example"])
def test_what_is_for_the_machine_itself_is_found_at_no_host(
    caddy: Proxy, host: str, path: str
) -> None:
    """Caddy looks at the Host header, whatever name the certificate was asked for."""
    with caddy.client(host=host) as http:
        assert http.get("/healthz").status_code == 200
        assert http.get(path).status_code == 404


def test_the_installations_own_host_is_as_before(caddy: Proxy) -> None:
    with caddy.client() as http:
        assert http.get("/healthz").status_code == 200
        assert http.get("/internal/tls?domain=go.alice.example").status_code == 404
