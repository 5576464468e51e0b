"""What the tests that all platforms share need to know about a stand-in. Each has its `CASE`."""

import copy
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from honeyguide.integrations.platform import Platform, PlatformAccess
from honeyguide.integrations.reports import IncomingHook
from tests.support.platforms.stand_in import Answer, access_to

Credentials = Mapping[str, str]
Fault = tuple[Answer, type[Exception]]
# A stand-in, the module of its platform, and access to it.
Opened = tuple[Any, Any, PlatformAccess]


@dataclass(frozen=True, kw_only=True)
class WebhookCase:
    left: Callable[[Any], Any]
    """What says that this person left; `leave` makes it true there."""
    leave: Callable[[Any, Any], Any]
    sign: Callable[[Credentials, bytes, int], IncomingHook]
    """As the platform sends this body at this second, with what is kept of the webhook."""
    secret: str
    """The name of the credential that proves where a webhook is from."""
    encode: Callable[[Any], bytes] = lambda body: json.dumps(body).encode()

    def body(self, person: Any) -> bytes:
        return self.encode(self.left(person))


@dataclass(frozen=True, kw_only=True)
class PlatformCase:
    server: Callable[[], Any]
    """A stand-in that has our two fields and no limit."""
    platform: Callable[[Any], Platform]
    credentials: Callable[[Any], dict[str, str]]
    revoke: Callable[[Any], None]
    """Makes the key wrong."""
    audience_id: str = ""
    active: Callable[[Any, str], Any] | None = None
    """Adds somebody who is on the list. None: the tool keeps no list."""
    left: tuple[Callable[[Any, str], Any], ...] = ()
    """Each adds somebody who is not, in another way."""
    find: Callable[[Any, str], Any] = lambda server, email: server.by_email(email)
    state: Callable[[Any], Any] = lambda person: person["status"]
    unsubscribed: Any = "unsubscribed"
    fields: Callable[[Any], dict[str, Any]] = lambda person: person["fields"]
    id: Callable[[Any], str] = lambda person: str(person["id"])
    everything: Callable[[Any], dict[str, Any]] = copy.deepcopy
    """All that the platform knows of somebody."""
    also_elsewhere: Callable[[Any, str], Any] = lambda server, email: named(server.add(email))
    """Adds somebody who is on the list, with a name, a field of their own, and on other lists."""
    left_at: Mapping[str, Any] = field(default_factory=dict)
    """What changes when we unsubscribe them, and nothing else."""
    unknown_id: str = "999"
    code: str = "RH_CODE"
    """The name of the referral code there; "" if there are no fields."""
    lose_field: Callable[[Any], None] | None = None
    lose_audience: Callable[[Any], None] | None = None
    faults: tuple[Fault, ...] = field(default=())
    """What else may go wrong, in the platform's own way."""
    webhook: WebhookCase | None = None

    @asynccontextmanager
    async def open(self, **options: Any) -> AsyncIterator[tuple[Any, Platform, PlatformAccess]]:
        server = self.server()
        async with server.serving():
            platform = self.platform(server)
            options = {"audience_id": self.audience_id, **options}
            async with access_to(platform, self.credentials(server), **options) as access:
                yield server, platform, access


def made(server: Any, **changes: Any) -> Any:
    for name, value in changes.items():
        setattr(server, name, value)
    return server


def named(person: Any) -> Any:
    """With a name and a town, wherever the platform keeps them."""
    if not isinstance(person, dict):
        person.name = "Their Own"
        person.fields["TOWN"] = "Bonn"
        return person
    for name in ("name", "first_name"):
        if name in person:
            person[name] = "Their Own"
    for fields in ("fields", "values", "attributes", "metadata", "attribs"):
        if fields in person:
            person[fields].update({"Town": "Bonn", "name": "Their Own", "FIRSTNAME": "Their Own"})
    return person


def no_limit(server: Any) -> Any:
    return made(server, left_this_minute=10**6)


def set_key(server: Any) -> None:
    server.key = "another"


def by_status(*states: str) -> tuple[Callable[[Any, str], Any], ...]:
    return tuple(lambda server, email, state=state: server.add(email, state) for state in states)  # type: ignore[misc]


def add(server: Any, email: str) -> Any:
    return server.add(email)


def by_key(kept: Credentials, body: bytes, now_s: int) -> IncomingHook:
    return IncomingHook(headers={}, body=body, query={"hook_key": kept.get("hook_key", "")})


def signature_of(secret: str, signed: bytes) -> str:
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
