"""What the rules want to know about a signup: who else came with the code, and who referred
whom.
"""

from __future__ import annotations

from typing import NamedTuple

from disposable_email_domains import blocklist

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class OnCode(NamedTuple):
    last_hour: int
    from_network: int


_DISPOSABLE: frozenset[str] = frozenset(blocklist)

_sql = beside(__file__)
_CLOSES_LOOP = _sql.value("closes_loop", int)
_ON_CODE = _sql.query("on_code", OnCode)


def is_disposable(domain: str) -> bool:
    """Whether a public list has the domain, or one that it is a subdomain of, as a service for
    disposable mailboxes."""
    while domain:
        if domain in _DISPOSABLE:
            return True
        domain = domain.partition(".")[2]
    return False


async def closes_loop(tx: Tx, tenant: Tenant, above_id: str | None, person_key: str) -> bool:
    """Whether one of those who referred the referrer (`above_id` and everyone above them) is this
    person."""
    if above_id is None:
        return False
    return bool(
        await tx.one(
            _CLOSES_LOOP,
            referrer_id=above_id,
            campaign_id=tenant.campaign_id,
            person_key=person_key,
        )
    )


async def on_code(tx: Tx, tenant: Tenant, code: str, network: str | None, until_ms: int) -> OnCode:
    """Signups with this code in the last hour, and from this IP network in the last day."""
    found = await tx.one(
        _ON_CODE,
        campaign_id=tenant.campaign_id,
        code=code,
        network=network,
        hour_ago_ms=until_ms - HOUR_MS,
        day_ago_ms=until_ms - DAY_MS,
        until_ms=until_ms,
    )
    return found or OnCode(0, 0)
