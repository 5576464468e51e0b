"""The four figures of Home: the first four that have something to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from honeyguide.kernel import money
from honeyguide.kernel.percentages import LEAST_FOR_PERCENT
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.home.overview_numbers import Numbers, ShownChange, change, share
from honeyguide.pages.dashboard.home.ranges import during

SHOWN = 4


class FigurePart(NamedTuple):
    text: str
    path: str = ""


class HomeFigure(NamedTuple):
    name: str
    value: str
    path: str = ""
    parts: tuple[FigurePart, ...] = ()
    """What is below it, separated by commas; those with a path lead to what they count."""
    change: ShownChange | None = None


class PartnerFees(NamedTuple):
    """Of this month, over all programs."""

    month: str
    programs: int
    spent_cents: int
    budget_cents: int
    due_cents: int = 0
    """Pending."""
    fitting_cents: int = 0
    """What of it caps and budgets can still hold."""


class NearestReward(NamedTuple):
    """The advocate who is nearest to a reward."""

    person: str
    reward: str
    left: int
    path: str


class FigureFacts(NamedTuple):
    numbers: Numbers
    earlier: str
    """Such as "the 30 days before"; empty if nothing is compared."""
    subscribers: int
    fees: PartnerFees | None
    next_reward: NearestReward | None


ListLink = Callable[..., str]


def choose(facts: FigureFacts, list_link: ListLink) -> list[HomeFigure]:
    found = [
        _new(facts, list_link),
        _referred(facts, list_link),
        _stayed(facts),
        _fees(facts),
        _referrers(facts),
        _next_reward(facts),
        _clicks(facts),
    ]
    return [each for each in found if each is not None][:SHOWN]


def _new(facts: FigureFacts, list_link: ListLink) -> HomeFigure | None:
    now, before = facts.numbers.now, facts.numbers.before
    if not now.new and not (before and before.new):
        return None
    earlier = before.new if before else None
    path = list_link() if now.new else ""
    if earlier is not None and earlier >= LEAST_FOR_PERCENT and earlier != now.new:
        text, shown = f"from {earlier:,}", change(now.new, earlier)
    else:
        text, shown = _difference(now.new, earlier, facts.earlier), None
    return HomeFigure("New subscribers", f"{now.new:,}", path, (FigurePart(text),), shown)


def _difference(now: int, before: int | None, earlier: str) -> str:
    """`32 more than in the 30 days before`"""
    if not before:
        return ""
    if now == before:
        return f"as many as {during(earlier)}"
    return f"{abs(now - before):,} {'more' if now > before else 'fewer'} than {during(earlier)}"


def _referred(facts: FigureFacts, list_link: ListLink) -> HomeFigure | None:
    now = facts.numbers.now
    if not now.referred:
        return None
    parts = tuple(
        FigurePart(f"{count:,} {word}", list_link(referral=word))
        for word, count in (
            ("verified", now.verified),
            ("pending", now.pending),
            ("rejected", now.rejected),
        )
        if count
    )
    return HomeFigure("Referred", f"{now.referred:,}", list_link(referred_by="anyone"), parts)


def _stayed(facts: FigureFacts) -> HomeFigure | None:
    """Of those whose thirtieth day is in the range."""
    kept = facts.numbers.retention[0]
    referred, others = kept.referred, kept.others
    if not referred.followed:
        return None
    name = f"Still here after {kept.days} days"
    value = share(referred.stayed, referred.followed)
    is_share = referred.followed >= LEAST_FOR_PERCENT
    text = f"of {referred.followed:,} referred" if is_share else "referred"
    if not others.followed:
        return HomeFigure(name, value, "", (FigurePart(text),))
    compared = share(others.stayed, others.followed)
    if others.followed >= LEAST_FOR_PERCENT:
        compared = f"{compared} of {others.followed:,}"
    return HomeFigure(name, value, "", (FigurePart(f"{text}; {compared} others"),))


def _fees(facts: FigureFacts) -> HomeFigure | None:
    fees = facts.fees
    if fees is None:
        return None
    name = f"Partner fees, {fees.month}"
    spent = money.show(fees.spent_cents)
    if fees.programs > 1:
        text = f"in {formats.plural(fees.programs, 'program')}"
    else:
        text = f"of {money.show(fees.budget_cents)}"
    if fees.due_cents:
        text += f"; {money.show(fees.due_cents)} more is pending"
    if fees.fitting_cents < fees.due_cents:
        text += f", {money.show(fees.fitting_cents)} of it fits, by the forecast"
    return HomeFigure(name, spent, "/program", (FigurePart(text),))


def _referrers(facts: FigureFacts) -> HomeFigure | None:
    found = facts.numbers.referrers
    if not found.n or found.has_others:
        return None
    text = f"of {formats.plural(facts.subscribers, 'subscriber')}"
    return HomeFigure("Brought someone", f"{found.n:,}", "", (FigurePart(text),))


def _next_reward(facts: FigureFacts) -> HomeFigure | None:
    ahead = facts.next_reward
    if ahead is None:
        return None
    text = f"{formats.isolated(ahead.person)}, {formats.isolated(ahead.reward)}"
    return HomeFigure("Next reward", f"{ahead.left:,} to go", ahead.path, (FigurePart(text),))


def _clicks(facts: FigureFacts) -> HomeFigure | None:
    now = facts.numbers.now
    if not now.clicks:
        return None
    text = f"{share(now.referred, now.clicks)} signed up" if now.referred else "nobody signed up"
    if now.referred > now.clicks:  # some came by the API, without a click
        text = f"{now.referred:,} signed up"
    return HomeFigure("Clicks on links", f"{now.clicks:,}", "", (FigurePart(text),))
