"""The keys by which a person is known under all spellings of their address.

In earlier versions fewer spellings were one person. What is kept for good was keyed then: charges
and people who were erased. So the earlier key of an address is stored with its key of today when
the address is seen, and whoever looks for a person looks for both.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

BATCH = 1_000
# The job.
REKEYING = "give subscribers their new person keys"


class Rekeying(NamedTuple):
    """How far a campaign's subscribers have got their new keys."""

    campaign_id: str
    account_id: str
    after_ms: int
    after_id: str

    @property
    def id(self) -> str:
        return self.campaign_id

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)


class _Row(NamedTuple):
    id: str
    created_ms: int
    email: str


_sql = beside(__file__)
_REMEMBER = _sql.command("remember")
_DUE = _sql.query("due", Rekeying)
_LOCK = _sql.query("lock", Rekeying)
_BATCH = _sql.query("batch", _Row)
_REKEY = _sql.command("rekey")
_REKEY_ENTRY = _sql.command("rekey_entry")
_MOVE = _sql.command("move")
_FINISH = _sql.command("finish")


async def remember(tx: Tx, site: Site, email: EmailAddress) -> None:
    """Before an address is stored or looked for."""
    key, *earlier = site.person_keys(email)
    for each in earlier:
        await tx.put(_REMEMBER, earlier_key=each, person_key=key)


async def due(tx: Tx, *, most: int) -> list[Rekeying]:
    return await tx.all(_DUE, most=most)


async def rekey_batch(tx: Tx, site: Site, campaign: Rekeying) -> None:
    """Gives some subscribers of a campaign the key of today."""
    found = await tx.lock(_LOCK, **campaign.tenant._asdict())
    if not found:  # another process was faster
        return
    (at,) = found
    tenant = at.tenant._asdict()
    rows = await tx.all(_BATCH, **tenant, after_ms=at.after_ms, after_id=at.after_id, most=BATCH)
    for row in rows:
        email = EmailAddress(row.email)
        key, *earlier = site.person_keys(email)
        for each in earlier:
            await remember(tx, site, email)
            await tx.run(_REKEY, **tenant, id=row.id, earlier_key=each, person_key=key)
            await tx.run(_REKEY_ENTRY, **tenant, earlier_key=each, person_key=key)
    if len(rows) < BATCH:
        await tx.run(_FINISH, **tenant)
    else:
        await tx.run(_MOVE, **tenant, after_ms=rows[-1].created_ms, after_id=rows[-1].id)
