"""A year of three newsletters, through the same functions as real use, one transaction per week. So
every count, holding period, cent and notification is what it would have been.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from honeyguide.app import Services
from honeyguide.demo import crowd
from honeyguide.demo.stage import JOINING_MS, OPENING_MS, Player, Stage
from honeyguide.demo.tool import Tool
from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.paging import Page
from honeyguide.mail import emails, notifications
from honeyguide.partners import budget_notifications, network, payouts, programs, rules
from honeyguide.referrals import earned_rewards, lifecycle, page_index, search
from honeyguide.referrals.clicks import count_clicks
from honeyguide.signups import signups
from honeyguide.store import Tx

WEEK_MS = 7 * DAY_MS
# What operators have not handled yet: pending referrals of the last days, and rewards and
# notifications of the last weeks.
UNDECIDED_MS = 12 * DAY_MS
UNREAD_MS = 40 * DAY_MS

Act = tuple[int, int, Callable[[Tx], Awaitable[None]]]


async def live(services: Services, stage: Stage) -> None:
    async with Tool(services, stage).listening() as tool:
        await _weeks(services, stage, tool)
        await tool.leave()
    await services.store.write(_skip_emails, stage)
    await _settle_counts(services, stage)


async def _skip_emails(tx: Tx, stage: Stage) -> None:
    """Mark the demo's emails as sent, because nobody wants them now. Those of real accounts stay
    due.
    """
    for player in stage.players:
        await emails.take_as_sent(tx, player.tenant.account_id, stage.end_ms)


async def _weeks(services: Services, stage: Stage, tool: Tool) -> None:
    at_ms = stage.start_ms
    while at_ms < stage.end_ms:
        await tool.connect(at_ms)
        until_ms = min(at_ms + WEEK_MS, stage.end_ms)
        acts = sorted(_acts(stage, at_ms, until_ms), key=lambda act: act[:2])
        await services.store.write(_week, stage, acts, until_ms)
        await tool.hear(until_ms)
        at_ms = until_ms


async def _week(tx: Tx, stage: Stage, acts: list[Act], until_ms: int) -> None:
    for _, _, act in acts:
        await act(tx)
    await _chores(tx, stage, until_ms)


def _acts(stage: Stage, since_ms: int, until_ms: int) -> Iterator[Act]:
    """All that happens in a week, each with its time; the second number keeps equal times in
    order.
    """
    order = iter(range(1_000_000))
    opens_ms = stage.start_ms + OPENING_MS + JOINING_MS + 10 * DAY_MS
    for player in stage.players:
        for at_ms in crowd.moments(
            stage, player.newsletter.first, player.newsletter.last, since_ms, until_ms
        ):
            act = partial(crowd.sign_up_reader, stage=stage, player=player, at_ms=at_ms)
            yield at_ms, next(order), act
        for place in player.places if since_ms >= opens_ms else ():
            for at_ms in crowd.moments(
                stage, place.first, place.last, since_ms, until_ms, letter=True
            ):
                owner = stage.player(place.owner_id)
                act = partial(
                    crowd.refer_reader, stage=stage, player=owner, place=place, at_ms=at_ms
                )
                yield at_ms, next(order), act
    wax = stage.players[0]
    for at_ms, odd in crowd.suspicious(stage, wax, since_ms, until_ms):
        yield at_ms, next(order), odd
    for at_ms in range(since_ms + DAY_MS, until_ms + 1, DAY_MS):
        yield at_ms, next(order), partial(_run_jobs, stage=stage, at_ms=at_ms)
    yield until_ms, next(order), partial(_click_links, stage=stage, at_ms=until_ms)


async def _run_jobs(tx: Tx, stage: Stage, at_ms: int) -> None:
    """What the background jobs do each day."""
    ours = {player.tenant for player in stage.players}
    for tenant, subscriber_id in await lifecycle.due(tx, now_ms=at_ms, batch=500):
        if tenant in ours:
            await signups.verify_due(tx, stage.site, tenant, subscriber_id, now_ms=at_ms)
    while await budget_notifications.notify_due(tx, stage.site, now_ms=at_ms):
        pass
    await payouts.close_months(tx, now_ms=at_ms)
    while (month := await payouts.month_to_pay_out(tx)) is not None:
        after: str | None = ""
        while after is not None:
            after = (await payouts.make_payouts(tx, month, after, now_ms=at_ms)).after
    await _pay(tx, stage, at_ms)


async def _pay(tx: Tx, stage: Stage, at_ms: int) -> None:
    """The administrator pays ten days into the month; the newest payouts are paid in part only."""
    month = rules.previous_month(rules.month_of(at_ms))
    if at_ms < rules.closes_at(month) + 9 * DAY_MS:
        return
    ours = {player.tenant.account_id for player in stage.players}
    open_ones = [
        row for row in await payouts.of_month(tx, month, open_only=True) if row.account_id in ours
    ]
    is_newest = month == rules.previous_month(rules.month_of(stage.end_ms))
    for number, row in enumerate(
        open_ones[:1] if is_newest and len(open_ones) == len(ours) else open_ones
    ):
        if is_newest and len(open_ones) < len(ours):
            return
        await payouts.mark_paid(
            tx,
            row.id,
            f"SEPA {month.replace('-', '')}-{number + 1:02d}",
            now_ms=at_ms + 9 * HOUR_MS,
        )


async def _click_links(tx: Tx, stage: Stage, at_ms: int) -> None:
    for player in stage.players:
        await count_clicks(tx, crowd.clicks(stage, player, at_ms))


async def _chores(tx: Tx, stage: Stage, at_ms: int) -> None:
    """What readers and operators do once a week: claim and approve rewards, decide on pending
    referrals, read notifications.
    """
    for player in stage.players:
        await _claims(tx, stage, player, at_ms)
        if at_ms < stage.end_ms - UNDECIDED_MS:
            await _review(tx, stage, player, at_ms)
        if at_ms < stage.end_ms - UNREAD_MS:
            await _approve(tx, stage, player, at_ms)
            await notifications.read_all(tx, player.tenant.account_id, now_ms=at_ms)
    for player in stage.players:
        for issue in player.newsletter.issues:
            if issue.offer.is_paused and 0 <= stage.end_ms - 5 * WEEK_MS - at_ms < WEEK_MS:
                program_id = player.programs[issue.offer.slug]
                await programs.pause(
                    tx, player.tenant.account_id, program_id, paused=True, now_ms=at_ms
                )


async def _claims(tx: Tx, stage: Stage, player: Player, at_ms: int) -> None:
    earned, _ = await earned_rewards.page_of_earned(
        tx, player.tenant, earned_rewards.UNLOCKED, Page(1, 60)
    )
    for each in earned:
        if stage.dice.random() < 0.07:
            shipping = crowd.address(stage) if each.kind == "physical" else None
            await earned_rewards.redeem(
                tx,
                stage.site,
                player.tenant,
                each.id,
                by=earned_rewards.READER,
                shipping=shipping,
                now_ms=at_ms,
                of=each.subscriber_id,
            )


async def _approve(tx: Tx, stage: Stage, player: Player, at_ms: int) -> None:
    waiting, _ = await earned_rewards.page_of_earned(
        tx, player.tenant, earned_rewards.AWAITING, Page(1, 60)
    )
    for each in waiting:
        await earned_rewards.approve(
            tx, stage.site, player.tenant, each.id, by=lifecycle.OPERATOR, now_ms=at_ms
        )


async def _review(tx: Tx, stage: Stage, player: Player, at_ms: int) -> None:
    """Reject a few of the referrals that screening holds; the others wait for their
    verification.
    """
    held = await search.judged(tx, player.tenant, "pending", before=None, most=40)
    for each in held:
        if each.referral_reason in crowd.SUSPECT and stage.dice.random() < 0.4:
            await signups.decide(
                tx,
                stage.site,
                player.tenant,
                each.id,
                "rejected",
                by=lifecycle.OPERATOR,
                now_ms=at_ms,
            )
        elif stage.dice.random() < 0.02:
            left = lifecycle.SubscriberChanges(status="unsubscribed")
            await signups.change(tx, stage.site, player.tenant, each.id, left, now_ms=at_ms)


async def _settle_counts(services: Services, stage: Stage) -> None:
    """Update the page index and the network's order, as the background jobs would."""
    while await services.store.write_snapshot(page_index.fold):
        pass
    await services.store.write(network.update_confirmation_rates, now_ms=stage.end_ms)
