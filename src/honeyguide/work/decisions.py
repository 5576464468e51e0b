"""The jobs that decide or do what waited for its time: groups of referrals that are looked at, mail
hosts that DNS is asked for, what was delayed on the dashboard, shipments that are announced.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

from honeyguide.events.outbound import Outbound
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.site import Site
from honeyguide.rewards import shipment_emails
from honeyguide.rewards.shipment_emails import ANNOUNCING, Recipient
from honeyguide.screening import mail_hosts, shared_traits, trait_groups
from honeyguide.screening.evidence import CodeToLookAt
from honeyguide.screening.trait_groups import ProgramToLookAt
from honeyguide.signups import claims, confirmations, delayed_actions, group_looks
from honeyguide.signups.confirmations import HeldCode
from honeyguide.signups.delayed_actions import DelayedAction
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.tx import timed
from honeyguide.work.items import Do, changes_of

# Found in one read. Each is done in a transaction of its own; delayed actions a few at a time.
BATCH = 100
TOGETHER = 8
PROGRAMS = 10
# Stored in one transaction.
GROUPS = 50
DOMAINS = 500
# Mail hosts that DNS is asked for at the same time, and so many a minute.
HOSTS = 50


async def apply_or_drop(
    site: Site, store: Store, found: Sequence[DelayedAction], now_ms: int
) -> bool:
    async def apply(action: DelayedAction) -> None:
        try:
            await store.write(timed(delayed_actions.apply, now_ms), site, action)
        except (Invalid, Missing) as fault:
            await store.write(timed(delayed_actions.drop, now_ms), site, action, fault)

    outcomes = await asyncio.gather(*map(apply, found), return_exceptions=True)
    for outcome in outcomes:
        if outcome is not None:
            raise outcome
    return True


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
    differ = await asyncio.to_thread(trait_groups.compare, groups, look.stored)
    await store.write(group_looks.remove_groups, site, program, differ.gone, now_ms)
    for start in range(0, len(differ.to_save), GROUPS):
        some = differ.to_save[start : start + GROUPS]
        await store.write(group_looks.store_groups, site, program, some, now_ms)
    for start in range(0, len(look.to_ask), DOMAINS):
        domains = look.to_ask[start : start + DOMAINS]
        await store.write(timed(mail_hosts.want, now_ms), domains)
    news = await store.slow_snapshot(
        timed(group_looks.find_news, now_ms), site, program, look, groups, changed=differ.traits
    )
    for subscriber_id in news:
        await store.write(group_looks.decide, site, program, subscriber_id, now_ms)
    await store.write(group_looks.end_program, site, program, look, now_ms)
    return False


async def ask_mail_hosts(
    outbound: Outbound, store: Store, domains: Sequence[str], now_ms: int
) -> bool:
    found = await asyncio.gather(*(outbound.resolver.mail_server(each) for each in domains))
    for domain, server in zip(domains, found, strict=True):
        await store.write(timed(mail_hosts.save, now_ms), domain, server)
    return False


def release_or_cancel(site: Site) -> Do:
    """Confirmation emails that wait because of their referral code."""

    async def look(change: Change, held: HeldCode) -> None:
        await confirmations.release_or_cancel(change, held.code, random.SystemRandom())

    return changes_of(site, confirmations.RELEASING, look)


def end_claims(site: Site) -> Do:
    return changes_of(site, claims.ENDING, claims.end_due)


def announce(site: Site) -> Do:
    """Tells subscribers that their rewards are on the way."""

    async def tell(change: Change, recipient: Recipient) -> None:
        await shipment_emails.announce(change, recipient.subscriber_id)

    return changes_of(site, ANNOUNCING, tell)
