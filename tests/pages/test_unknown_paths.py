"""Where nothing is: a page for people, JSON for programs. On both engines."""

import pytest

from tests.support.http_client import local_client
from tests.support.service import Service

JSON = {"accept": "application/json"}


@pytest.mark.parametrize("path", ["/unknown", "/subscriber/x/y/z", "/%00"])
def test_a_program_gets_json_and_a_person_a_page(service: Service, path: str) -> None:
    http = local_client(service.url, {})
    answer = http.get(path, headers=JSON)
    assert answer.status_code == 404 and answer.headers["content-type"] == "application/json"
    found = answer.json()
    assert found.keys() == {"error", "code", "request_id"}
    assert found["code"] == "not_found" and found["error"].endswith(".") and found["request_id"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    for accept in ("text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8", "*/*", ""):
        page = http.get(path, headers={"accept": accept})
        assert page.status_code == 404 and page.headers["content-type"].startswith("text/html")


def test_a_wrong_method_is_json_too(service: Service) -> None:
    answer = local_client(service.url, {}).request("PUT", "/login", headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert answer.headers["allow"] == "GET, HEAD, POST"
