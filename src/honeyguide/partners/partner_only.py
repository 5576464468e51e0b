"""Who only recommends other newsletters and has nothing of their own here. They get a menu that
has only what they need."""

from __future__ import annotations

from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside

_sql = beside(__file__)
_IS_PARTNER_ONLY = _sql.value("is_partner_only", int)


async def is_partner_only(at: Reading) -> bool:
    """Whether the account joined a program, or was invited as a partner, and has no subscribers,
    rewards or programs of its own."""
    return bool(await at.one(_IS_PARTNER_ONLY))
