"""Who only recommends other newsletters and has nothing of their own here. They get a menu that
has only what they need."""

from __future__ import annotations

from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

_sql = beside(__file__)
_IS_PARTNER_ONLY = _sql.value("is_partner_only", int)


async def is_partner_only(tx: Tx, tenant: Tenant) -> bool:
    """Whether the account joined a program, or was invited as a partner, and has no subscribers,
    rewards or programs of its own."""
    return bool(await tx.one(_IS_PARTNER_ONLY, **tenant._asdict()))
