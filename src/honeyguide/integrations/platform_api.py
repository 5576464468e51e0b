"""Requests to a platform's API, from what a module says about it: where it is, how it is told who
asks, and what its statuses mean.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Mapping
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

import msgspec

from honeyguide.integrations.about import KEY, About
from honeyguide.integrations.answers import answer_of
from honeyguide.integrations.http import PlatformReply
from honeyguide.integrations.platform import PlatformAccess
from honeyguide.integrations.problems import AudienceGone, WrongCredentials

T = TypeVar("T")


class Auth(Protocol):
    def headers(self, credentials: Mapping[str, str]) -> dict[str, str]:
        """Raises `WrongCredentials` if these cannot be right."""
        ...


class KeyHeader(msgspec.Struct, frozen=True):
    """The key is in a header."""

    header: str = "Authorization"
    prefix: str = ""

    def headers(self, credentials: Mapping[str, str]) -> dict[str, str]:
        return {self.header: f"{self.prefix}{credentials[KEY].strip()}"}


BEARER = KeyHeader(prefix="Bearer ")


class Basic(msgspec.Struct, frozen=True, kw_only=True):
    """User and password, by the names of the credentials. Some platforms take any user."""

    user: str = ""
    password: str = KEY

    def headers(self, credentials: Mapping[str, str]) -> dict[str, str]:
        user = credentials[self.user].strip() if self.user else "any"
        both = f"{user}:{credentials[self.password].strip()}"
        return {"Authorization": f"Basic {b64encode(both.encode()).decode()}"}


class PlatformApi(msgspec.Struct, frozen=True, kw_only=True):
    """How a platform's API is reached."""

    base: str = ""
    """Where it is. For the operator's own server, the module has its own `base_url`."""
    auth: Auth = BEARER
    headers: Mapping[str, str] = {}
    """Sent with every request."""
    forbidden: str = ""
    """What a 403 means; "" if it is about the request."""
    own_statuses: Collection[int] = ()
    """What `judge` turns into better errors than the usual ones."""
    unknown: Collection[int] = (404,)
    """The statuses for a contact or a list that does not exist."""


class ApiClient:
    about: About
    api: PlatformApi

    def __init__(self, base: str = "") -> None:
        self._base = base or self.api.base

    def base_url(self, credentials: Mapping[str, str]) -> str:
        return self._base

    def judge(self, reply: PlatformReply) -> None:
        """Raise what a status of `own_statuses` means."""

    async def call(
        self,
        access: PlatformAccess,
        method: str,
        path: str,
        json: Any = None,
        *,
        returned: Collection[int] = (),
    ) -> PlatformReply:
        """One request. `{audience}` in the path is the list's ID. Statuses in `returned` are not
        turned into errors."""
        path = path.replace("{audience}", quoted(access.audience_id))
        reply = await access.http.call(
            method,
            self.base_url(access.credentials) + path,
            headers={**self.api.headers, **self.api.auth.headers(access.credentials)},
            json=json,
            returned={*self.api.own_statuses, *returned},
        )
        if reply.status in self.api.own_statuses:
            self.judge(reply)
        elif reply.status == 403 and self.api.forbidden:
            raise WrongCredentials(self.api.forbidden)
        return reply

    def in_audience(self, reply: PlatformReply, kind: type[T]) -> T:
        """What an answer says about a list or what is in it."""
        if reply.status in self.api.unknown:
            raise AudienceGone(f"The {self.about.audience} was deleted in {self.about.name}.")
        return answer_of(reply, kind)


def quoted(text: str) -> str:
    """As one part of a path."""
    return quote(text, safe="")
