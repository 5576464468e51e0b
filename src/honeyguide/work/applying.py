"""The job that does what was delayed on the dashboard, or drops it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.site import Site
from honeyguide.signups import delayed_actions
from honeyguide.signups.delayed_actions import DelayedAction
from honeyguide.store import Store
from honeyguide.work.items import Items

# Found in one read. Each is done in a transaction of its own, a few at a time.
BATCH = 100
TOGETHER = 8


async def apply_or_drop(
    site: Site, store: Store, found: Sequence[DelayedAction], now_ms: int
) -> bool:
    async def apply(action: DelayedAction) -> None:
        try:
            await store.write(delayed_actions.apply, site, action, now_ms=now_ms)
        except (Invalid, Missing) as fault:
            await store.write(delayed_actions.drop, site, action, fault, now_ms=now_ms)

    outcomes = await asyncio.gather(*map(apply, found), return_exceptions=True)
    for outcome in outcomes:
        if outcome is not None:
            raise outcome
    return True


def due_actions(site: Site) -> Items:
    return Items(delayed_actions.due, partial(apply_or_drop, site), BATCH, TOGETHER)
