"""The signed link in an email that turns off the notifications it is about. It ends after a month,
and when the account's notifications go to another address.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.site import Site
from honeyguide.mail.notification_kinds import BY_NAME, NotificationKind

_PURPOSE = "turn off notifications"
WORKS_MS = 30 * DAY_MS


class TurnOff(NamedTuple):
    account_id: str
    kind: NotificationKind
    link_version: int
    """It works while this is the account's."""


def turn_off_url(
    site: Site, account_id: str, kind: NotificationKind, *, link_version: int, now_ms: int
) -> str:
    """Needs no login: whoever has the email may turn such emails off."""
    content = f"{account_id} {kind.name} {link_version} {now_ms + WORKS_MS}"
    return f"{site.base_url}/notices/off/{site.seal(_PURPOSE, content.encode())}"


def read_token(site: Site, token: str, *, now_ms: int) -> TurnOff | None:
    """None for a token that we never made, and for one that has expired."""
    content = site.unseal(_PURPOSE, token)
    if content is None:
        return None
    # Those of earlier versions say neither version nor time.
    account_id, name, *rest = [*content.decode().split(" "), "0", str(now_ms)][:4]
    version, until_ms = map(int, rest)
    kind = BY_NAME.get(name)
    return TurnOff(account_id, kind, version) if kind and now_ms <= until_ms else None
