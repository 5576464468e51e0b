"""What browsers are told about pages, embeds and the API, as docs/security.md says; and
/.well-known/security.txt.
"""

import re
from pathlib import Path

import httpx
import pytest

from honeyguide.api.system import security_txt
from honeyguide.kernel.clock import DAY_MS
from tests.support.embeds import SITE, embedding
from tests.support.service import Service
from tests.support.web import Operator, operator

ROOT = Path(__file__).parents[2]

DOCUMENT = Path(__file__).parents[2] / "docs/security.md"
CSP = "content-security-policy"
SAME_EVERYWHERE = {
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "x-permitted-cross-domain-policies": "none",
    "permissions-policy": (
        "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), usb=()"
    ),
}
PAGE = {
    **SAME_EVERYWHERE,
    "referrer-policy": "strict-origin-when-cross-origin",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
POLICY = (
    "default-src 'self'; style-src 'self'; img-src 'self' data:; script-src 'self'; "
    "object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
NOTHING = "default-src 'none'; frame-ancestors 'none'"


@pytest.fixture
def alice(service: Service) -> Operator:
    return operator(service)


def sent(answer: httpx.Response, expected: dict[str, str]) -> dict[str, str | None]:
    return {name: answer.headers.get(name) for name in expected}


@pytest.mark.parametrize("path", ["/", "/subscribers/export.csv", "/login", "/nothing-here"])
def test_pages_of_the_dashboard(alice: Operator, path: str) -> None:
    expected = PAGE | {CSP: POLICY}
    assert sent(alice.web.get(path), expected) == expected


@pytest.mark.parametrize("path", ["/hub", "/join/nobody"])
def test_pages_of_readers(alice: Operator, path: str) -> None:
    expected = PAGE | {CSP: POLICY}
    answer = alice.web.get(path)
    if answer.status_code == 404:  # says nothing of the address that was asked for
        expected["referrer-policy"] = "no-referrer"
    assert sent(answer, expected) == expected


def test_what_websites_of_others_show_is_not_refused_there(alice: Operator) -> None:
    alice.web.post("/look/embed", origins=SITE, keep_days="30", form_selector="")
    frame = alice.web.get(f"/embed/{embedding(alice).public_id}/frame/signup")
    assert f"frame-ancestors {SITE}" in frame.headers[CSP]
    assert "x-frame-options" not in frame.headers
    script = alice.web.get("/embed/honeyguide.js")
    assert script.headers["cross-origin-resource-policy"] == "cross-origin"
    # Link hosts load the style sheets of reader pages from here.
    style = alice.web.get("/static/reader.css")
    assert "cross-origin-resource-policy" not in style.headers
    for answer in (frame, script, style):
        assert sent(answer, SAME_EVERYWHERE) == SAME_EVERYWHERE


@pytest.mark.parametrize("path", ["/v1/campaigns", "/v2/nothing", "/openapi.json", "/healthz"])
def test_what_machines_ask_for_runs_nothing_in_a_browser(alice: Operator, path: str) -> None:
    answer = alice.http.get(path)
    assert answer.headers[CSP] == NOTHING
    assert answer.headers["x-content-type-options"] == "nosniff"
    if path.startswith("/v"):
        assert answer.headers["cache-control"] == "no-store"


def test_the_document_has_every_header_and_value(alice: Operator) -> None:
    text = DOCUMENT.read_text()
    for name, value in (PAGE | {CSP: POLICY}).items():
        assert f"`{name}`" in text.lower() and value in text, name
    assert NOTHING in text


def test_security_txt_names_the_contact_and_ends_within_a_year(service: Service) -> None:
    answer = httpx.get(f"{service.url}/.well-known/security.txt", verify=False)
    assert answer.status_code == 404 and "names nobody" in answer.json()["error"]
    now_ms = 20_000 * DAY_MS + 5
    assert security_txt("", "Wax <a@wax.example>", "https://r.example", now_ms=now_ms) == (
        "Contact: mailto:a@wax.example\n"
        "Expires: 2025-04-02T00:00:00.000Z\n"
        "Preferred-Languages: en\n"
        "Canonical: https://r.example/.well-known/security.txt\n"
    )
    page = security_txt("https://wax.example/security", "", "https://r.example", now_ms=now_ms)
    assert page is not None and page.startswith("Contact: https://wax.example/security\n")


def test_llms_txt_says_where_to_read_on(service: Service) -> None:
    answer = httpx.get(f"{service.url}/llms.txt", verify=False)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith("# Honeyguide\n\n> Runs the referral program")
    links = re.findall(r"\]\((\S+)\)", answer.text)
    assert len(links) == 5 and all(link.startswith(service.url) for link in links)
    guide = [link for link in links if "/docs/guide/" in link]
    for link in guide:
        document = link.rpartition("/")[2].replace(".html", ".md")
        assert (ROOT / "docs" / document).is_file(), link
    for link in set(links) - set(guide):
        assert httpx.get(link, verify=False).status_code == 200


def test_security_txt_is_served_where_a_contact_is_set() -> None:
    with Service("sqlite", security_contact="security@wax.example") as service:
        answer = httpx.get(f"{service.url}/.well-known/security.txt", verify=False)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith("Contact: mailto:security@wax.example\nExpires: ")
