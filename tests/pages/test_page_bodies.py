"""No page reads a body for ever: neither one that never ends nor one that never comes, whoever
sends it.
"""

import pytest

from honeyguide.pages import site
from tests.support import raw
from tests.support.newsletter import Newsletter
from tests.support.service import Service

FORM = "application/x-www-form-urlencoded"
UPLOAD = "multipart/form-data; boundary=b"


def head(service: Service, path: str, kind: str, length: int) -> bytes:
    lines = (
        f"POST {path} HTTP/1.1",
        f"Host: 127.0.0.1:{service.port}",
        f"Origin: {service.url}",
        f"Content-Type: {kind}",
        f"Content-Length: {length}",
        "",
        "",
    )
    return "\r\n".join(lines).encode()


@pytest.mark.parametrize("path", ["join", "/login", "/signup", "/hub"])
def test_a_form_that_trickles_in_is_a_408_and_the_end_of_its_connection(
    wax: Newsletter, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(site, "PATIENCE_S", 0.3)
    path = wax.page if path == "join" else path
    answer = raw.trickle(wax.service, head(wax.service, path, FORM, 10_000), seconds=10)
    assert (answer.status, answer.headers["connection"]) == (408, "close")


def test_a_stranger_cannot_send_a_file(service: Service) -> None:
    started = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
    assert raw.send(service, head(service, "/login", UPLOAD, 10**9), started).status == 415


def test_what_is_larger_than_any_file_we_take_is_a_413_before_it_is_read(wax: Newsletter) -> None:
    for path in (wax.page, "/login"):
        answer = raw.send(wax.service, head(wax.service, path, FORM, site.UPLOAD_LIMIT + 1))
        assert (answer.status, answer.headers["connection"]) == (413, "close")
