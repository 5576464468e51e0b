"""What an operator does on the dashboard of a real service: upload a file, import it, check it."""

from __future__ import annotations

import http.client
import re
import urllib.parse
from collections.abc import Iterable

from bench.people import Campaign
from bench.servers import Server

FORM = "application/x-www-form-urlencoded"


def send(
    server: Server, campaign: Campaign, method: str, path: str, body: bytes = b"", kind: str = FORM
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
    headers = {
        "Cookie": f"hg_session={campaign.session}",
        "Origin": f"http://127.0.0.1:{server.port}",
    }
    if body:
        headers["Content-Type"] = kind
    connection.request(method, path, body or None, headers)
    answer = connection.getresponse()
    return answer, answer.read()


def _csrf(server: Server, campaign: Campaign, path: str) -> str:
    _, shown = send(server, campaign, "GET", path)
    found = re.search(rb'name="csrf" value="([^"]+)"', shown)
    assert found is not None
    return found[1].decode()


def _go(server: Server, campaign: Campaign, path: str, body: bytes, kind: str = FORM) -> str:
    """Sends a form, and returns the path to which it leads."""
    answer, shown = send(server, campaign, "POST", path, body, kind)
    if answer.status != 303:
        raise RuntimeError(f"{path} was answered {answer.status}: {shown[:500]!r}")
    return urllib.parse.urlsplit(answer.getheader("Location", "")).path


def upload(server: Server, campaign: Campaign, header: list[str], lines: Iterable[str]) -> str:
    """Uploads a file whose columns are fields of ours, starts its import, and returns its path."""
    boundary, field = "b0undary", "Content-Disposition: form-data; name="
    csrf = _csrf(server, campaign, "/subscribers/import")
    text = "\n".join([",".join(header), *lines])
    body = (
        f'--{boundary}\r\n{field}"csrf"\r\n\r\n{csrf}\r\n'
        f'--{boundary}\r\n{field}"file"; filename="people.csv"\r\nContent-Type: text/csv\r\n\r\n'
        f"{text}\n\r\n--{boundary}--\r\n"
    ).encode()
    kind = f"multipart/form-data; boundary={boundary}"
    path = _go(server, campaign, "/subscribers/import", body, kind)
    fields = {name: str(place) for place, name in enumerate(header)}
    form = urllib.parse.urlencode({"csrf": csrf, "do": "start", **fields}).encode()
    return _go(server, campaign, path, form)


def is_imported(server: Server, campaign: Campaign, path: str) -> bool:
    _, shown = send(server, campaign, "GET", path)
    return b"Import finished" in shown


def check(server: Server, campaign: Campaign, path: str) -> str:
    """Starts the check of an import, and returns the path of its certificate."""
    form = urllib.parse.urlencode({"csrf": _csrf(server, campaign, path), "do": "check"})
    return _go(server, campaign, path, form.encode())


def is_checked(server: Server, campaign: Campaign, path: str) -> bool:
    answer, _ = send(server, campaign, "GET", f"{path}/certificate.json")
    return answer.status == 200
