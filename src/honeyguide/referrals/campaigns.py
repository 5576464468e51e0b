"""The one campaign of an account."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Missing
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class Owner(NamedTuple):
    """Whose rows a statement may touch."""

    account_id: str
    campaign_id: str


class Campaign(NamedTuple):
    id: str
    account_id: str
    name: str
    slug: str
    destination_url: str | None
    screening: str
    hold_days: int
    needs_confirmation: int
    words: str
    created_ms: int


_sql = beside(__file__)
_BY_ID = _sql.query("by_id", Campaign)
_RENAME = _sql.command("rename")
_OWNER_OF = _sql.query("owner_of", Owner)


async def get(tx: Tx, owner: Owner) -> Campaign:
    campaign = await tx.one(_BY_ID, account_id=owner.account_id, id=owner.campaign_id)
    if campaign is None:
        raise Missing("There is no such campaign.")
    return campaign


async def owner_of(tx: Tx, account_id: str) -> Owner:
    owner = await tx.one(_OWNER_OF, account_id=account_id)
    if owner is None:
        raise Missing("There is no such account.")
    return owner


async def rename(tx: Tx, owner: Owner, name: str) -> None:
    checks.text(name, param="name", limit=checks.NAME_LIMIT, blank_ok=False)
    await tx.run(_RENAME, account_id=owner.account_id, id=owner.campaign_id, name=name)
