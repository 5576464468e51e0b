"""The jobs that look at what referrals have in common, and reject those that nobody confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from honeyguide.kernel.site import Site
from honeyguide.screening import evidence, moves
from honeyguide.screening.evidence import CodeToLookAt
from honeyguide.signups import group_looks
from honeyguide.store import Store
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


def unconfirmed_referrals(site: Site) -> Items:
    return Items(moves.unconfirmed, partial(verify_referrals, site), VERIFY_BATCH, VERIFY_TOGETHER)
