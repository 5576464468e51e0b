"""What the jobs do with what they found, unless a file beside this one has more of their kind."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from honeyguide.account_life import closing
from honeyguide.account_life.closing import ClosingAccount
from honeyguide.events.name_servers import TextRecords
from honeyguide.events.outbound import Outbound
from honeyguide.integrations import disconnecting
from honeyguide.kernel import actors
from honeyguide.kernel.site import Site
from honeyguide.partners import (
    held_referrals,
    network,
    public_figures,
    publications,
)
from honeyguide.partners.network import ConfirmationRate
from honeyguide.partners.public_figures import DueProgram
from honeyguide.partners.publications import Publication
from honeyguide.rewards import backfill, shipments
from honeyguide.rewards.shipments import OldAddress
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.reading import reads
from honeyguide.store.tx import Tx, timed
from honeyguide.subscribers import cohorts, link_hosts, page_index, persons
from honeyguide.subscribers.cohorts import DueCampaign
from honeyguide.subscribers.link_hosts import LinkHost
from honeyguide.subscribers.persons import Rekeying

# Programs whose rate is written together.
RATES_BATCH = 500
# Looked up at the same time, so that a few names that nobody answers for delay no others.
HOSTS_BATCH = 10


async def update_page_index(store: Store, owners: Sequence[str], now_ms: int) -> bool:
    return await store.write_snapshot(page_index.apply_changes, owners)


async def grant_new_reward(site: Site, store: Store, rewards: Sequence[str], now_ms: int) -> bool:
    (reward_id,) = rewards
    return await store.write(timed(backfill.grant_batch, now_ms), site, only=reward_id)


async def supply_codes(site: Site, store: Store, rewards: Sequence[str], now_ms: int) -> bool:
    (reward_id,) = rewards
    return await store.write(timed(backfill.supply_batch, now_ms), site, only=reward_id)


async def count_cohorts(
    site: Site, store: Store, found: Sequence[DueCampaign], now_ms: int
) -> bool:
    """The counting takes as long as there are people, so it is not part of a write, and done in
    slices."""
    for due in found:
        job = await store.write(cohorts.begin_job, due)
        counts: list[cohorts.CohortCount] = []
        days = job.days
        while days:
            count = reads(cohorts.count_slice, site, job.tenant, now_ms)
            counts, days = await store.slow_snapshot(count, days, counts)
        await store.write(timed(cohorts.save_job, now_ms), job, counts)
    return True


async def set_rates(store: Store, rates: Sequence[ConfirmationRate], now_ms: int) -> bool:
    await store.write(network.set_rates, rates)
    return len(rates) == RATES_BATCH


async def count_public_figures(store: Store, found: Sequence[DueProgram], now_ms: int) -> bool:
    """Counting takes as long as there are referrals, so it is not part of a write."""
    for program in found:
        figures = await store.slow_snapshot(timed(public_figures.count, now_ms), program)
        held = await store.slow_snapshot(
            timed(held_referrals.count_held, now_ms), program.account_id, program.id
        )
        await store.write(timed(public_figures.save, now_ms), program, figures, held)
    return True


async def add_search_texts(store: Store, found: Sequence[Publication], now_ms: int) -> bool:
    await store.write(publications.add_search_texts, found)
    return len(found) == publications.FOLD_BATCH


async def delete_disconnected(store: Store, found: Sequence[str], now_ms: int) -> bool:
    (integration_id,) = found
    return await store.write(timed(disconnecting.delete_batch, now_ms), only=integration_id)


async def remove_addresses(store: Store, found: Sequence[OldAddress], now_ms: int) -> bool:
    await store.write(shipments.remove_addresses, found)
    return len(found) == shipments.REMOVAL_BATCH


async def rekey(site: Site, store: Store, found: Sequence[Rekeying], now_ms: int) -> bool:
    (campaign,) = found
    await store.write(persons.rekey_batch, site, campaign)
    return True


async def close_account(
    site: Site, store: Store, found: Sequence[ClosingAccount], now_ms: int
) -> bool:
    """Step by step, each in a transaction of its own: a process that is killed loses nothing."""
    (account,) = found
    actor = actors.job(closing.CLOSING)
    while await store.write(timed(closing.close_some, now_ms), site, actor, account.id):
        pass
    return False


async def forget_account(store: Store, found: Sequence[str], now_ms: int) -> bool:
    (account_id,) = found
    await store.write(timed(closing.forget, now_ms), account_id)
    return True


async def check_hosts(
    site: Site, outbound: Outbound, store: Store, hosts: Sequence[LinkHost], now_ms: int
) -> bool:
    found = await asyncio.gather(*(outbound.resolver.texts(each.record_name) for each in hosts))
    for host, texts in zip(hosts, found, strict=True):
        await store.write(timed(_record_check, now_ms), site, host, texts)
    return len(hosts) == HOSTS_BATCH


async def _record_check(tx: Tx, site: Site, host: LinkHost, texts: TextRecords) -> None:
    change = Change(tx, site, host.tenant, actors.job(link_hosts.CHECKING), tx.now_ms)
    await link_hosts.record_check(change, host.id, texts)
