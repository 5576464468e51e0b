"""What is looked at in the demo, as the background jobs and its operators would: groups of
referrals, and the first readers of partners.
"""

from __future__ import annotations

from collections.abc import Container

from honeyguide.demo.setup import DemoState
from honeyguide.kernel.tenant import Tenant
from honeyguide.screening import evidence, shared_traits, trait_groups
from honeyguide.signups import first_looks, group_looks
from honeyguide.store import Tx


async def look_at_groups(tx: Tx, state: DemoState, ours: Container[Tenant]) -> None:
    """As the background job would, so that the first page has all evidence."""
    site, at_ms = state.site, state.end_ms
    for found in await evidence.codes_to_look_at(tx.at(at_ms), most=1_000):
        if found.tenant in ours:
            for subscriber_id in await group_looks.store_evidence(tx, site, found, at_ms):
                await group_looks.decide(tx, site, found, subscriber_id, at_ms)
            await group_looks.end(tx, site, found, at_ms)
    until_ms = at_ms + trait_groups.LOOK_AFTER_MS
    for program in await trait_groups.due(tx.at(until_ms), most=100):
        if program.tenant in ours:
            look = await group_looks.read_program(tx, site, program, at_ms)
            groups = shared_traits.find_groups(look.facts)
            await group_looks.store_groups(tx, site, program, groups, at_ms)
            traits = {group.trait for group in groups}
            news = await group_looks.find_news(
                tx.at(at_ms), site, program, look, groups, changed=traits
            )
            for subscriber_id in news:
                await group_looks.decide(tx, site, program, subscriber_id, at_ms)
            await group_looks.end_program(tx, site, program, look, until_ms)
    await look_at_partners(tx, state, at_ms)


async def look_at_partners(tx: Tx, state: DemoState, at_ms: int) -> None:
    """The first looks that are asked for; all but one look right."""
    owners = {account.tenant.account_id: account for account in state.accounts}
    for asked in await first_looks.to_ask(tx.at(at_ms), most=100):
        if asked.account_id not in owners:
            continue
        change = state.change(tx, owners[asked.account_id], at_ms)
        await first_looks.ask(change, asked)
        if asked.id != state.unseen_partner:
            await first_looks.approve(change, await first_looks.get_locked(change, asked.id))
