"""The sentence on top of Home: what is most worth saying about the range. Never praise without a
number, and no percentage on a small base."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.percentages import LEAST_FOR_PERCENT
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.home.home_comb import Bringer
from honeyguide.pages.dashboard.home.ranges import during

# Changes smaller than this are "about as many".
STEADY_PERCENT = 3
# The first referrals are worth a sentence of their own while they are few.
MOST_FIRST = 5
SMALL_NUMBERS = (
    "no one",
    "one person",
    "two people",
    "three people",
    "four people",
    "five people",
    "six people",
    "seven people",
    "eight people",
    "nine people",
)


class SentenceFacts(NamedTuple):
    days: int
    new: int
    referred: int
    imported: int
    clicks: int
    new_before: int | None
    """None if nothing is compared."""
    referred_before: int | None
    earlier: str
    """Such as "the 30 days before"."""
    subscribers: int
    partners: int
    has_people: bool
    """False where so many joined that only days are known."""
    bringers: list[Bringer]
    referred_ever: int
    first_rewards: int
    """Earned in the range, if none was before."""


class Sentence(NamedTuple):
    main: str
    more: str = ""
    """Said more softly."""


def choose(facts: SentenceFacts) -> Sentence:
    if not facts.new:
        return _quiet(facts)
    if not facts.referred:
        return _nobody_referred(facts)
    if facts.referred == facts.referred_ever and facts.referred <= MOST_FIRST:
        return _first(facts)
    if not facts.has_people:
        return _large(facts)
    if facts.referred < LEAST_FOR_PERCENT:
        return _small(facts)
    through = f"{_people(facts.referred)} came through {_through(facts)}"
    return Sentence(f"{through}{_compared(facts)}.", _more(facts))


def _quiet(facts: SentenceFacts) -> Sentence:
    if facts.imported:
        people = formats.plural(facts.imported, "subscriber")
        main = f"Nobody new joined {_range(facts)}. {people} came by import."
    else:
        main = f"Nobody joined {_range(facts)}."
    if facts.new_before:
        when = during(facts.earlier)
        return Sentence(main, f"{when[0].upper()}{when[1:]}, {facts.new_before:,} did.")
    if facts.clicks:
        return Sentence(main, f"Links were clicked {_times(facts.clicks)}.")
    return Sentence(main)


def _nobody_referred(facts: SentenceFacts) -> Sentence:
    whom = "not through a referral" if facts.new == 1 else "none of them through a referral"
    main = f"{_people(facts.new)} joined {_range(facts)}, {whom}."
    if facts.clicks:
        return Sentence(main, f"Referral links were clicked {_times(facts.clicks)}.")
    return Sentence(main, "Nobody clicked a referral link.")


def _first(facts: SentenceFacts) -> Sentence:
    """The first referrals that this newsletter ever had."""
    count = "first referral" if facts.referred == 1 else f"first {facts.referred} referrals"
    main = f"Your {count} came {_range(facts)}."
    return Sentence(main, _top(facts))


def _large(facts: SentenceFacts) -> Sentence:
    change = _percent(facts.new, facts.new_before)
    main = f"{_people(facts.new)} joined {_range(facts)}{f', {change}' if change else ''}."
    through = formats.share(facts.referred, facts.new)
    return Sentence(main, f"{through} came through subscribers and partners.")


def _small(facts: SentenceFacts) -> Sentence:
    whom = "1 new subscriber" if facts.new == 1 else f"{facts.new:,} new subscribers"
    count = facts.subscribers + facts.partners
    if facts.partners or not 0 < count < len(SMALL_NUMBERS):
        through = _through(facts)
    else:
        through = SMALL_NUMBERS[count]
    return Sentence(f"{facts.referred:,} of {whom} came through {through}.", _more(facts))


def _more(facts: SentenceFacts) -> str:
    if facts.first_rewards:
        rewards = formats.plural(facts.first_rewards, "reward")
        verb = "was" if facts.first_rewards == 1 else "were"
        return f"The first {rewards} {verb} earned."
    return _top(facts)


def _top(facts: SentenceFacts) -> str:
    """`Mateo Torres brought 13.`, and through whom he came himself."""
    if not facts.bringers:
        return ""
    top = max(facts.bringers, key=lambda each: each.n)
    name = formats.isolated(top.name)
    if top.through and top.n > 1:
        return f"{name} came through {formats.isolated(top.through)}, and brought {top.n:,}."
    return f"{name} brought {top.n:,}."


def _through(facts: SentenceFacts) -> str:
    parts = []
    if facts.subscribers:
        parts.append(formats.plural(facts.subscribers, "subscriber"))
    if facts.partners:
        parts.append(formats.plural(facts.partners, "partner"))
    return " and ".join(parts) or "referrals"


def _compared(facts: SentenceFacts) -> str:
    change = _percent(facts.referred, facts.referred_before)
    if not change:
        return ""
    return f", {change} {'as' if change.endswith('many') else 'than'} {during(facts.earlier)}"


def _percent(now: int, before: int | None) -> str:
    """`19% more`; empty if there is nothing to compare with, or too little."""
    if before is None or before < LEAST_FOR_PERCENT:
        return ""
    percent = round(100 * abs(now - before) / before)
    if percent < STEADY_PERCENT:
        return "about as many"
    return f"{percent:,}% {'more' if now > before else 'fewer'}"


def _range(facts: SentenceFacts) -> str:
    return "on this day" if facts.days == 1 else f"in these {facts.days:,} days"


def _people(count: int) -> str:
    return formats.plural(count, "person", "people")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
