"""Calls the application in this process as browsers and tools would call it over the network."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from honeyguide.app import Application


class LabForm(NamedTuple):
    action: str
    fields: dict[str, str]
    """What a browser would send if nothing is typed."""
    challenge: str = ""
    """The work that it asks the browser for, if it does."""


class LabResponse(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes
    cookies: dict[str, str]

    def find_form(self, action: str = "") -> LabForm | None:
        """The first one on the page that is sent to such a place."""
        return next((each for each in self.forms() if each.action.startswith(action)), None)

    def forms(self) -> list[LabForm]:
        reader = _FormReader()
        reader.feed(self.body.decode())
        return reader.forms

    def split(self, by: re.Pattern[bytes]) -> list[LabResponse]:
        return [self._replace(body=part) for part in by.split(self.body)]

    def json(self) -> Any:
        return json.loads(self.body)


class _FormReader(HTMLParser):
    """Finds the forms of a page that are posted."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[LabForm] = []
        self._form: LabForm | None = None
        self._area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form" and given.get("method") == "post":
            self._form = LabForm(given.get("action", ""), {})
        if self._form is None or "name" not in given:
            return
        name, value = given["name"], given.get("value", "")
        is_switch = given.get("type") in ("checkbox", "radio")
        if (tag == "input" and (not is_switch or "checked" in given)) or tag == "textarea":
            self._form.fields[name] = value
            if "data-challenge" in given:
                self._form = self._form._replace(challenge=given["data-challenge"])
            self._area = name if tag == "textarea" else ""

    def handle_data(self, data: str) -> None:
        if self._form is not None and self._area:
            self._form.fields[self._area] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = ""
        if tag == "form" and self._form is not None:
            self.forms.append(self._form)
            self._form = None


class LabClient:
    """Every request says from which IP address it comes, and with which headers."""

    def __init__(self, application: Application, base_url: str) -> None:
        self._application = application
        self._host = urlsplit(base_url).netloc

    async def get(self, path: str, ip_address: str, headers: Mapping[str, str]) -> LabResponse:
        return await self._send("GET", path, ip_address, headers, b"")

    async def submit(
        self, path: str, ip_address: str, headers: Mapping[str, str], fields: Mapping[str, str]
    ) -> LabResponse:
        sent = {**headers, "content-type": "application/x-www-form-urlencoded"}
        return await self._send("POST", path, ip_address, sent, urlencode(fields).encode())

    async def call_api(
        self, path: str, key: str, body: Mapping[str, Any], method: str = "POST"
    ) -> Any:
        """Writes something, and fails if the API refuses it."""
        headers = {"x-api-key": key, "content-type": "application/json"}
        data = json.dumps(body).encode()
        response = await self._send(method, path, "127.0.0.1", headers, data)
        if response.status not in (200, 201):
            raise RuntimeError(f"{method} {path}: {response.status} {response.body.decode()}")
        return response.json()

    async def _send(
        self, method: str, path: str, ip_address: str, headers: Mapping[str, str], body: bytes
    ) -> LabResponse:
        path, _, query = path.partition("?")
        given = {"host": self._host, "content-length": str(len(body)), **headers}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "https",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            "client": (ip_address, 50_000),
            "server": (self._host, 443),
        }
        incoming = [{"type": "http.request", "body": body, "more_body": False}]
        sent: list[Any] = []

        async def receive() -> Any:
            return incoming.pop() if incoming else await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)

        await self._application(scope, receive, send)
        start = [(name.decode(), value.decode()) for name, value in sent[0]["headers"]]
        pairs = [value.partition(";")[0] for name, value in start if name == "set-cookie"]
        answer = b"".join(part.get("body", b"") for part in sent[1:])
        cookies = {name: value for name, _, value in (each.partition("=") for each in pairs)}
        return LabResponse(sent[0]["status"], dict(start), answer, cookies)


@asynccontextmanager
async def running(application: Application) -> AsyncIterator[None]:
    """Starts and stops the application as a server does."""
    incoming: asyncio.Queue[Any] = asyncio.Queue()
    outgoing: asyncio.Queue[Any] = asyncio.Queue()
    life = asyncio.create_task(application({"type": "lifespan"}, incoming.get, outgoing.put))
    await incoming.put({"type": "lifespan.startup"})
    if (await outgoing.get())["type"] != "lifespan.startup.complete":
        raise RuntimeError("The application did not start; the log says why.")
    try:
        yield
    finally:
        await incoming.put({"type": "lifespan.shutdown"})
        await life
