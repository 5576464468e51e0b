"""A year of three newsletters, lived through the same verbs as real life, one transaction per week: so that every count, every
hold, every cent and every notice is what it would have been.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from honeyguide.app import Services
from honeyguide.demo import crowd
from honeyguide.demo.stage import JOINING_MS, OPENING_MS, Player, Stage
from honeyguide.demo.tool import Tool
from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.paging import Page
from honeyguide.mail import emails, notifications
from honeyguide.partners import budget_notifications, directory, payouts, programs, rules
from honeyguide.referrals import earned_rewards, lifecycle, page_index, search
from honeyguide.referrals.clicks import count_clicks
from honeyguide.signups import signups
from honeyguide.store import Tx

WEEK_MS = 7 * DAY_MS
# What operators have not come to yet: held referrals of the last days, rewards and notices of the last weeks.
UNDECIDED_MS = 12 * DAY_MS
UNREAD_MS = 40 * DAY_MS

Act = tuple[int, int, Callable[[Tx], Awaitable[None]]]


async def live(services: Services, stage: Stage) -> None:
    async with Tool(services, stage).listening() as tool:
        await _weeks(services, stage, tool)
        await tool.leave()
    await services.store.write(lambda tx: _forget_the_post(tx, stage))
    await _settle_counts(services, stage)


async def _forget_the_post(tx: Tx, stage: Stage) -> None:
    """Letters of the past are taken as sent: nobody would want them now. Those of real accounts beside us stay due."""
    for player in stage.players:
        await emails.take_as_sent(tx, player.tenant.account_id, stage.end_ms)


async def _weeks(services: Services, stage: Stage, tool: Tool) -> None:
    at_ms = stage.start_ms
    while at_ms < stage.end_ms:
        await tool.connect(at_ms)
        until_ms = min(at_ms + WEEK_MS, stage.end_ms)
        acts = sorted(_acts(stage, at_ms, until_ms), key=lambda act: act[:2])

        async def week(tx: Tx, acts: list[Act] = acts, until_ms: int = until_ms) -> None:
            for _, _, act in acts:
                await act(tx)
            await _chores(tx, stage, until_ms)

        await services.store.write(week)
        await tool.hear(until_ms)
        at_ms = until_ms


def _acts(stage: Stage, since_ms: int, until_ms: int) -> Iterator[Act]:
    """All that happens in a week, each with its moment; the second number keeps equals in order."""
    order = iter(range(1_000_000))
    opens_ms = stage.start_ms + OPENING_MS + JOINING_MS + 10 * DAY_MS
    for player in stage.players:
        for at_ms in crowd.moments(
            stage, player.newsletter.first, player.newsletter.last, since_ms, until_ms
        ):
            yield at_ms, next(order), crowd.arrives(stage, player, at_ms)
        for place in player.places if since_ms >= opens_ms else ():
            for at_ms in crowd.moments(
                stage, place.first, place.last, since_ms, until_ms, letter=True
            ):
                yield (
                    at_ms,
                    next(order),
                    crowd.sent_by_partner(stage, stage.player(place.owner_id), place, at_ms),
                )
    wax = stage.players[0]
    for at_ms, act in crowd.suspicious(stage, wax, since_ms, until_ms):
        yield at_ms, next(order), act
    for at_ms in range(since_ms + DAY_MS, until_ms + 1, DAY_MS):
        yield at_ms, next(order), _night(stage, at_ms)
    yield until_ms, next(order), _last_look(stage, until_ms)


def _night(stage: Stage, at_ms: int) -> Callable[[Tx], Awaitable[None]]:
    """What the background work does each day: holds run out, budgets are told of, months close, payouts are made."""

    async def act(tx: Tx) -> None:
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
                after = (
                    await payouts.make_payouts(tx, month=month, after=after, now_ms=at_ms)
                ).after
        await _pay(tx, stage, at_ms)

    return act


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


def _last_look(stage: Stage, at_ms: int) -> Callable[[Tx], Awaitable[None]]:
    async def act(tx: Tx) -> None:
        for player in stage.players:
            clicks = crowd.clicks(stage, player, at_ms)
            await count_clicks(tx, clicks)

    return act


async def _chores(tx: Tx, stage: Stage, at_ms: int) -> None:
    """What operators and readers do once a week: claim and approve, decide on what is held, read what they were told."""
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
    """A few of those that screening holds are rejected; the others may wait until they verify by themselves."""
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
    """The lists and days that the background work would sum up, and the network's order."""
    while await services.store.write_snapshot(page_index.fold):
        pass

    async def rate(tx: Tx) -> None:
        await directory.rate_all(tx, now_ms=stage.end_ms)

    await services.store.write(rate)
