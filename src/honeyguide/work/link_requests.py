"""Answers those who asked for a link by email, before emails are sent."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from honeyguide.accounts import link_requests
from honeyguide.kernel.site import Site
from honeyguide.store import Store
from honeyguide.work.items import Items

BATCH = 100


async def answer(site: Site, store: Store, found: Sequence[str], now_ms: int) -> bool:
    for request_id in found:
        await store.write(link_requests.answer, site, request_id, now_ms=now_ms)
    return len(found) == BATCH


def requested_links(site: Site) -> Items:
    return Items(link_requests.due, partial(answer, site), BATCH)
