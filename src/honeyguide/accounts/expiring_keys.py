"""Notifies the operator a week before an API key that is in use expires."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.accounts import accounts
from honeyguide.accounts.key_states import SOON_MS
from honeyguide.kernel.clock import DAY_MS, day
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail.key_texts import key_expires
from honeyguide.mail.notification_kinds import KEY_EXPIRES
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

PAGE = "/account/keys"
# A key that nothing used for longer is not missed.
IN_USE_MS = 30 * DAY_MS


class ExpiringKey(NamedTuple):
    id: str
    account_id: str
    campaign_id: str
    name: str
    prefix: str
    expires_ms: int

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)


_sql = beside(__file__)
_DUE = _sql.query("due", ExpiringKey)
_WARN = _sql.command("warn")


async def due(tx: Tx, *, now_ms: int, most: int) -> list[ExpiringKey]:
    """Of all accounts."""
    return await tx.all(_DUE, now_ms=now_ms, notice_ms=SOON_MS, in_use_ms=IN_USE_MS, most=most)


async def warn(change: Change, key: ExpiringKey) -> None:
    """Once for each key. Nothing if it was revoked or rotated meanwhile."""
    if not await change.run(_WARN, id=key.id):
        return
    message = key_expires(
        name=key.name,
        prefix=key.prefix,
        on=day(key.expires_ms),
        page=f"{change.site.base_url}{PAGE}",
    )
    await accounts.notify_owner(change, KEY_EXPIRES.name, key.id, message, link=PAGE)
