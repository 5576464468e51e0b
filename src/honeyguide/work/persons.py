"""The job that gives the subscribers of an earlier version the person keys of this one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.kernel.site import Site
from honeyguide.store import Store
from honeyguide.subscribers import persons
from honeyguide.subscribers.persons import Rekeying
from honeyguide.work.items import Items
from honeyguide.work.job import Job


async def rekey(site: Site, store: Store, found: Sequence[Rekeying], now_ms: int) -> bool:
    (campaign,) = found
    await store.write(persons.rekey_batch, site, campaign)
    return True


def job_of(site: Site) -> Job:
    return Job(persons.REKEYING, MINUTE_MS, (Items(persons.due, partial(rekey, site)),))
