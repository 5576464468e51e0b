"""Calls the HTTP API of an installation with a key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self
from urllib.parse import quote, urlencode

import aiohttp
import msgspec
from yarl import URL

TIMEOUT_S = 30.0
# More than any list of a hundred rows; an address that is not Honeyguide may send anything.
MOST_BYTES = 4_000_000


class ApiRefused(Exception):
    """The call failed. The message is a sentence for the assistant and its user."""


def segment(value: str) -> str:
    """A part of a path that somebody else chose."""
    if value in ("", ".", ".."):
        raise ApiRefused("An empty name, a dot or two dots cannot be looked up.")
    return quote(value, safe="")


class AccountApi:
    """The answers are JSON objects; what is not one raises `ApiRefused`."""

    def __init__(self, base_url: str, http: aiohttp.ClientSession) -> None:
        self._base_url = base_url
        self._http = http
        self._campaign = ""

    @classmethod
    @asynccontextmanager
    async def opened(cls, base_url: str, key: str) -> AsyncIterator[Self]:
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
        headers = {"X-Api-Key": key, "Accept": "application/json"}
        async with aiohttp.ClientSession(timeout=timeout, headers=headers) as http:
            yield cls(base_url, http)

    async def campaign(self) -> str:
        """The path of the account's only campaign, asked for once."""
        if not self._campaign:
            (found,) = (await self.get("/v1/campaigns"))["campaigns"]
            self._campaign = f"/v1/campaigns/{found['uuid']}"
        return self._campaign

    async def get(self, path: str, **query: Any) -> dict[str, Any]:
        given = {name: value for name, value in query.items() if value is not None}
        return await self._call("GET", f"{path}?{urlencode(given)}" if given else path)

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return await self._call("POST", path, body)

    async def _call(
        self, method: str, path: str, body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        # Encoded already. A redirect is not followed: it would take the key to another host.
        url = URL(f"{self._base_url}{path}", encoded=True)
        try:
            async with self._http.request(
                method, url, json=body, allow_redirects=False
            ) as response:
                return _decode(response.status, await _read(response.content))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            why = str(error) or type(error).__name__
            raise ApiRefused(
                f"Honeyguide does not answer at {self._base_url}: {why}. "
                "Check that the service is running, and HONEYGUIDE_API_URL."
            ) from error


async def _read(stream: aiohttp.StreamReader) -> bytes:
    data = b""
    while len(data) <= MOST_BYTES and (part := await stream.read(MOST_BYTES)):
        data += part
    return data


def _decode(status: int, data: bytes) -> dict[str, Any]:
    try:
        answer = msgspec.json.decode(data)
    except msgspec.DecodeError:
        answer = None
    if not isinstance(answer, dict) or (status >= 300 and "error" not in answer):
        raise ApiRefused(
            f"The answer ({status}) is not one of Honeyguide. Check HONEYGUIDE_API_URL."
        )
    if status >= 300:
        raise ApiRefused(str(answer["error"]))
    return answer
