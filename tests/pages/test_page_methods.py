"""A page that refuses a method names the methods it takes (RFC 9110, section 15.5.6)."""

import re

import httpx
import pytest

from honeyguide.pages.dashboard.routes import PAGES
from tests.support.service import Service

ALLOWED = {
    "/login": "GET, HEAD, POST",
    "/logout": "POST",
    "/docs": "GET, HEAD",
    "/hub": "GET, HEAD, POST",
    "/join/wax": "GET, HEAD, POST",
    "/m/code": "GET, HEAD, POST",
    "/r/code": "GET, HEAD",
    "/static/x": "GET, HEAD",
}


@pytest.mark.parametrize("path", ALLOWED)
def test_a_405_page_has_an_allow_header(service: Service, path: str) -> None:
    answer = httpx.put(service.url + path, verify=False)
    assert (answer.status_code, answer.headers["allow"]) == (405, ALLOWED[path])


def test_every_page_of_the_dashboard_names_all_methods_it_takes(service: Service) -> None:
    with httpx.Client(base_url=service.url, verify=False) as http:
        for page in PAGES:
            answer = http.delete(re.sub(r"\{\w+\}", "x", page.path))
            allowed = answer.headers["allow"].split(", ")
            assert answer.status_code == 405 and page.method in allowed, (page.path, allowed)
