"""Calls the application in this process as browsers and tools would call it over the network."""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from honeyguide.app import Application

_FORM = re.compile(
    r'<form[^>]*method="post" action="(?P<action>[^"]+)".*?>(?P<inside>.*?)</form>', re.DOTALL
)
_HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


class LabForm(NamedTuple):
    action: str
    fields: dict[str, str]
    """The hidden ones."""


class LabResponse(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    def find_form(self) -> LabForm | None:
        """The first one on the page that is sent."""
        found = _FORM.search(self.body.decode())
        if found is None:
            return None
        hidden = {name: html.unescape(value) for name, value in _HIDDEN.findall(found["inside"])}
        return LabForm(html.unescape(found["action"]), hidden)

    def json(self) -> Any:
        return json.loads(self.body)


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

    async def call_api(self, path: str, key: str, body: Mapping[str, Any]) -> Any:
        """Creates something, and fails if the API refuses it."""
        headers = {"x-api-key": key, "content-type": "application/json"}
        data = json.dumps(body).encode()
        response = await self._send("POST", path, "127.0.0.1", headers, data)
        if response.status not in (200, 201):
            raise RuntimeError(f"POST {path}: {response.status} {response.body.decode()}")
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
        start = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return LabResponse(
            sent[0]["status"], start, b"".join(part.get("body", b"") for part in sent[1:])
        )


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
