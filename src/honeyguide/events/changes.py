"""The feed of subscribers whose public values changed: somebody joined, changed or left, a referral
was decided, a reward was earned. `integrations` reads it, and writes them to the email platform.

Triggers on `subscriber` and `won_reward` add to the feed in the transaction of the change, as they
keep the counts (migration 0033): so no code path can forget it, and a signup stays one statement.
Only campaigns with an integration have a feed. A change adds a row and waits for nobody; ten
changes of one subscriber are ten rows until they are taken, which makes them one.
"""

from __future__ import annotations

from honeyguide.kernel.tenant import Tenant
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

_sql = beside(__file__)
_RECORD = _sql.command("record")
_TAKE = _sql.value("take", str)
_FORGET = _sql.command("forget")


async def record(change: Change, subscriber_id: str) -> None:
    """For a change that the triggers do not see."""
    await change.run(_RECORD, subscriber_id=subscriber_id)


async def take(at: Reading, *, most: int) -> list[str]:
    """Removes up to so many changes from the feed, oldest first, and returns whose they are, each
    subscriber once. The caller stores what is to be done about them in the same transaction."""
    taken = await at.all(_TAKE, most=most)
    return list(dict.fromkeys(taken))


async def forget(tx: Tx, tenant: Tenant, *, most: int) -> int:
    """Deletes up to so many changes of a campaign whose feed nobody reads any more. Returns how
    many."""
    return await tx.run(
        _FORGET, account_id=tenant.account_id, campaign_id=tenant.campaign_id, most=most
    )
