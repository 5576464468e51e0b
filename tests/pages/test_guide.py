"""The documentation inside the service, as files that somebody built, and without them."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import honeyguide
from honeyguide.pages import guide
from tests.support.documents import ROOT
from tests.support.service import Service


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("guide")
    (folder / "index.html").write_text("<h1>Honeyguide</h1>")
    (folder / "webhooks.html").write_text("<h1>Webhooks</h1>")
    (folder / "searchindex.js").write_text("Search.setIndex({})")
    (folder.parent / "secret.html").write_text("not part of it")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guide, "FOLDER", folder)
        with (
            Service("sqlite") as service,
            httpx.Client(base_url=service.url, verify=False) as client,
        ):
            yield client


def test_it_is_served_with_the_headers_of_all_pages(visitor: httpx.Client) -> None:
    first, page = visitor.get("/docs/guide/"), visitor.get("/docs/guide/webhooks.html")
    assert (first.text, page.text) == ("<h1>Honeyguide</h1>", "<h1>Webhooks</h1>")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src 'self';" in page.headers["content-security-policy"]
    index = visitor.get("/docs/guide/searchindex.js")
    assert index.headers["content-type"] == "text/javascript; charset=utf-8"


def test_after_an_upgrade_nobody_reads_the_old_pages(visitor: httpx.Client) -> None:
    page = visitor.get("/docs/guide/webhooks.html")
    assert page.headers["cache-control"] == "no-cache"
    same = {"If-None-Match": page.headers["etag"]}
    assert visitor.get("/docs/guide/webhooks.html", headers=same).status_code == 304


def test_its_address_works_without_the_last_slash(visitor: httpx.Client) -> None:
    answer = visitor.get("/docs/guide")
    assert answer.status_code == 307
    assert answer.headers["location"].endswith("/docs/guide/")


@pytest.mark.parametrize(
    "path", ["nothing.html", "..%2Fsecret.html", "%2e%2e/secret.html", "%00", "webhooks.html/more"]
)
def test_where_it_has_no_page_there_is_none(visitor: httpx.Client, path: str) -> None:
    answer = visitor.get(f"/docs/guide/{path}")
    assert answer.status_code == 404
    assert "Page not found" in answer.text


def test_the_reference_stays_where_it_is(visitor: httpx.Client) -> None:
    assert "API reference" in visitor.get("/docs").text


@pytest.mark.parametrize("path", ["/docs/guide", "/docs/guide/", "/docs/guide/webhooks.html"])
def test_without_it_the_address_leads_to_the_documents_of_the_project(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guide, "FOLDER", tmp_path)
    with Service("sqlite") as service:
        answer = httpx.get(service.url + path, verify=False)
    assert (answer.status_code, answer.headers["location"]) == (302, honeyguide.DOCUMENTS_URL)


def test_the_package_and_the_service_name_the_same_addresses() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    assert (urls["Source"], urls["Documentation"], urls["Issues"]) == (
        honeyguide.PROJECT_URL,
        honeyguide.DOCUMENTS_URL,
        honeyguide.ISSUES_URL,
    )
