"""The job that looks at confirmation emails that wait because of their referral code."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial

from honeyguide.kernel import actors
from honeyguide.kernel.site import Site
from honeyguide.signups import confirmations
from honeyguide.signups.confirmations import RELEASING, HeldCode
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.work.items import Items

# Codes found in one read. Each is looked at in a transaction of its own.
BATCH = 100


async def _release_or_cancel(tx: Tx, site: Site, held: HeldCode, now_ms: int) -> None:
    change = Change(tx, site, held.tenant, actors.job(RELEASING), now_ms)
    await confirmations.release_or_cancel(change, held.code, random.SystemRandom())


async def look_at_codes(site: Site, store: Store, found: Sequence[HeldCode], now_ms: int) -> bool:
    for held in found:
        await store.write(_release_or_cancel, site, held, now_ms)
    return True


def held_codes(site: Site) -> Items:
    return Items(confirmations.due_codes, partial(look_at_codes, site), BATCH)
