"""Strict-Transport-Security: on every answer of a service with an https address, whoever answers,
and on none with plain http.
"""

import httpx
import pytest

from tests.support import raw
from tests.support.service import Service

HEADER = "strict-transport-security"
PATHS = {
    "a page": ("/password", 200),
    "a redirect": ("/", 303),
    "a page that is not there": ("/nothing/here", 404),
    "a reader's page": ("/hub", 200),
    "a link": ("/r/nobody", 404),
    "a style sheet": ("/static/style.css", None),
    "a NUL": ("/hooks/%00", 404),
    "an embed": ("/embed/nobody/config", 404),
    "the API": ("/v1/campaigns", 401),
    "the API's document": ("/openapi.json", 200),
    "liveness": ("/healthz", 200),
    "metrics": ("/metrics", 200),
}


@pytest.mark.parametrize("base_url", ["https://127.0.0.1:1", "http://127.0.0.1:1"])
def test_browsers_are_told_to_come_by_https_alone(base_url: str) -> None:
    expected = "max-age=31536000" if base_url.startswith("https:") else None
    with (
        Service("sqlite", base_url=base_url) as service,
        httpx.Client(base_url=service.url, verify=False) as web,
    ):
        for name, (path, status) in PATHS.items():
            answer = web.get(path)
            assert status in (None, answer.status_code), name
            assert answer.headers.get(HEADER) == expected, name
        assert web.post("/healthz").headers.get(HEADER) == expected
        assert raw.send(service, b"nonsense\r\n\r\n").headers.get(HEADER) == expected
        large = b"GET / HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 100_000 + b"\r\n\r\n"
        assert raw.send(service, large).headers.get(HEADER) == expected
