"""The jobs about terms of programs: what waits for its day begins, and partners are told."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from honeyguide.kernel.clock import CLOCK_SET, MINUTE_MS
from honeyguide.kernel.site import Site
from honeyguide.partners import term_changes, term_notifications
from honeyguide.partners.announcements import TermChange
from honeyguide.store import Store
from honeyguide.work.items import Items
from honeyguide.work.job import Job

BATCH = 20


async def begin(site: Site, store: Store, found: Sequence[TermChange], now_ms: int) -> bool:
    (change,) = found
    await store.write(term_changes.begin, site, change, now_ms=now_ms)
    return True


async def tell(site: Site, store: Store, found: Sequence[TermChange], now_ms: int) -> bool:
    (change,) = found
    while await store.write(term_notifications.tell, site, change, now_ms=now_ms):
        pass
    return True


def jobs_of(site: Site) -> tuple[Job, ...]:
    return (
        Job(
            term_notifications.TELLING,
            MINUTE_MS,
            (Items(term_notifications.due, partial(tell, site), BATCH),),
            topic=CLOCK_SET,
        ),
        Job(
            term_changes.BEGINNING,
            MINUTE_MS,
            (Items(term_changes.due, partial(begin, site), BATCH),),
            topic=CLOCK_SET,
        ),
    )
