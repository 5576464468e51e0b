"""The signed link in an email that turns off the notifications it is about."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.site import Site
from honeyguide.mail.notification_kinds import BY_NAME, NotificationKind

_PURPOSE = "turn off notifications"


class TurnOff(NamedTuple):
    account_id: str
    kind: NotificationKind


def turn_off_url(site: Site, account_id: str, kind: NotificationKind) -> str:
    """Needs no login: whoever has the email may turn such emails off."""
    token = site.seal(_PURPOSE, f"{account_id} {kind.name}".encode())
    return f"{site.base_url}/notices/off/{token}"


def read_token(site: Site, token: str) -> TurnOff | None:
    """None for a token that we never made."""
    content = site.unseal(_PURPOSE, token)
    if content is None:
        return None
    account_id, _, name = content.decode().partition(" ")
    kind = BY_NAME.get(name)
    return TurnOff(account_id, kind) if kind else None
