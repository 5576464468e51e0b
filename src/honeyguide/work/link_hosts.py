"""The job that looks up the DNS records of link hosts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from honeyguide.events.name_servers import TextRecords
from honeyguide.events.outbound import Outbound
from honeyguide.kernel import actors
from honeyguide.kernel.site import Site
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.subscribers import link_hosts
from honeyguide.subscribers.link_hosts import LinkHost
from honeyguide.work.items import Items

# Looked up at the same time, so that a few names that nobody answers for delay no others.
BATCH = 10


def hosts_to_check(site: Site, outbound: Outbound) -> Items:
    return Items(link_hosts.due, partial(check_hosts, site, outbound), BATCH, BATCH)


async def check_hosts(
    site: Site, outbound: Outbound, store: Store, hosts: Sequence[LinkHost], now_ms: int
) -> bool:
    found = await asyncio.gather(*(outbound.resolver.texts(each.record_name) for each in hosts))
    for host, records in zip(hosts, found, strict=True):
        await store.write(_record, site, host, records, now_ms=now_ms)
    return len(hosts) == BATCH


async def _record(tx: Tx, site: Site, host: LinkHost, records: TextRecords, *, now_ms: int) -> None:
    change = Change(tx, site, host.tenant, actors.job(link_hosts.CHECKING), now_ms)
    await link_hosts.record_check(change, host.id, records)
