"""What needs the operator, most urgent first: the bar on Home, which opens."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel import money
from honeyguide.pages.dashboard import formats
from honeyguide.partners import forecast, rules, verification
from honeyguide.rewards import fulfillment, recent_counts, shipments
from honeyguide.store.reading import Reading
from honeyguide.subscribers import daily_counts, search

MOST = 1_000


class OpenDecision(NamedTuple):
    n: int
    short: str
    """Beside the number of all of them: "4 rewards to approve"."""
    icon: str
    title: str
    detail: str
    path: str
    action: str


def in_all(decisions: list[OpenDecision]) -> str:
    """`18 things need you`"""
    count = sum(min(each.n, MOST) for each in decisions)
    if any(each.n > MOST for each in decisions):
        return f"{count:,}+ things need you"
    return f"{formats.plural(count, 'thing')} {'needs' if count == 1 else 'need'} you"


async def open_decisions(at: Reading) -> list[OpenDecision]:
    found = [
        await _referrals(at),
        await _rewards(at),
        await _claims(at),
        await _shipments(at),
        await _codes(at),
        await _unknown_codes(at),
    ]
    found += [*await _budgets(at), await _recommended(at)]
    return [each for each in found if each is not None]


def _many(count: int, one: str, many: str = "") -> str:
    """`3 referrals`, or `1,000+ referrals`."""
    if count > MOST:
        return f"{MOST:,}+ {many or one + 's'}"
    return formats.plural(count, one, many)


async def _referrals(at: Reading) -> OpenDecision | None:
    count = await daily_counts.suspected(at, most=MOST + 1)
    if not count:
        return None
    first = await daily_counts.first_suspected(at)
    detail = "They do not count until you decide."
    if first is not None:
        detail = (
            f"The first will be {first.outcome} automatically on {formats.day(first.due_ms)} "
            "unless you decide earlier."
        )
    title = f"{_many(count, 'referral')} {'looks' if count == 1 else 'look'} suspicious"
    return OpenDecision(
        n=count,
        short=f"{_many(count, 'referral')} to review",
        icon="shield",
        title=title,
        detail=detail,
        path="/review",
        action=f"Review {_many(count, 'referral')}",
    )


async def _rewards(at: Reading) -> OpenDecision | None:
    count = await recent_counts.to_approve(at)
    if not count:
        return None
    title = f"{_many(count, 'earned reward')} {'awaits' if count == 1 else 'await'} your approval"
    detail = "Subscribers can claim them once you approve them."
    short = f"{_many(count, 'reward')} to approve"
    return OpenDecision(
        n=count,
        short=short,
        icon="gift",
        title=title,
        detail=detail,
        path="/rewards",
        action="Approve rewards",
    )


async def _claims(at: Reading) -> OpenDecision | None:
    """Of rewards that the operator hands over. Those that are shipped are shipments."""
    claims = await fulfillment.open_claims(at, most=MOST + 1)
    if claims.oldest_ms is None:
        return None
    title = f"{_many(claims.n, 'claimed reward')} to fulfill"
    return OpenDecision(
        n=claims.n,
        short=title,
        icon="gift",
        title=title,
        detail=f"The oldest has been waiting since {formats.day(claims.oldest_ms)}.",
        path="/rewards",
        action="Open rewards",
    )


async def _shipments(at: Reading) -> OpenDecision | None:
    count = await shipments.count_open(at, most=MOST + 1)
    if not count:
        return None
    (oldest,) = await shipments.to_send(at, most=1)
    detail = f"The oldest has been waiting since {formats.day(oldest.claimed_ms)}."
    title = f"{_many(count, 'reward')} to send"
    short = f"{_many(count, 'reward')} to send"
    return OpenDecision(
        n=count,
        short=short,
        icon="truck",
        title=title,
        detail=detail,
        path="/shipments",
        action="Open shipments",
    )


async def _codes(at: Reading) -> OpenDecision | None:
    count = await recent_counts.without_code(at)
    if not count:
        return None
    title = f"{_many(count, 'advocate')} {'waits' if count == 1 else 'wait'} for a coupon code"
    detail = "The coupon codes of a reward have run out."
    short = f"{_many(count, 'coupon code')} missing"
    return OpenDecision(
        n=count,
        short=short,
        icon="gift",
        title=title,
        detail=detail,
        path="/rewards",
        action="Add codes",
    )


async def _unknown_codes(at: Reading) -> OpenDecision | None:
    count = await search.count_unknown_codes(at, most=MOST + 1)
    if not count:
        return None
    title = f"{_many(count, 'subscriber')} came with an unknown code"
    detail = "No referral was counted. You can say who referred them."
    path = "/subscribers?referred_by=unknown"
    short = _many(count, "unknown code")
    return OpenDecision(
        n=count,
        short=short,
        icon="people",
        title=title,
        detail=detail,
        path=path,
        action="Set referrers",
    )


async def _budgets(at: Reading) -> list[OpenDecision]:
    month = rules.month_of(at.now_ms)
    return [
        OpenDecision(
            n=1,
            short=f"budget at {each.percent}%",
            icon="money",
            title=f"Partner budget of {formats.isolated(each.publication_name)} at {each.percent}%",
            detail=f"{money.show(each.spent_cents)} of {money.show(each.budget_cents)} is spent "
            "this month (UTC). At 100%, partner referrals still join but are not charged.",
            path=f"/program/{each.program_id}/change",
            action="Change budget",
        )
        for each in await forecast.nearly_spent(at, month)
    ]


async def _recommended(at: Reading) -> OpenDecision | None:
    """For programs that are older than the settings which new ones start with."""
    offered = await verification.offered(at, most=MOST + 1)
    if not offered:
        return None
    name = formats.isolated(offered[0].publication_name)
    is_one = len(offered) == 1
    return OpenDecision(
        n=len(offered),
        short=f"{_many(len(offered), 'program')} with new settings",
        icon="settings",
        title=f"New settings for the partner program of {name}"
        if is_one
        else f"New settings for {_many(len(offered), 'partner program')}",
        detail="They keep robots from being paid. Use them, or keep what you have.",
        path=f"/program/{offered[0].id}" if is_one else "/program",
        action="See settings",
    )
