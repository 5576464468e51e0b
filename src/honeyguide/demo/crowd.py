"""The people of the demo: when they come, through whom, with which odd habits, and how often links are followed."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator

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
# Of each weekday, Monday first: most people read in the middle of the week. 1970 began on a Thursday.
_WEEKDAYS = (1.2, 1.3, 1.25, 1.1, 0.9, 0.6, 0.65)

Act = Callable[[Tx], Awaitable[None]]


def moments(
    stage: Stage, first: float, last: float, since_ms: int, until_ms: int, *, letter: bool = False
) -> Iterator[int]:
    """When people come in a week: ever more of them, unevenly, and in the morning; after a partner's letter within a day."""
    mean = first + (last - first) * stage.progress(since_ms) ** 1.4
    share = (until_ms - since_ms) / (7 * DAY_MS)
    count = round(max(0.0, stage.dice.gauss(mean, mean * 0.22)) * share)
    days = max(1, (until_ms - since_ms) // DAY_MS)
    weights = [_WEEKDAYS[((since_ms // DAY_MS) + n + 3) % 7] for n in range(days)]
    sent = stage.dice.randrange(days)
    for _ in range(count):
        day = (
            min(days - 1, sent + (stage.dice.random() < 0.3))
            if letter
            else stage.dice.choices(range(days), weights)[0]
        )
        # Towards morning; never past the end, which is now.
        within = int((stage.dice.betavariate(2.2, 3.4)) * DAY_MS)
        yield min(since_ms + day * DAY_MS + within, until_ms - 1)


def _address(stage: Stage) -> str:
    dice = stage.dice
    # From the range kept for benchmarks: nobody's, and large enough for every reader to have one.
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


def _friend(stage: Stage, player: Player) -> DemoReader | None:
    """A few bring many: most shares come from a small circle, the others from anybody."""
    known = player.readers
    if len(known) < 8:
        return None
    circle = known[: max(8, len(known) // 9)]
    return stage.dice.choice(circle) if stage.dice.random() < 0.7 else stage.dice.choice(known)


def arrives(stage: Stage, player: Player, at_ms: int) -> Act:
    """By themselves or through a friend; one in forty friends is a throw-away address."""

    async def act(tx: Tx) -> None:
        friend = (
            _friend(stage, player)
            if stage.dice.random() < player.newsletter.through_friends
            else None
        )
        host = cast.THROWAWAY if friend and stage.dice.random() < 0.025 else ""
        origin = "signup" if stage.dice.random() < 0.7 else "api"
        await _sign_up(
            tx,
            stage,
            player,
            _new(stage, code=friend and friend.code, origin=origin, host=host),
            at_ms,
        )

    return act


def sent_by_partner(stage: Stage, player: Player, place: PartnerSpot, at_ms: int) -> Act:
    async def act(tx: Tx) -> None:
        host = cast.THROWAWAY if stage.dice.random() < 0.03 else ""
        await _sign_up(
            tx, stage, player, _new(stage, code=place.code, origin="magic", host=host), at_ms
        )

    return act


def suspicious(
    stage: Stage, player: Player, since_ms: int, until_ms: int
) -> Iterator[tuple[int, Act]]:
    """Every few weeks, and in the last one, something that screening stops: a household, an office, a crowd in one hour."""
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
        if kind == "crowd" and week % 15 and not is_last:  # a good post is rare
            continue
        star = stage.dice.randrange(8)
        network = _address(stage)
        start_ms = base_ms + stage.dice.randrange(HOUR_MS, 6 * HOUR_MS)
        for n in range(count):
            at_ms = min(start_ms + n * gap_ms, until_ms - 1)
            yield at_ms, _odd(stage, player, kind, n, star, network, at_ms)


def _odd(
    stage: Stage, player: Player, kind: str, n: int, star: int, network: str, at_ms: int
) -> Act:
    async def act(tx: Tx) -> None:
        if kind == "household" and n == 0:  # the one whose family follows within the hour
            await _sign_up(
                tx,
                stage,
                player,
                _new(stage, code=None, origin="signup", ip_address=network),
                at_ms,
            )
            return
        same = next(
            (reader for reader in reversed(player.readers) if reader.ip_address == network), None
        )
        friend = same if kind == "household" and same else player.readers[star]
        ip_address = "" if kind == "crowd" else network
        await _sign_up(
            tx,
            stage,
            player,
            _new(stage, code=friend.code, origin="signup", ip_address=ip_address),
            at_ms,
        )

    return act


def clicks(stage: Stage, player: Player, until_ms: int) -> list[Click]:
    """A week of clicks on readers' and partners' links, in keeping with how many came."""
    dice, found = stage.dice, []
    visitors = random.Random(until_ms)
    since_ms = max(stage.start_ms, until_ms - 7 * DAY_MS)

    def click(account_id: str, target_id: str, code: str) -> Click:
        at_ms = since_ms + int(visitors.random() * (until_ms - since_ms - HOUR_MS))
        return Click(
            account_id,
            target_id,
            code,
            at_ms // HOUR_MS * HOUR_MS,
            f"{visitors.getrandbits(128):032x}",
        )

    mean = player.newsletter.first + (
        player.newsletter.last - player.newsletter.first
    ) * stage.progress(since_ms)
    if len(player.readers) > 8:
        circle = player.readers[: max(8, len(player.readers) // 9)]
        for _ in range(round(mean * dice.uniform(4.2, 5.4))):
            code = dice.choice(circle).code
            found.append(click(player.tenant.account_id, player.tenant.campaign_id, code))
    if stage.progress(since_ms) > 0.28:
        for place in player.places:
            for _ in range(round((place.first + place.last) * dice.uniform(0.7, 1.3))):
                found.append(click(place.owner_id, place.partner_campaign_id, place.code))
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
