"""Signup forms that were used: each one that was shown makes one signup. A double click or a reload
sends the same form again, with the same address; a robot sends it with others.
"""

from __future__ import annotations

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.purging import Purge
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# A tab may stay open overnight.
LONGEST_MS = 2 * DAY_MS
# Longer than a form lives, also where the clocks of several machines differ a little.
KEPT_MS = LONGEST_MS + HOUR_MS
PURGE_BATCH = 1_000

_sql = beside(__file__)
_USE = _sql.command("use")
_MAILBOX = _sql.value("mailbox", str)
_OLD = _sql.value("old", str)
_PURGE = _sql.command("purge")


def _mailbox_hash(site: Site, tenant: Tenant, email: EmailAddress) -> str:
    return site.keyed_hash("used form", f"{tenant.campaign_id} {email.key}")


async def use(
    tx: Tx, site: Site, tenant: Tenant, token_hash: str, email: EmailAddress, *, now_ms: int
) -> bool:
    """Uses up the form, and returns whether this was the first time."""
    added = await tx.run(
        _USE,
        token_hash=token_hash,
        account_id=tenant.account_id,
        campaign_id=tenant.campaign_id,
        mailbox_hash=_mailbox_hash(site, tenant, email),
        now_ms=now_ms,
    )
    return added == 1


async def was_used_by(
    tx: Tx, site: Site, tenant: Tenant, token_hash: str, email: EmailAddress
) -> bool:
    """Whether the form was used with this address."""
    found = await tx.one(_MAILBOX, token_hash=token_hash, account_id=tenant.account_id)
    return found == _mailbox_hash(site, tenant, email)


purge = Purge(_OLD, _PURGE, lambda now_ms: {"before_ms": now_ms - KEPT_MS}, batch=PURGE_BATCH)
