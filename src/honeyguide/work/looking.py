"""The jobs that look at what referrals have in common, and reject those that nobody confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from honeyguide.kernel import actors
from honeyguide.kernel.site import Site
from honeyguide.screening import evidence, moves
from honeyguide.screening.evidence import CodeToLookAt
from honeyguide.signups import claims, group_looks
from honeyguide.signups.claims import DueClaim
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.work.items import Items
from honeyguide.work.money import VERIFY_BATCH, VERIFY_TOGETHER, verify_referrals

CODES = 50


async def look_at_code(
    site: Site, store: Store, found: Sequence[CodeToLookAt], now_ms: int
) -> bool:
    """Signups that come with the code meanwhile are examined the next time."""
    (code,) = found
    for subscriber_id in await store.write(group_looks.store_evidence, site, code, now_ms):
        await store.write(group_looks.decide, site, code, subscriber_id, now_ms)
    await store.write(group_looks.end, site, code, now_ms)
    return False


def codes_to_look_at(site: Site) -> Items:
    return Items(evidence.codes_to_look_at, partial(look_at_code, site), CODES)


async def _end_claim(tx: Tx, site: Site, claim: DueClaim, now_ms: int) -> None:
    change = Change(tx, site, claim.tenant, actors.job(claims.ENDING), now_ms)
    await claims.end_due(change, claim)


async def end_claims(site: Site, store: Store, found: Sequence[DueClaim], now_ms: int) -> bool:
    for claim in found:
        await store.write(_end_claim, site, claim, now_ms)
    return bool(found)


def unconfirmed_claims(site: Site) -> Items:
    return Items(claims.due, partial(end_claims, site), VERIFY_BATCH, VERIFY_TOGETHER)


def unconfirmed_referrals(site: Site) -> Items:
    return Items(moves.unconfirmed, partial(verify_referrals, site), VERIFY_BATCH, VERIFY_TOGETHER)
