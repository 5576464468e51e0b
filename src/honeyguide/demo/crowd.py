"""The demo's readers: when they sign up, through whom, which of them look suspicious, and how often
they click links.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import NamedTuple

from honeyguide.demo import cast
from honeyguide.demo.stage import DemoReader, PartnerSpot, Player, Stage
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.referrals import rules
from honeyguide.referrals.clicks import Click
from honeyguide.referrals.earned_rewards import Shipping
from honeyguide.referrals.lifecycle import NewSubscriber
from honeyguide.signups import signups
from honeyguide.store import Tx

SUSPECT = frozenset(reason.value for reason in rules.SUSPICIONS)
# The weight of each weekday, Monday first: most people read in the middle of the week.
_WEEKDAYS = (1.2, 1.3, 1.25, 1.1, 0.9, 0.6, 0.65)

Act = Callable[[Tx], Awaitable[None]]


class OddSignup(NamedTuple):
    """A signup that screening should hold."""

    kind: str
    is_alone: bool
    referrer_index: int
    ip_address: str


def moments(
    stage: Stage, first: float, last: float, since_ms: int, until_ms: int, *, letter: bool = False
) -> Iterator[int]:
    """When people sign up in a week: more each week, unevenly, and mostly in the morning. After a
    partner's newsletter (`letter`), within a day.
    """
    mean = first + (last - first) * stage.progress(since_ms) ** 1.4
    share = (until_ms - since_ms) / (7 * DAY_MS)
    count = round(max(0.0, stage.dice.gauss(mean, mean * 0.22)) * share)
    days = max(1, (until_ms - since_ms) // DAY_MS)
    # 1970 began on a Thursday.
    weights = [_WEEKDAYS[((since_ms // DAY_MS) + n + 3) % 7] for n in range(days)]
    sent = stage.dice.randrange(days)
    for _ in range(count):
        day = (
            min(days - 1, sent + (stage.dice.random() < 0.3))
            if letter
            else stage.dice.choices(range(days), weights)[0]
        )
        # Towards morning, and never in the future.
        within = int((stage.dice.betavariate(2.2, 3.4)) * DAY_MS)
        yield min(since_ms + day * DAY_MS + within, until_ms - 1)


def _address(stage: Stage) -> str:
    dice = stage.dice
    # From the range reserved for benchmarks, which is large enough for all readers.
    return f"198.{dice.randrange(18, 20)}.{dice.randrange(256)}.{dice.randrange(1, 255)}"


def _new(
    stage: Stage, *, code: str | None, origin: str, ip_address: str = "", host: str = ""
) -> NewSubscriber:
    dice = stage.dice
    stage.number += 1
    first, last = dice.choice(cast.FIRST), dice.choice(cast.LAST)
    domain = host or dice.choice(cast.MAIL_HOSTS)
    spelling = dice.choice((f"{first}.{last}", f"{first[0]}{last}", f"{first}_{last}"))
    return NewSubscriber(
        email=f"{spelling}{stage.number}@{domain}".lower(),
        name=f"{first} {last}" if dice.random() < 0.9 else None,
        referrer_code=code,
        ip_address=ip_address or _address(stage),
        origin=origin,
        utm_source=None if code else dice.choice(cast.SOURCES),
    )


async def _sign_up(tx: Tx, stage: Stage, player: Player, new: NewSubscriber, at_ms: int) -> None:
    made = await signups.sign_up(tx, stage.site, player.tenant, new, now_ms=at_ms)
    if not new.email.endswith(cast.THROWAWAY):
        player.readers.append(DemoReader(made.id, made.ref_code, new.ip_address or "", at_ms))


def _referrer(stage: Stage, player: Player) -> DemoReader | None:
    """The referrer: mostly one of a small circle, otherwise anybody."""
    known = player.readers
    if len(known) < 8:
        return None
    circle = known[: max(8, len(known) // 9)]
    return stage.dice.choice(circle) if stage.dice.random() < 0.7 else stage.dice.choice(known)


async def sign_up_reader(tx: Tx, stage: Stage, player: Player, at_ms: int) -> None:
    """Alone or through a referrer; of the referred, one in forty has a throw-away address."""
    dice = stage.dice
    referrer = (
        _referrer(stage, player) if dice.random() < player.newsletter.through_friends else None
    )
    host = cast.THROWAWAY if referrer and dice.random() < 0.025 else ""
    origin = "signup" if dice.random() < 0.7 else "api"
    new = _new(stage, code=referrer and referrer.code, origin=origin, host=host)
    await _sign_up(tx, stage, player, new, at_ms)


async def refer_reader(
    tx: Tx, stage: Stage, player: Player, place: PartnerSpot, at_ms: int
) -> None:
    """A reader whom a partner sends."""
    host = cast.THROWAWAY if stage.dice.random() < 0.03 else ""
    new = _new(stage, code=place.code, origin="magic", host=host)
    await _sign_up(tx, stage, player, new, at_ms)


def suspicious(
    stage: Stage, player: Player, since_ms: int, until_ms: int
) -> Iterator[tuple[int, Act]]:
    """Every few weeks, and in the last one, signups that screening holds: from a household, from an
    office, and a crowd in one hour.
    """
    is_last = until_ms == stage.end_ms
    week = (since_ms - stage.start_ms) // (7 * DAY_MS)
    if week < 6 or not (is_last or week % 5 == 0):
        return
    base_ms = max(since_ms, until_ms - 2 * DAY_MS)
    for kind, count, gap_ms in (
        ("household", 3, 20 * MINUTE_MS),
        ("office", 5, HOUR_MS),
        ("crowd", 13, 3 * MINUTE_MS),
    ):
        if kind == "crowd" and week % 15 and not is_last:  # rarer than the others
            continue
        referrer_index = stage.dice.randrange(8)
        ip_address = _address(stage)
        start_ms = base_ms + stage.dice.randrange(HOUR_MS, 6 * HOUR_MS)
        for n in range(count):
            at_ms = min(start_ms + n * gap_ms, until_ms - 1)
            # The first of a household signs up alone; the others follow within the hour.
            signup = OddSignup(kind, kind == "household" and n == 0, referrer_index, ip_address)
            yield at_ms, partial(_sign_up_odd, stage=stage, player=player, odd=signup, at_ms=at_ms)


async def _sign_up_odd(tx: Tx, stage: Stage, player: Player, odd: OddSignup, at_ms: int) -> None:
    readers = player.readers
    referrer = None if odd.is_alone else readers[odd.referrer_index]
    if odd.kind == "household" and not odd.is_alone:
        same = (reader for reader in reversed(readers) if reader.ip_address == odd.ip_address)
        referrer = next(same, referrer)
    new = _new(
        stage,
        code=referrer and referrer.code,
        origin="signup",
        ip_address="" if odd.kind == "crowd" else odd.ip_address,
    )
    await _sign_up(tx, stage, player, new, at_ms)


def clicks(stage: Stage, player: Player, until_ms: int) -> list[Click]:
    """A week of clicks on readers' and partners' links, in proportion to the signups."""
    dice, targets = stage.dice, []
    since_ms = max(stage.start_ms, until_ms - 7 * DAY_MS)
    mean = player.newsletter.first + (
        player.newsletter.last - player.newsletter.first
    ) * stage.progress(since_ms)
    if len(player.readers) > 8:
        circle = player.readers[: max(8, len(player.readers) // 9)]
        for _ in range(round(mean * dice.uniform(4.2, 5.4))):
            code = dice.choice(circle).code
            targets.append((player.tenant.account_id, player.tenant.campaign_id, code))
    if stage.progress(since_ms) > 0.28:
        for place in player.places:
            for _ in range(round((place.first + place.last) * dice.uniform(0.7, 1.3))):
                targets.append((place.owner_id, place.partner_campaign_id, place.code))
    visitors, found = random.Random(until_ms), []
    for account_id, target_id, code in targets:
        at_ms = since_ms + int(visitors.random() * (until_ms - since_ms - HOUR_MS))
        visitor = f"{visitors.getrandbits(128):032x}"
        found.append(Click(account_id, target_id, code, at_ms // HOUR_MS * HOUR_MS, visitor))
    return found


def address(stage: Stage) -> Shipping:
    dice = stage.dice
    city, postcode, country = dice.choice(cast.CITIES)
    return Shipping(
        name=f"{dice.choice(cast.FIRST)} {dice.choice(cast.LAST)}",
        city=city,
        postcode=postcode,
        country=country,
        line1=f"{dice.choice(cast.STREETS)} {dice.randrange(1, 90)}",
    )
