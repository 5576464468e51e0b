"""The demo's subscribers: when they sign up, through whom, which of them look suspicious, and how
often they click links.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import NamedTuple

from honeyguide.demo import newsletters
from honeyguide.demo.setup import DemoAccount, DemoPartnerCampaign, DemoState, DemoSubscriber
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store import Tx
from honeyguide.store.change import Change
from honeyguide.subscribers.clicks import Click
from honeyguide.subscribers.origins import Origin
from honeyguide.subscribers.subscribers import Subscriber

# The weight of each weekday, Monday first: most people read in the middle of the week.
_WEEKDAYS = (1.2, 1.3, 1.25, 1.1, 0.9, 0.6, 0.65)

# Where clicks come from; the empty one is an email or an app.
HOSTS = ("", "", "", "linkedin.com", "linkedin.com", "reddit.com", "facebook.com", "substack.com")

Step = Callable[[Tx], Awaitable[None]]


class OddSignup(NamedTuple):
    """A signup that screening should hold."""

    kind: str
    is_alone: bool
    referrer_index: int
    ip_address: str


def moments(
    state: DemoState,
    first: float,
    last: float,
    since_ms: int,
    until_ms: int,
    *,
    is_mailing: bool = False,
) -> Iterator[int]:
    """When people sign up in a week: more each week, unevenly, and mostly in the morning. After a
    partner's newsletter (`is_mailing`), mostly within a day.
    """
    mean = first + (last - first) * state.progress(since_ms) ** 1.4
    share = (until_ms - since_ms) / (7 * DAY_MS)
    count = round(max(0.0, state.rng.gauss(mean, mean * 0.22)) * share)
    days = max(1, (until_ms - since_ms) // DAY_MS)
    # 1970 began on a Thursday.
    weights = [_WEEKDAYS[((since_ms // DAY_MS) + n + 3) % 7] for n in range(days)]
    sent = state.rng.randrange(days)
    for _ in range(count):
        day = (
            state.rng.choice((sent, sent, state.rng.randrange(days)))
            if is_mailing
            else state.rng.choices(range(days), weights)[0]
        )
        # Towards morning, and never in the future.
        within = int((state.rng.betavariate(2.2, 3.4)) * DAY_MS)
        yield min(since_ms + day * DAY_MS + within, until_ms - 1)


def _address(state: DemoState) -> str:
    rng = state.rng
    # From the range reserved for benchmarks, which is large enough for all subscribers.
    return f"198.{rng.randrange(18, 20)}.{rng.randrange(256)}.{rng.randrange(1, 255)}"


def _own_domain(state: DemoState) -> str:
    """Of three in five whom a partner sends; otherwise empty. So no mail domain has a larger share
    of them than of the newsletter's other readers, which would make a group of them.
    """
    rng = state.rng
    if rng.random() >= 0.6:
        return ""
    return f"{rng.choice(newsletters.FIRST)}-{rng.choice(newsletters.LAST)}.example".lower()


def _new(
    state: DemoState, *, code: str | None, origin: str, ip_address: str = "", host: str = ""
) -> NewSubscriber:
    rng = state.rng
    state.number += 1
    first, last = rng.choice(newsletters.FIRST), rng.choice(newsletters.LAST)
    domain = host or rng.choice(newsletters.MAIL_HOSTS)
    spelling = rng.choice((f"{first}.{last}", f"{first[0]}{last}", f"{first}_{last}"))
    # Each its own number, but not one after the other: that would look like a robot.
    number = state.number * 7919 % 10_000
    return NewSubscriber(
        email=f"{spelling}{number}@{domain}".lower(),
        name=f"{first} {last}" if rng.random() < 0.9 else None,
        referrer_code=code,
        ip_address=ip_address or _address(state),
        origin=origin,
        utm_source=None if code else rng.choice(newsletters.SOURCES),
    )


async def _sign_up(
    tx: Tx, state: DemoState, account: DemoAccount, new: NewSubscriber, at_ms: int
) -> Subscriber:
    change = Change(tx, state.site, account.tenant, actors.NEW_SUBSCRIBER, at_ms)
    made = await signups.sign_up(change, new)
    if not new.email.endswith(newsletters.THROWAWAY):
        account.subscribers.append(
            DemoSubscriber(made.id, made.ref_code, new.ip_address or "", at_ms)
        )
    return made


def _referrer(state: DemoState, account: DemoAccount) -> DemoSubscriber | None:
    """The referrer: mostly one of a small circle, otherwise anybody."""
    known = account.subscribers
    if len(known) < 8:
        return None
    circle = known[: max(8, len(known) // 9)]
    return state.rng.choice(circle) if state.rng.random() < 0.7 else state.rng.choice(known)


async def sign_up_subscriber(tx: Tx, state: DemoState, account: DemoAccount, at_ms: int) -> None:
    """Alone or through a referrer; of the referred, one in forty has a throw-away address."""
    rng = state.rng
    referrer = (
        _referrer(state, account) if rng.random() < account.newsletter.through_friends else None
    )
    host = newsletters.THROWAWAY if referrer and rng.random() < 0.025 else ""
    origin = Origin.SIGNUP if rng.random() < 0.7 else Origin.API
    new = _new(state, code=referrer and referrer.code, origin=origin, host=host)
    made = await _sign_up(tx, state, account, new, at_ms)
    # Only readers who confirmed make a mail domain known, so that partners' readers there count.
    if not host and origin == Origin.SIGNUP:
        await _confirm(tx, state, account, made, at_ms)


async def refer_subscriber(
    tx: Tx,
    state: DemoState,
    account: DemoAccount,
    partner_campaign: DemoPartnerCampaign,
    at_ms: int,
) -> None:
    """A subscriber whom a partner sends. Nearly all of them confirm their address."""
    is_throwaway = state.rng.random() < 0.03
    host = newsletters.THROWAWAY if is_throwaway else _own_domain(state)
    new = _new(state, code=partner_campaign.code, origin=Origin.MAGIC, host=host)
    made = await _sign_up(tx, state, account, new, at_ms)
    if not is_throwaway and state.rng.random() < 0.94:
        await _confirm(tx, state, account, made, at_ms)


def suspicious(
    state: DemoState, account: DemoAccount, since_ms: int, until_ms: int
) -> Iterator[tuple[int, Step]]:
    """Every few weeks, and in the last one, signups that screening holds: from a household, from an
    office, and a burst in one hour.
    """
    is_last = until_ms == state.end_ms
    week = (since_ms - state.start_ms) // (7 * DAY_MS)
    if week < 6 or not (is_last or week % 5 == 0):
        return
    for kind, count, gap_ms, days_ago in (
        ("household", 3, 20 * MINUTE_MS, 2),
        ("office", 5, HOUR_MS, 2),
        ("burst", 13, 3 * MINUTE_MS, 1),
    ):
        if kind == "burst" and week % 15 and not is_last:  # rarer than the others
            continue
        referrer_index = state.rng.randrange(8)
        ip_address = _address(state)
        start_ms = max(since_ms, until_ms - days_ago * DAY_MS) + state.rng.randrange(
            HOUR_MS, 6 * HOUR_MS
        )
        for n in range(count):
            at_ms = min(start_ms + n * gap_ms, until_ms - 1)
            # The first of a household signs up alone; the others follow within the hour.
            signup = OddSignup(kind, kind == "household" and n == 0, referrer_index, ip_address)
            yield (
                at_ms,
                partial(_sign_up_odd, state=state, account=account, odd=signup, at_ms=at_ms),
            )


async def _sign_up_odd(
    tx: Tx, state: DemoState, account: DemoAccount, odd: OddSignup, at_ms: int
) -> None:
    subscribers = account.subscribers
    referrer = None if odd.is_alone else subscribers[odd.referrer_index]
    if odd.kind == "household" and not odd.is_alone:
        same = (
            subscriber
            for subscriber in reversed(subscribers)
            if subscriber.ip_address == odd.ip_address
        )
        referrer = next(same, referrer)
    new = _new(
        state,
        code=referrer and referrer.code,
        origin=Origin.SIGNUP,
        ip_address="" if odd.kind == "burst" else odd.ip_address,
    )
    made = await _sign_up(tx, state, account, new, at_ms)
    # This burst looks honest: two in three confirm their address.
    if odd.kind == "burst" and state.number % 3:
        await _confirm(tx, state, account, made, at_ms)


async def _confirm(
    tx: Tx, state: DemoState, account: DemoAccount, made: Subscriber, at_ms: int
) -> None:
    confirmed_ms = min(at_ms + 4 * MINUTE_MS, state.end_ms - 1)
    actor = actors.subscriber(made.id)
    await signups.confirm(Change(tx, state.site, account.tenant, actor, confirmed_ms), made)


def clicks(state: DemoState, account: DemoAccount, until_ms: int) -> list[Click]:
    """A week of clicks on subscribers' and partners' links, in proportion to the signups."""
    rng, targets = state.rng, []
    since_ms = max(state.start_ms, until_ms - 7 * DAY_MS)
    mean = account.newsletter.first + (
        account.newsletter.last - account.newsletter.first
    ) * state.progress(since_ms)
    if len(account.subscribers) > 8:
        circle = account.subscribers[: max(8, len(account.subscribers) // 9)]
        for _ in range(round(mean * rng.uniform(4.2, 5.4))):
            code = rng.choice(circle).code
            targets.append((account.tenant.account_id, account.tenant.campaign_id, code))
    if state.progress(since_ms) > 0.28:
        for partner_campaign in account.partner_campaigns:
            for _ in range(
                round((partner_campaign.first + partner_campaign.last) * rng.uniform(0.7, 1.3))
            ):
                targets.append(
                    (
                        partner_campaign.owner_id,
                        partner_campaign.partner_campaign_id,
                        partner_campaign.code,
                    )
                )
    visitors, found = random.Random(until_ms // DAY_MS), []
    for account_id, target_id, code in targets:
        at_ms = since_ms + int(visitors.random() * (until_ms - since_ms - HOUR_MS))
        visitor = f"{visitors.getrandbits(128):032x}"
        found.append(
            Click(
                account_id=account_id,
                target_id=target_id,
                code=code,
                hour_ms=at_ms // HOUR_MS * HOUR_MS,
                visitor=visitor,
                quarter_ms=at_ms // HOUR_MS * HOUR_MS,
                host=visitors.choice(HOSTS),
            )
        )
    return found
