"""Requests to a platform: through the outbound guard, at the platform's pace, and with the usual
answers turned into errors.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

import msgspec

from honeyguide import __version__
from honeyguide.events.outbound import Outbound
from honeyguide.integrations.problems import (
    TooLong,
    TryLater,
    Unexpected,
    WrongCredentials,
    understood,
)

T = TypeVar("T")

# A page of a list of contacts has some hundred kilobytes.
MOST_READ = 8 * 1024 * 1024
_HEADERS = {
    "User-Agent": f"Honeyguide/{__version__} (+integrations)",
    "Accept": "application/json",
}


class PlatformReply(NamedTuple):
    platform: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_ok(self) -> bool:
        return 200 <= self.status < 300

    def decode(self, type_: type[T]) -> T:
        """The body as this struct. Fields that the struct does not name are ignored."""
        with understood(self.platform):
            return msgspec.json.decode(self.body, type=type_)

    def details(self, type_: type[T]) -> T:
        """How the platform describes an error; nothing if that makes no sense."""
        try:
            return self.decode(type_)
        except Unexpected:
            return type_()


class PlatformHttp:
    """One integration's requests. `wait_s` is how long the first one has to wait."""

    def __init__(
        self, outbound: Outbound, platform: str, *, interval_s: float = 0.0, wait_s: float = 0.0
    ) -> None:
        self._outbound = outbound
        self._platform = platform
        self._interval_s = interval_s
        self._next_s = asyncio.get_running_loop().time() + wait_s
        self.requests = 0

    @property
    def wait_s(self) -> float:
        """How long the next request would have to wait."""
        return max(0.0, self._next_s - asyncio.get_running_loop().time())

    async def call(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        body: bytes | None = None,
        returned: Collection[int] = (),
    ) -> PlatformReply:
        """One request, whose body is JSON, a form or bytes. Statuses in `returned` are not turned
        into errors."""
        wait_s = self.wait_s
        # Before the wait, so that requests made together take their turns.
        self._next_s = asyncio.get_running_loop().time() + wait_s + self._interval_s
        await asyncio.sleep(wait_s)
        self.requests += 1
        sent = {**_HEADERS, **(headers or {})}
        if json is not None:
            body = msgspec.json.encode(json)
            sent.setdefault("Content-Type", "application/json")
        elif form is not None:
            body = urlencode(form).encode()
            sent.setdefault("Content-Type", "application/x-www-form-urlencoded")
        answer = await self._outbound.request(
            method, url, body=body, headers=sent, most_read=MOST_READ
        )
        if answer.is_too_long:
            raise TooLong(
                f"{self._platform} sent an answer of more than {MOST_READ // 1024**2} MB, which is "
                "more than we read."
            )
        if answer.status is None:
            raise TryLater(f"{self._platform} could not be reached. {answer.error}")
        reply = PlatformReply(self._platform, answer.status, answer.headers, answer.body)
        if reply.status not in returned:
            self._raise_usual(reply, answer.retry_after_s)
        return reply

    def _raise_usual(self, reply: PlatformReply, after_s: int | None) -> None:
        if reply.status == 401:
            raise WrongCredentials(f"{self._platform} does not accept the key.")
        if reply.status == 429:
            raise TryLater(f"{self._platform} asked us to slow down.", after_s=after_s)
        if reply.status == 408 or reply.status >= 500:
            raise TryLater(
                f"{self._platform} has a problem of its own (status {reply.status}).",
                after_s=after_s,
            )
