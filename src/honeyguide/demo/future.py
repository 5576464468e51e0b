"""People go on joining the demo's newsletters when its clock was moved, or when it is started again
days later. They sign up at their own times in between, through the same functions as in its year.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress

from honeyguide.accounts import accounts
from honeyguide.app import Services
from honeyguide.demo import history, subscribers
from honeyguide.demo.newsletters import NEWSLETTERS, Newsletter
from honeyguide.demo.setup import DemoAccount, DemoPartnerCampaign, DemoState, DemoSubscriber
from honeyguide.kernel.clock import CLOCK_SET, DAY_MS, HOUR_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Fault
from honeyguide.kernel.paging import Page
from honeyguide.partners import network
from honeyguide.store import Tx
from honeyguide.store.reading import Reading
from honeyguide.subscribers import campaigns
from honeyguide.subscribers import subscribers as people
from honeyguide.subscribers.clicks import count_clicks

LOOK_S = 1
# A little less than the smallest step of the page that moves the clock.
LEAST_MS = DAY_MS - HOUR_MS
MOST_MS = 35 * DAY_MS
_SLUGS = {plan.name: plan.program.slug for each in NEWSLETTERS for plan in each.publications}


def start(opened: Callable[[], AbstractAsyncContextManager[Services]]) -> None:
    """Goes on as long as this process runs."""
    threading.Thread(target=lambda: asyncio.run(_follow(opened)), daemon=True).start()


async def _follow(opened: Callable[[], AbstractAsyncContextManager[Services]]) -> None:
    async with opened() as services:
        since_ms = 0
        while True:
            with suppress(Fault):  # the database is busy
                since_ms = await catch_up(services, since_ms)
            await asyncio.sleep(LOOK_S)


async def catch_up(services: Services, since_ms: int) -> int:
    """Lets people join since then, or since the last one did. Returns until when they have."""
    now_ms = services.clock()
    if now_ms - since_ms < LEAST_MS:
        return since_ms
    state = await services.store.snapshot(_load, services, now_ms)
    newest_ms = [each.at_ms for account in state.accounts for each in account.subscribers]
    since_ms = max(since_ms, now_ms - MOST_MS, *newest_ms)
    if now_ms - since_ms < LEAST_MS:
        return since_ms
    for week_ms in range(since_ms, now_ms, history.WEEK_MS):
        until_ms = min(week_ms + history.WEEK_MS, now_ms)
        signups = history.signups_of(state, week_ms, until_ms)
        for _, sign_up in sorted(signups, key=lambda signup: signup[0]):
            with suppress(Fault):  # whoever tries the demo may have stopped what they came through
                await services.store.write(sign_up)
        await services.store.write(_click_links, state, week_ms, until_ms)
    return now_ms


async def _click_links(tx: Tx, state: DemoState, since_ms: int, until_ms: int) -> None:
    """And wakes the jobs, for whose referral is due already."""
    for account in state.accounts:
        clicks = subscribers.clicks(state, account, until_ms)
        await count_clicks(tx, [each for each in clicks if each.hour_ms >= since_ms])
    tx.wake(CLOCK_SET)


async def _load(tx: Tx, services: Services, now_ms: int) -> DemoState:
    """The newsletters as they are now, with those who may refer others."""
    state = DemoState(services.site, random.Random(now_ms), now_ms, now_ms)
    for newsletter in NEWSLETTERS:
        known = await accounts.find_by_email(tx, EmailAddress(newsletter.email))
        if known is not None:
            state.start_ms = min(state.start_ms, known.created_ms)
            tenant = await campaigns.tenant_of(tx, known.id)
            at = Reading(tx, services.site, tenant, now_ms)
            state.accounts.append(await _load_account(at, newsletter, state))
    ours = {account.tenant.account_id for account in state.accounts}
    for account in state.accounts:
        account.partner_campaigns = [
            each for each in account.partner_campaigns if each.owner_id in ours
        ]
    return state


async def _load_account(at: Reading, newsletter: Newsletter, state: DemoState) -> DemoAccount:
    account = DemoAccount(newsletter, at.tenant)
    for kind in ("advocates", "all"):
        found, total = await people.page_of(at, kind, Page(1, 100))
        state.number += total
        account.subscribers += [
            DemoSubscriber(each.id, each.ref_code, "", each.created_ms)
            for each in found
            if each.status != "unsubscribed"
        ]
    for campaign in (await network.page_of_partner_campaigns(at, Page(1, 20)))[0]:
        pace = newsletter.recommends.get(_SLUGS.get(campaign.publication_name, ""))
        if pace is not None and campaign.status == "active":
            account.partner_campaigns.append(
                DemoPartnerCampaign(
                    campaign.ref_code, campaign.id, campaign.owner_account_id, *pace
                )
            )
    return account
