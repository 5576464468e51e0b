"""The job that asks DNS which server takes the mail of a domain."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from honeyguide.events.outbound import Outbound
from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.kernel.site import Site
from honeyguide.screening import mail_hosts
from honeyguide.store import Store
from honeyguide.work.items import Items
from honeyguide.work.job import Job

# Asked at the same time, and so many a minute.
BATCH = 50


def mail_host_jobs(site: Site, outbound: Outbound) -> tuple[Job, ...]:
    if not site.asks_mail_hosts:
        return ()
    asking = Items(mail_hosts.due, partial(ask_hosts, outbound), BATCH, BATCH)
    return (Job(mail_hosts.ASKING, MINUTE_MS, (asking,)),)


async def ask_hosts(outbound: Outbound, store: Store, domains: Sequence[str], now_ms: int) -> bool:
    found = await asyncio.gather(*(outbound.resolver.mail_server(each) for each in domains))
    for domain, server in zip(domains, found, strict=True):
        await store.write(mail_hosts.save, domain, server, now_ms=now_ms)
    return False
