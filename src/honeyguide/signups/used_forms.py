"""Signup forms that were used: each one that was shown makes one signup. A double click or a reload
sends the same form again, with the same address; a robot sends it with others.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.change import Change
from honeyguide.store.purging import Purge
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside

# A tab may stay open overnight.
LONGEST_MS = 2 * DAY_MS
# Longer than a form lives, also where the clocks of several machines differ a little.
KEPT_MS = LONGEST_MS + HOUR_MS
PURGE_BATCH = 1_000


class _Answer(NamedTuple):
    mailbox_hash: str
    code: str | None


_sql = beside(__file__)
_USE = _sql.command("use")
_ANSWER = _sql.query("answer", _Answer)
_OLD = _sql.value("old", str)
_PURGE = _sql.command("purge")


def _mailbox_hash(site: Site, tenant: Tenant, email: EmailAddress) -> str:
    return site.keyed_hash("used form", f"{tenant.campaign_id} {email.key}")


async def use(
    change: Change,
    token_hash: str,
    email: EmailAddress,
    *,
    code: str,
) -> bool:
    """Uses up the form, and returns whether this was the first time. `code` is what it is answered
    with."""
    added = await change.run(
        _USE,
        token_hash=token_hash,
        mailbox_hash=_mailbox_hash(change.site, change.tenant, email),
        code=code,
    )
    return added == 1


async def find_answer(at: Reading, token_hash: str, email: EmailAddress) -> str | None:
    """The code that the form was answered with. None if it was used with another address."""
    found = await at.one(_ANSWER, token_hash=token_hash)
    is_same = found is not None and found.mailbox_hash == _mailbox_hash(at.site, at.tenant, email)
    return found.code if found is not None and is_same else None


purge = Purge(_OLD, _PURGE, lambda now_ms: {"before_ms": now_ms - KEPT_MS}, batch=PURGE_BATCH)
