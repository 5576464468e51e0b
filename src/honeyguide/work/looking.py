"""The jobs that look at what referrals have in common, and reject those that nobody confirmed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from honeyguide.kernel.site import Site
from honeyguide.screening import evidence, moves, shared_traits, trait_groups
from honeyguide.screening.evidence import CodeToLookAt
from honeyguide.screening.trait_groups import ProgramToLookAt
from honeyguide.signups import group_looks
from honeyguide.store import Store
from honeyguide.work.items import Items
from honeyguide.work.money import VERIFY_BATCH, VERIFY_TOGETHER, verify_referrals

CODES = 50
PROGRAMS = 10


async def look_at_code(
    site: Site, store: Store, found: Sequence[CodeToLookAt], now_ms: int
) -> bool:
    """Signups that come with the code meanwhile are examined the next time."""
    (code,) = found
    for subscriber_id in await store.write(group_looks.store_evidence, site, code, now_ms):
        await store.write(group_looks.decide, site, code, subscriber_id, now_ms)
    await store.write(group_looks.end, site, code, now_ms)
    return False


async def look_at_program(
    site: Site, store: Store, found: Sequence[ProgramToLookAt], now_ms: int
) -> bool:
    """Counting takes as long as there are referrals, so it is not part of a write."""
    (program,) = found
    look = await store.slow_snapshot(group_looks.read_program, site, program, now_ms)
    groups = await asyncio.to_thread(shared_traits.find_groups, look.facts)
    news = await store.write(group_looks.store_program, site, program, look, groups, now_ms=now_ms)
    for subscriber_id in news:
        await store.write(group_looks.decide, site, program, subscriber_id, now_ms)
    await store.write(group_looks.end_program, site, program, look, now_ms)
    return False


def programs_to_look_at(site: Site) -> Items:
    return Items(trait_groups.due, partial(look_at_program, site), PROGRAMS)


def codes_to_look_at(site: Site) -> Items:
    return Items(evidence.codes_to_look_at, partial(look_at_code, site), CODES)


def unconfirmed_referrals(site: Site) -> Items:
    return Items(moves.unconfirmed, partial(verify_referrals, site), VERIFY_BATCH, VERIFY_TOGETHER)
