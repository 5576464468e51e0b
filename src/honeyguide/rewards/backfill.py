"""Background work for rewards: giving a new reward to those who already reached it, and codes to
those who wait for one.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.events import outbox
from honeyguide.events.outbox import Event
from honeyguide.kernel import actors
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.rewards import earned_rewards
from honeyguide.screening import rules
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import referral_states

# Advocates looked at, and rewards given, in one transaction: few enough not to slow down requests
# on the same loop.
ADVOCATES_BATCH = 200
REWARDS_BATCH = 50
# The jobs.
GRANTING = "grant new rewards to advocates who already qualify"
SUPPLYING = "give added coupon codes to waiting advocates"


class _Backfill(NamedTuple):
    account_id: str
    campaign_id: str
    id: str
    referrals: int
    walk_ms: int
    walk_id: str


class _Advocate(NamedTuple):
    id: str
    created_ms: int
    referrals_verified: int
    adjustments: int

    def has_reached(self, needed: int) -> bool:
        count = referral_states.toward_rewards(self.referrals_verified, self.adjustments)
        return bool(rules.times_reached(needed, count, is_recurring=False))


class _RestockedReward(NamedTuple):
    account_id: str
    campaign_id: str
    id: str


_sql = beside(__file__)
_NEXT_BACKFILL = _sql.query("next_backfill", _Backfill)
_ADVOCATES = _sql.query("advocates", _Advocate)
_LOCK = _sql.value("lock", str)
_MOVE_BACKFILL = _sql.command("move_backfill")
_NEXT_RESTOCKED = _sql.query("next_restocked", _RestockedReward)


async def new_rewards(tx: Tx, *, most: int) -> list[str]:
    return [found.id for found in await tx.all(_NEXT_BACKFILL, only="", most=most)]


async def restocked_rewards(tx: Tx, *, most: int) -> list[str]:
    return [found.id for found in await tx.all(_NEXT_RESTOCKED, only="", most=most)]


async def grant_batch(tx: Tx, site: Site, *, only: str = "") -> bool:
    """One step along the advocates of a campaign with a new or easier reward, this one or the next;
    returns whether there may be more."""
    at = await tx.one(_NEXT_BACKFILL, only=only, most=1)
    if at is None:
        return False
    tenant = Tenant(at.account_id, at.campaign_id)
    change = Change(tx, site, tenant, actors.job(GRANTING), tx.now_ms)
    advocates = await tx.all(
        _ADVOCATES,
        account_id=at.account_id,
        campaign_id=at.campaign_id,
        below_ms=at.walk_ms,
        below_id=at.walk_id,
        batch=ADVOCATES_BATCH,
    )
    # All at once and before any pool's row, as a signup does: the same order everywhere avoids
    # deadlocks.
    past = [each.id for each in advocates if each.has_reached(at.referrals)]
    locked = set(
        await tx.lock(_LOCK, account_id=at.account_id, campaign_id=at.campaign_id, ids=past)
    )
    whole, given, events = len(advocates) < ADVOCATES_BATCH, 0, list[Event]()
    last = (at.walk_ms, at.walk_id)
    for advocate in advocates:
        if advocate.id in locked:
            more = await earned_rewards.unlock(change, advocate.id, is_news=False)
            given += more.given
            events += more.events
            if (
                more.given >= earned_rewards.MOST_AT_ONCE
            ):  # there may be as many again: come back to them
                whole = False
                break
        last = (advocate.created_ms, advocate.id)
        if given >= REWARDS_BATCH:
            whole = False
            break
    await outbox.emit(tx, events)
    walk_ms, walk_id = (None, None) if whole else last
    await tx.run(
        _MOVE_BACKFILL,
        account_id=at.account_id,
        id=at.id,
        from_ms=at.walk_ms,
        from_id=at.walk_id,
        walk_ms=walk_ms,
        walk_id=walk_id,
    )
    return True


async def supply_batch(tx: Tx, site: Site, *, only: str = "") -> bool:
    """Gives codes to a batch of those who wait for a pool that has codes again, this one or the
    next; returns whether there may be more."""
    pool = await tx.one(_NEXT_RESTOCKED, only=only, most=1)
    if pool is None:
        return False
    tenant = Tenant(pool.account_id, pool.campaign_id)
    await earned_rewards.fill(Change(tx, site, tenant, actors.job(SUPPLYING), tx.now_ms), pool.id)
    return True
