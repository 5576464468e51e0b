"""How we know that a webhook is from the platform: by the secret that signs it, or by one in our
URL for platforms that do not sign.
"""

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


def hook_secret(access: PlatformAccess, name: str) -> bytes:
    """The secret that is kept under this name. Without one, nothing is believed: anybody can sign
    with an empty secret."""
    secret = access.credentials.get(name, "")
    if not secret:
        raise ForgedHook(f"No webhook was made in {access.about.name}. Enter the key again.")
    return secret.encode()


def check_key(access: PlatformAccess, hook: IncomingHook) -> None:
    expected = hook_secret(access, HOOK_KEY)
    given = hook.query.get(HOOK_KEY, "")
    if not hmac.compare_digest(expected, given.encode()):
        raise ForgedHook(f"The webhook does not have the key that we gave {access.about.name}.")
