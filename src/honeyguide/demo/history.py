"""A year of three newsletters, through the same functions as real use, one transaction per week. So
every count, holding period, cent and notification is what it would have been.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial

from honeyguide.accounts import accounts
from honeyguide.app import Services
from honeyguide.demo import local_tools, looks, shipping, subscribers
from honeyguide.demo.receiver import WebhookReceiver
from honeyguide.demo.robots import RobotPartner
from honeyguide.demo.setup import JOINING_MS, OPENING_MS, DemoAccount, DemoState
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import emails, notifications
from honeyguide.partners import (
    budget_notifications,
    network,
    partner_referrals,
    payout_marks,
    payout_notifications,
    payouts,
    program_partners,
    programs,
    reversal_reasons,
    rules,
)
from honeyguide.partners.program_partners import Removal
from honeyguide.rewards import adjustments, earned_rewards, rewards
from honeyguide.rewards.adjustments import AdjustmentFields
from honeyguide.screening import moves
from honeyguide.signups import lifecycle, paid_referrals, removed_partners, reversals, signups
from honeyguide.store import Tx
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading, Reading
from honeyguide.store.tx import timed
from honeyguide.subscribers import page_index, search, statistics
from honeyguide.subscribers import subscribers as people
from honeyguide.subscribers.clicks import count_clicks
from honeyguide.subscribers.reasons import SUSPICIONS, Reason

WEEK_MS = 7 * DAY_MS
# What operators have not handled yet: pending referrals of the last days, and shipments, rewards
# and notifications of the last weeks.
UNDECIDED_MS = 12 * DAY_MS
UNSENT_MS = 21 * DAY_MS
UNREAD_MS = 40 * DAY_MS
# More than a week brings.
MOST_READ = 200
# When operators adjusted what an advocate has toward rewards, took a fee back and parted from a
# partner.
ADJUSTED_MS = 21 * DAY_MS

Signup = Callable[[Tx], Awaitable[None]]
Step = tuple[int, int, Signup]


async def create_history(
    services: Services,
    state: DemoState,
    robots: RobotPartner,
    on_week: Callable[[int, int], None],
) -> int:
    """Returns the port on which the tools of the first newsletter listened."""
    async with WebhookReceiver(services, state).listening() as receiver:
        await _weeks(services, state, robots, receiver, on_week)
        if services.policy.loopback_ok:
            first = state.accounts[0].tenant
            await local_tools.connect_email_tool(services, first, receiver.port)
    ours = {*(account.tenant for account in state.accounts), robots.tenant}
    await services.store.write(looks.look_at_groups, state, ours)
    await services.store.write(_skip_emails, ours, state.end_ms)
    await _settle_counts(services, state)
    return receiver.port


async def _skip_emails(tx: Tx, ours: Iterable[Tenant], at_ms: int) -> None:
    """Mark the demo's emails as sent, because nobody wants them now. Those of real accounts stay
    due.
    """
    for tenant in ours:
        await emails.mark_all_sent(tx, tenant.account_id, at_ms)


async def _weeks(
    services: Services,
    state: DemoState,
    robots: RobotPartner,
    receiver: WebhookReceiver,
    on_week: Callable[[int, int], None],
) -> None:
    starts = range(state.start_ms, state.end_ms, WEEK_MS)
    for done, at_ms in enumerate(starts):
        on_week(done, len(starts))
        await receiver.connect(at_ms)
        until_ms = min(at_ms + WEEK_MS, state.end_ms)
        steps = sorted(_steps(state, robots, at_ms, until_ms), key=lambda step: step[:2])
        await services.store.write(_week, state, steps, until_ms)
        await receiver.receive_due(until_ms)
    on_week(len(starts), len(starts))


async def _week(tx: Tx, state: DemoState, steps: list[Step], until_ms: int) -> None:
    for _, _, step in steps:
        await step(tx)
    await _weekly_tasks(tx, state, until_ms)


def signups_of(state: DemoState, since_ms: int, until_ms: int) -> Iterator[tuple[int, Signup]]:
    """Who signs up with each newsletter in a week, alone, through a friend or through a partner."""
    opens_ms = state.start_ms + OPENING_MS + JOINING_MS + 10 * DAY_MS
    for account in state.accounts:
        newsletter = account.newsletter
        for at_ms in subscribers.moments(
            state, newsletter.first, newsletter.last, since_ms, until_ms
        ):
            step = partial(
                subscribers.sign_up_subscriber, state=state, account=account, at_ms=at_ms
            )
            yield at_ms, step
        for partner_campaign in account.partner_campaigns if since_ms >= opens_ms else ():
            for at_ms in subscribers.moments(
                state,
                partner_campaign.first,
                partner_campaign.last,
                since_ms,
                until_ms,
                is_mailing=True,
            ):
                step = partial(
                    subscribers.refer_subscriber,
                    state=state,
                    account=state.account(partner_campaign.owner_id),
                    partner_campaign=partner_campaign,
                    at_ms=at_ms,
                )
                yield at_ms, step


def _steps(state: DemoState, robots: RobotPartner, since_ms: int, until_ms: int) -> Iterator[Step]:
    """All that happens in a week, each with its time; the second number keeps equal times in
    order.
    """
    order = iter(range(1_000_000))
    for at_ms, step in signups_of(state, since_ms, until_ms):
        yield at_ms, next(order), step
    wax = state.accounts[0]
    for at_ms, odd in subscribers.suspicious(state, wax, since_ms, until_ms):
        yield at_ms, next(order), odd
    for at_ms, robot in robots.steps(since_ms, until_ms):
        yield at_ms, next(order), robot
    for at_ms in range(since_ms + DAY_MS, until_ms + 1, DAY_MS):
        yield at_ms, next(order), partial(_run_jobs, state=state, at_ms=at_ms)
    yield until_ms, next(order), partial(_click_links, state=state, at_ms=until_ms)


async def _run_jobs(tx: Tx, state: DemoState, at_ms: int) -> None:
    """What the background jobs do each day."""
    ours = {account.tenant for account in state.accounts}
    ended = [
        *await moves.due(tx.at(at_ms), most=500),
        *await moves.unconfirmed(tx.at(at_ms), most=500),
    ]
    for tenant, subscriber_id in ended:
        if tenant in ours:
            change = Change(tx, state.site, tenant, actors.command("demo"), at_ms)
            await signups.verify_due(change, subscriber_id)
    if state.unseen_partner:  # no program asked for a look before
        await looks.look_at_partners(tx, state, at_ms)
    while await budget_notifications.notify_due(tx.at(at_ms), state.site):
        pass
    await payouts.close_months(tx.at(at_ms))
    for month in await payouts.months_to_pay_out(tx, most=12):
        after = ""
        while earned := await payouts.earned_by(tx, month, after):
            await payouts.make_payouts(tx.at(at_ms), month, earned)
            after = earned[-1].credit
        await payouts.set_paid_out(tx.at(at_ms), month)
        await _notify_about_payouts(tx, state, month, at_ms)
    await _pay(tx, state, at_ms)


async def _notify_about_payouts(tx: Tx, state: DemoState, month: str, at_ms: int) -> None:
    """Not if a real account is an administrator: its emails are not the demo's to skip."""
    ours = {account.tenant.account_id for account in state.accounts}
    if all(each.id in ours for each in await accounts.list_all(tx) if each.is_admin):
        while await payout_notifications.notify_batch(tx.at(at_ms), state.site, month):
            pass


async def _pay(tx: Tx, state: DemoState, at_ms: int) -> None:
    """The administrator pays ten days into the month; the newest payouts are paid in part only."""
    month = rules.previous_month(rules.month_of(at_ms))
    if at_ms < rules.closes_at(month) + 9 * DAY_MS:
        return
    ours = {account.tenant.account_id for account in state.accounts}
    open_ones = [
        row for row in await payouts.of_month(tx, month, open_only=True) if row.account_id in ours
    ]
    is_newest = month == rules.previous_month(rules.month_of(state.end_ms))
    for number, row in enumerate(
        open_ones[:1] if is_newest and len(open_ones) == len(ours) else open_ones
    ):
        if is_newest and len(open_ones) < len(ours):
            return
        await payout_marks.mark_paid(
            tx.at(at_ms + 9 * HOUR_MS),
            state.site,
            actors.member(state.accounts[0].owner_id),
            row.id,
            f"SEPA {month.replace('-', '')}-{number + 1:02d}",
        )


async def _click_links(tx: Tx, state: DemoState, at_ms: int) -> None:
    for account in state.accounts:
        await count_clicks(tx, subscribers.clicks(state, account, at_ms))


async def _read_notifications(change: Change) -> None:
    unread = await notifications.page_of(change, Page(1, MOST_READ), only_new=True)
    ids = [each.notification.id for each in unread]
    await notifications.read(change.tx, change.account_id, ids)


async def _weekly_tasks(tx: Tx, state: DemoState, at_ms: int) -> None:
    """What subscribers and operators do once a week: claim and approve rewards, decide on pending
    referrals, read notifications.
    """
    for account in state.accounts:
        await _claims(tx, state, account, at_ms)
        await _leave(tx, state, account, at_ms)
        if 0 <= state.end_ms - ADJUSTED_MS - at_ms < WEEK_MS:
            await _adjust(tx, state, account, at_ms)
        if at_ms < state.end_ms - UNDECIDED_MS:
            await _review(tx, state, account, at_ms)
        if at_ms < state.end_ms - UNSENT_MS:
            await shipping.ship(tx, state, account, at_ms)
        if at_ms < state.end_ms - UNREAD_MS:
            await _approve(tx, state, account, at_ms)
            await _read_notifications(state.change(tx, account, at_ms))
    for account in state.accounts:
        for plan in account.newsletter.publications:
            if plan.program.is_paused and 0 <= state.end_ms - 5 * WEEK_MS - at_ms < WEEK_MS:
                program_id = account.programs[plan.program.slug]
                await programs.switch(state.change(tx, account, at_ms), program_id, on=False)
    if at_ms >= state.end_ms - ADJUSTED_MS - WEEK_MS and not state.has_reversal:
        await _reverse_one(tx, state, at_ms)
    if 0 <= state.end_ms - ADJUSTED_MS - at_ms < WEEK_MS:
        await _part(tx, state, at_ms)
    if at_ms >= state.end_ms:
        await _bounce(tx, state, at_ms)


async def _bounce(tx: Tx, state: DemoState, at_ms: int) -> None:
    """The email tool of the first newsletter reports readers who were paid for."""
    owner = state.accounts[0]
    tool = Change(tx, state.site, owner.tenant, actors.job("sync with your own tool"), at_ms)
    after_fee = [each for each in Reason if each.facts.is_after_fee]
    for program_id in owner.programs.values():
        newest, _ = await paid_referrals.page_of_program(tool, program_id, Page(1, 50))
        charged = [each.subscriber_id for each in newest if each.charged_cents]
        for subscriber_id, how in zip(charged, after_fee, strict=False):
            await signups.depart(tool, subscriber_id, how)


async def _claims(tx: Tx, state: DemoState, account: DemoAccount, at_ms: int) -> None:
    earned, _ = await earned_rewards.page_of_earned(
        Reading(tx, state.site, account.tenant, at_ms), earned_rewards.UNLOCKED, Page(1, 200)
    )
    for each in earned:
        if each.is_claimed:
            # The latest claims wait, so that there is something to hand over.
            if at_ms < state.end_ms - UNSENT_MS:
                await earned_rewards.redeem(state.change(tx, account, at_ms), each.id)
            continue
        is_physical = each.kind == rewards.PHYSICAL
        # Of late, many claim what comes by post, so that there is something to send.
        is_late = at_ms >= state.end_ms - UNSENT_MS
        if state.rng.random() < ((0.4 if is_late else 0.03) if is_physical else 0.07):
            winner = await people.get(
                Reading(tx, state.site, account.tenant, at_ms), each.subscriber_id
            )
            address = shipping.address_of(winner) if is_physical else None
            variants = each.variants
            actor = actors.subscriber(each.subscriber_id)
            await earned_rewards.claim(
                Change(tx, state.site, account.tenant, actor, at_ms),
                winner,
                each.id,
                shipping=address,
                variant=variants[each.earned_ms // DAY_MS % len(variants)] if variants else None,
            )


async def _approve(tx: Tx, state: DemoState, account: DemoAccount, at_ms: int) -> None:
    waiting, _ = await earned_rewards.page_of_earned(
        Reading(tx, state.site, account.tenant, at_ms), earned_rewards.AWAITING, Page(1, 60)
    )
    # The newest two wait on, so that there is always something to approve.
    for each in waiting[2:]:
        await earned_rewards.approve(state.change(tx, account, at_ms), each.id)


async def _review(tx: Tx, state: DemoState, account: DemoAccount, at_ms: int) -> None:
    """Reject a few of the referrals that screening holds; the others wait for their
    verification.
    """
    held = await search.judged(
        Reading(tx, state.site, account.tenant, at_ms), "pending", before=None, most=40
    )
    for each in held:
        if each.referral_reason in SUSPICIONS and state.rng.random() < 0.4:
            await signups.decide(state.change(tx, account, at_ms), each.id, "rejected")
        elif state.rng.random() < 0.02:
            await _unsubscribe(tx, state, account, each.id, at_ms)


async def _adjust(tx: Tx, state: DemoState, account: DemoAccount, at_ms: int) -> None:
    """The best advocate brought friends whom no link could count."""
    meetup = AdjustmentFields(amount=2, reason="Brought two friends to our meetup")
    for best in await statistics.top_advocates_ever(
        Reading(tx, state.site, account.tenant, at_ms), most=1
    ):
        await adjustments.add(state.change(tx, account, at_ms), best.id, meetup)


async def _reverse_one(tx: Tx, state: DemoState, at_ms: int) -> None:
    """The first newsletter takes back what it paid for the newest referral of an open month."""
    owner, partner = state.accounts[:2]
    reversal = reversal_reasons.parse("robot", "The first issue bounced.")
    for campaign in partner.partner_campaigns:
        if campaign.owner_id != owner.tenant.account_id:
            continue
        change = state.change(tx, owner, at_ms)
        place = await program_partners.get(
            AccountReading(tx, state.site, campaign.owner_id, at_ms), campaign.partner_campaign_id
        )
        newest, _ = await partner_referrals.of_partner_campaign(
            AccountReading(tx, state.site, place.account_id, at_ms), place.id, Page(1, 50)
        )
        for charged in (each.id for each in newest if each.charged_cents is not None):
            (outcome,) = await reversals.reverse(change, place.program_id, [charged], reversal)
            if outcome.refused is None:
                state.has_reversal = True
                return


async def _part(tx: Tx, state: DemoState, at_ms: int) -> None:
    """The first newsletter removes the only partner of its paused program."""
    owner = state.accounts[0]
    change = state.change(tx, owner, at_ms)
    why = Removal("We are rethinking this newsletter and want no new readers for now.")
    for plan in owner.newsletter.publications:
        if plan.program.is_paused:
            program = await programs.get(
                AccountReading(tx, state.site, owner.tenant.account_id, at_ms),
                owner.programs[plan.program.slug],
            )
            for partner in (await program_partners.page_of(tx, program, Page(1, 1)))[0]:
                await removed_partners.remove(change, partner.id, why)


async def _leave(tx: Tx, state: DemoState, account: DemoAccount, at_ms: int) -> None:
    """Some subscribers unsubscribe later on, when their referral is decided."""
    rng = random.Random(f"{account.newsletter.slug} {at_ms // DAY_MS}")
    for each in account.subscribers[len(account.subscribers) // 9 :]:
        if 15 * DAY_MS < at_ms - each.at_ms < 90 * DAY_MS and rng.random() < 0.008:
            await _unsubscribe(tx, state, account, each.id, at_ms)


async def _unsubscribe(
    tx: Tx, state: DemoState, account: DemoAccount, subscriber_id: str, at_ms: int
) -> None:
    """They refer nobody any more."""
    left = lifecycle.SubscriberChanges(status="unsubscribed")
    reader = actors.subscriber(subscriber_id)
    change = Change(tx, state.site, account.tenant, reader, at_ms)
    await signups.update(change, subscriber_id, left)
    stay = [each for each in account.subscribers if each.id != subscriber_id]
    account.subscribers[:] = stay


async def _settle_counts(services: Services, state: DemoState) -> None:
    """Update the page index and the network's order, as the background jobs would."""
    while await services.store.write_snapshot(page_index.apply_changes):
        pass
    rates = await services.store.read(timed(network.changed_rates, state.end_ms), most=1_000)
    await services.store.write(network.set_rates, rates)
