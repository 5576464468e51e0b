"""The API reference and the pages' common ground: static files, guarding headers, a kind word where
nothing is.
"""

import copy
import gzip
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import jsonschema_rs
import pytest

from honeyguide import app
from honeyguide.accounts.permissions import Role
from honeyguide.api.openapi import document
from honeyguide.api.routes import ROUTES
from honeyguide.pages import reference, static
from tests.support.service import Service
from tests.support.team import colleague
from tests.support.web import operator

DOCUMENT = document(ROUTES, "https://go.example.org")
OPERATIONS = [
    (path, method, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]
REFERENCE = reference.render(DOCUMENT)
HTML = "".join(REFERENCE.values())
KEYS_LINK = '<a href="/account/keys">'
LOADS = re.compile(
    r"""(?<![\w-]|\[)(?:src|href|action|poster|srcset)\s*=\s*["']([^"']*)|url\(\s*["']?([^"')]*)|@import\s+["']([^"']*)"""
)


@pytest.fixture(scope="module")
def visitor() -> Iterator[httpx.Client]:
    """A browser without a session."""
    with (
        Service("sqlite") as service,
        httpx.Client(base_url=service.url, verify=False) as client,
    ):
        yield client


@pytest.mark.parametrize(
    ("path", "method", "operation"), OPERATIONS, ids=lambda value: str(value)[:60]
)
def test_every_operation_is_explained(path: str, method: str, operation: dict[str, object]) -> None:
    start = HTML.index(f'<article class="operation" id="{operation["operationId"]}">')
    article = HTML[start : HTML.index("</article>", start)]
    plain = re.sub(r"<wbr>|</?i>|(?<=>)\s+(?=<)", "", article)
    assert f'<span class="method {method}">{method.upper()}</span><span>{path}</span>' in plain
    assert "$API_KEY" in plain
    assert "<summary>Errors</summary>" in plain
    (slug,) = re.findall(rf'href="/docs/([^"#]+)#{operation["operationId"]}"', REFERENCE[""])
    assert HTML.count(article) == 1 and article in REFERENCE[slug]
    for other, page in REFERENCE.items():
        address = "" if other == slug else f"/docs/{slug}"
        contents = page[: page.index("<main")]
        assert f'href="{address}#{operation["operationId"]}"' in contents, "found from every page"


@pytest.mark.parametrize(
    ("path", "method", "operation"), OPERATIONS, ids=lambda value: str(value)[:60]
)
def test_every_example_is_what_the_service_would_say(
    path: str, method: str, operation: dict[str, dict[str, dict]]
) -> None:
    reader = reference.SchemaReader(DOCUMENT)
    schemas = [
        next(answer for status, answer in operation["responses"].items() if status < "300")[
            "content"
        ]
    ]
    schemas += [operation["requestBody"]["content"]] if "requestBody" in operation else []
    for content in schemas:
        schema = content["application/json"]["schema"]
        checks = jsonschema_rs.Draft202012Validator(
            {**schema, "components": DOCUMENT["components"]}, validate_formats=True
        )
        checks.validate(reader.example(schema, 2))


def test_a_request_can_be_pasted_into_a_shell() -> None:
    assert (
        "curl https://go.example.org/v2/subscribers \\\n"
        "  -H &#34;X-Api-Key: $API_KEY&#34; \\\n"
        "  -H &#39;Content-Type: application/json&#39; \\\n"
        "  -d &#39;{\n  &#34;email&#34;: &#34;ana@example.org&#34;"
    ) in HTML


def test_nothing_is_loaded_from_outside() -> None:
    texts = [
        HTML,
        *(path.read_text() for path in static.FOLDER.rglob("*.js")),
        *(static.style_sheet(path.name) for path in static.FOLDER.glob("*.css")),
    ]
    targets = [
        target for text in texts for match in LOADS.findall(text) for target in match if target
    ]
    assert targets
    assert [
        target
        for target in targets
        if not target.startswith(("#", "/", "data:")) or target.startswith("//")
    ] == []


def test_the_page_keeps_its_own_security_policy() -> None:
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", HTML)


def test_its_pages_are_small() -> None:
    assert [
        slug for slug in REFERENCE if len(gzip.compress(REFERENCE[slug].encode())) > 15_000
    ] == []
    per_page = [page.count('<article class="operation"') for page in REFERENCE.values()]
    assert max(per_page) <= 8 and len(per_page) > 25


def test_words_of_the_document_cannot_become_markup() -> None:
    hostile = copy.deepcopy(DOCUMENT)
    operation = hostile["paths"]["/v1/campaigns"]["get"]
    operation["summary"] = operation["description"] = "<script>alert(1)</script> `<b>`"
    hostile["components"]["schemas"]["Campaign"]["properties"]["name"]["examples"] = [
        '</code><script>"&quot;'
    ]
    html = "".join(reference.render(hostile).values())
    assert html.count("<script") == HTML.count("<script")
    assert "<code>&lt;b&gt;</code>" in html


def test_the_reference_is_served(visitor: httpx.Client) -> None:
    answer = visitor.get("/docs")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-encoding"] == "gzip"
    base_url = str(visitor.base_url).rstrip("/")
    pages = reference.render(document(ROUTES, base_url))
    assert answer.text == pages[""]
    assert visitor.get("/docs/v2-subscribers").text == pages["v2-subscribers"]
    again = visitor.get("/docs", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert visitor.head("/docs").status_code == 200


def test_it_is_made_once_when_asked_for_and_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made_by: dict[str, list[int]] = {"document": [], "page": []}

    def noting(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*args: Any) -> Any:
            made_by[name].append(threading.get_ident())
            return make(*args)

        return made

    monkeypatch.setattr(app, "document", noting("document", document))
    monkeypatch.setattr(reference, "render", noting("page", reference.render))
    with Service("sqlite") as service:
        assert made_by == {"document": [], "page": []}
        for path in ("/openapi.json", "/docs", "/openapi.json", "/docs"):
            assert httpx.get(service.url + path, verify=False).status_code == 200
        loop_thread = service._thread.ident
    assert [len(threads) for threads in made_by.values()] == [1, 1]
    assert loop_thread not in {*made_by["document"], *made_by["page"]}


def test_files_are_kept_by_the_hash_of_their_content(visitor: httpx.Client) -> None:
    addresses = re.findall(r'"(/static/[^"]+)"', HTML)
    assert {address.split("?")[0].rsplit(".", 1)[1] for address in addresses} == {
        "css",
        "js",
        "svg",
    }
    for address in addresses:
        answer = visitor.get(address)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert visitor.get("/static/honeyguide.css").headers["cache-control"] == "no-cache"
    assert visitor.get("/static/honeyguide.css?v=0").headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("honeyguide.css", "text/css; charset=utf-8"),
        ("reference.js", "text/javascript; charset=utf-8"),
        ("mark.svg", "image/svg+xml"),
    ],
)
def test_files_say_what_they_are(visitor: httpx.Client, name: str, kind: str) -> None:
    assert visitor.get(static.address(name)).headers["content-type"] == kind


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/docs/nothing",
        "/static/nothing.css",
        "/static/",
        "/static/..%2Fsite.py",
        "/<b>",
    ],
)
def test_where_nothing_is_a_page_says_so(visitor: httpx.Client, path: str) -> None:
    answer = visitor.get(path)
    assert answer.status_code == 404
    assert "Page not found" in answer.text
    assert "<b>" not in answer.text


@pytest.mark.parametrize("path", ["/docs", "/nothing", "/static/honeyguide.css"])
def test_every_answer_is_guarded(visitor: httpx.Client, path: str) -> None:
    headers = visitor.get(path).headers
    for part in (
        "default-src 'self'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    ):
        assert part in headers["content-security-policy"]
    assert headers["referrer-policy"] == "strict-origin-when-cross-origin"
    assert headers["x-content-type-options"] == "nosniff"


def test_the_reference_takes_no_post(visitor: httpx.Client) -> None:
    assert visitor.post("/docs").status_code == 405


def test_the_reference_leads_to_the_keys_only_whoever_may_have_them(
    service: Service, visitor: httpx.Client
) -> None:
    alice = operator(service)
    assert KEYS_LINK in alice.web.get("/docs").text
    assert KEYS_LINK not in visitor.get("/docs").text and "API keys" in visitor.get("/docs").text
    for role in (Role.EDITOR, Role.FINANCE, Role.ANALYST):
        assert KEYS_LINK not in colleague(service, alice, role).web.get("/docs").text
    assert KEYS_LINK in colleague(service, alice, Role.OWNER).web.get("/docs").text
