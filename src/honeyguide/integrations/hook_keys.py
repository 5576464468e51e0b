"""A secret in our URL for webhooks, for platforms that do not sign what they post."""

from __future__ import annotations

import hmac
import secrets
from urllib.parse import urlencode

from honeyguide.integrations.platform import IncomingHook, PlatformAccess
from honeyguide.integrations.problems import ForgedHook

HOOK_KEY = "hook_key"


def new_key() -> str:
    return secrets.token_urlsafe(24)


def keyed_url(url: str, key: str) -> str:
    return f"{url}?{urlencode({HOOK_KEY: key})}"


def check_key(access: PlatformAccess, hook: IncomingHook) -> None:
    expected = access.credentials.get(HOOK_KEY, "")
    given = hook.query.get(HOOK_KEY, "")
    if not expected or not hmac.compare_digest(expected.encode(), given.encode()):
        raise ForgedHook(f"The webhook does not have the key that we gave {access.about.name}.")
