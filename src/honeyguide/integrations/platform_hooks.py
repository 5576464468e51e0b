"""The webhooks that we create on a platform, and how we know that one is from there: by the secret
that signs it, or by one in our URL for platforms that do not sign.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol
from urllib.parse import urlencode

import msgspec

from honeyguide.integrations.answers import NewHook
from honeyguide.integrations.platform import PlatformAccess
from honeyguide.integrations.problems import ForgedHook
from honeyguide.integrations.reports import IncomingHook

# What is kept with the credentials once a webhook was created.
HOOK_ID, HOOK_KEY, HOOK_SECRET = "hook_id", "hook_key", "hook_secret"
# A clock that is off by more is an old recording, or wrong.
TOLERANCE_S = 5 * 60


class HookProof(Protocol):
    """What proves that a webhook is from the platform."""

    def verify(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        """As `Platform.verify_hook`."""
        ...


class PlatformWebhook(msgspec.Struct, frozen=True, kw_only=True):
    """How a webhook is created."""

    path: str
    content: Mapping[str, Any]
    """What is posted there, with our URL as `url`."""
    proof: HookProof
    answer: Any = NewHook
    """What the platform answers; may be wrapped in `Data`."""
    secret_name: str = ""
    """Under what our secret is posted; "" if the platform chooses one, or signs nothing."""
    without: str = "Changes are read once an hour."
    """What happens if the platform accepts no webhook."""
    forbidden: Collection[int] = ()
    """What it says to a key that may create none."""

    def kept(self) -> dict[str, str]:
        """What we choose, and keep with the credentials."""
        if isinstance(self.proof, UrlKey):
            return {HOOK_KEY: secrets.token_urlsafe(24)}
        return {HOOK_SECRET: secrets.token_urlsafe(32)} if self.secret_name else {}

    def body(self, url: str, kept: Mapping[str, str]) -> dict[str, Any]:
        if HOOK_KEY in kept:
            url = f"{url}?{urlencode(kept)}"
        secret = {self.secret_name: kept[HOOK_SECRET]} if self.secret_name else {}
        return {"url": url, **self.content, **secret}


def hook_secret(access: PlatformAccess, name: str) -> bytes:
    """The secret that is kept under this name. Without one, nothing is believed: anybody can sign
    with an empty secret."""
    secret = access.credentials.get(name, "")
    if not secret:
        raise ForgedHook(f"No webhook was made in {access.about.name}. Enter the key again.")
    return secret.encode()


class UrlKey(msgspec.Struct, frozen=True):
    """The platform does not sign, so the URL has a secret."""

    def verify(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        expected = hook_secret(access, HOOK_KEY)
        if not hmac.compare_digest(expected, hook.query.get(HOOK_KEY, "").encode()):
            raise ForgedHook(f"The webhook does not have the key that we gave {access.about.name}.")
        return ""


class SignedBody(msgspec.Struct, frozen=True):
    """A header has the HMAC of the body, without a time."""

    header: str
    prefix: str = ""

    def verify(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        signed = hmac.new(hook_secret(access, HOOK_SECRET), hook.body, hashlib.sha256).hexdigest()
        given = hook.headers.get(self.header, "")
        if not hmac.compare_digest(f"{self.prefix}{signed}".encode(), given.encode()):
            raise ForgedHook("The signature is wrong.")
        return ""


class SignedTime(msgspec.Struct, frozen=True, kw_only=True):
    """A header such as `t=1753797130,v1=8f4b…`, with the time and the HMAC of time and body. It may
    have two HMACs while the secret is being replaced."""

    header: str
    mac: str
    """What the HMAC is called in the header."""
    per_second: int = 1
    """1,000 if the time is in milliseconds."""
    content: Callable[[bytes, bytes], bytes]
    """What is signed, from the time and the body."""

    def verify(self, access: PlatformAccess, hook: IncomingHook, *, now_s: int) -> str:
        given = hook.headers.get(self.header, "")
        parts = [part.strip().partition("=") for part in given.split(",")]
        at = next((value for name, _, value in parts if name == "t"), "")
        if not (at.isascii() and at.isdigit() and len(at) < 15):
            raise ForgedHook(f"The header {self.header.title()} is missing.")
        if abs(now_s - int(at) / self.per_second) > TOLERANCE_S:
            raise ForgedHook("The webhook is more than five minutes old.")
        key = hook_secret(access, HOOK_SECRET)
        signed = hmac.new(key, self.content(at.encode(), hook.body), hashlib.sha256)
        expected = signed.hexdigest().encode()
        macs = [value.encode() for name, _, value in parts if name == self.mac]
        if not any(hmac.compare_digest(expected, each) for each in macs):
            raise ForgedHook("The signature is wrong.")
        return at
