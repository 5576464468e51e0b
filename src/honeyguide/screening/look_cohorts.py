"""What the readers of one partner are like, beside the newsletter's own, and whether they differ.
Pure: no clock, no store.

Two groups differ in a share if drawing both from one crowd would show so much, or more, less often
than once in 1,000. That is the exact tail of the hypergeometric distribution, divided by how many
shares are looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import comb
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.screening.mailbox_providers import is_mail_host, is_provider
from honeyguide.screening.shared_traits import differs_from_one_place

RARE = 0.001
LEAST_OTHERS = 20
"""Fewer own readers, or readers looked at before, say nothing."""
SHOWN_HOSTS = 4
NEARLY_ALL = 0.9
HARDLY_ANY = 0.01
HOURS = 2
"""In one bar of a day."""
MOST_CLICKS = 2_000
CLICK = "Click before the signup"


class CohortReader(NamedTuple):
    """What is known of one reader."""

    host: str
    """Where their email is received: the mail host, or the domain while that is not known."""
    arrived_ms: int
    confirmed_ms: int | None
    had_click: bool | None
    """None if they came by no link, or not on a form of ours."""
    has_left: bool
    has_time: bool = True
    """Whether it is known when they confirmed, or that they have not."""
    has_hour: bool = True
    """Not if somebody else brought them, such as an import."""
    network: str | None = None
    domain: str = ""


class LinkClicks(NamedTuple):
    """Clicks on links, and the signups through them on forms."""

    clicks: int
    signups: int

    @property
    def in_words(self) -> str:
        if not self.signups:
            return f"{self.clicks:,} clicks"
        return f"{self.clicks / self.signups:,.1f} clicks for each signup"


class Bar(NamedTuple):
    label: str
    n: int
    others: int

    def other_percent(self, total: int) -> int:
        return round(100 * self.others / total) if total else 0


class Comparison(NamedTuple):
    """One thing that the readers are compared by, as it is drawn."""

    name: str
    bars: list[Bar]
    n: int
    others: int
    differing: list[Bar]
    """Where they have more than chance explains, the rarest first."""
    sentence: str
    note: str = ""
    """A figure that is not drawn."""

    @property
    def differs(self) -> bool:
        return bool(self.sentence)


def tail(k: int, n: int, of_others: int, others: int) -> float:
    """How likely `n` of a crowd of both have `k` or more of those that both have together."""
    whole, marked = n + others, k + of_others
    ways = sum(comb(marked, i) * comb(whole - marked, n - i) for i in range(k, min(n, marked) + 1))
    return ways / comb(whole, n)


def compare(
    readers: Sequence[CohortReader],
    others: Sequence[CohortReader],
    clicks: tuple[LinkClicks, LinkClicks] = (LinkClicks(0, 0), LinkClicks(0, 0)),
) -> list[Comparison]:
    """`clicks` are those on their links, and on those of the newsletter's other partners."""
    by_click = _compared(CLICK, readers, others, _click, _CLICKS, _click_sentence)
    return [
        _of_hosts(readers, others),
        _of_hours(readers, others),
        _with_clicks(by_click, *clicks),
        _of_waits(readers, others),
        _compared("Left again", readers, others, _left, _LEFT, _left_sentence),
    ]


def drifted(newest: Sequence[CohortReader], approved: Sequence[CohortReader]) -> list[Comparison]:
    """In what the newest readers are outside of what those who looked right would show. A click is
    none of it: where it is drawn it is shown, and it asks nobody again."""
    found = compare(newest, approved)
    return [each for each in found if each.differs and each.name != CLICK]


def _with_clicks(found: Comparison, theirs: LinkClicks, others: LinkClicks) -> Comparison:
    """More signups than clicks explain, if each signup has its click with other partners."""
    if not theirs.signups:
        return found
    note = f"{theirs.in_words[0].upper()}{theirs.in_words[1:]}."
    if others.signups:
        note += f" With your other partners: {others.in_words}."
    k, n = _counted(theirs)
    is_rare = others.signups >= LEAST_OTHERS and tail(k, n, *_counted(others)) < RARE
    return found._replace(note=note, sentence=found.sentence or (note if is_rare else ""))


def _counted(links: LinkClicks) -> tuple[int, int]:
    """Signups and clicks, of many a part: the tail is exact. A signup has its click."""
    clicks = max(links.clicks, links.signups)
    part = 1 + clicks // MOST_CLICKS
    return links.signups // part, clicks // part


def _of_hosts(readers: Sequence[CohortReader], others: Sequence[CohortReader]) -> Comparison:
    """The largest hosts of both, and where the readers have more than chance explains."""
    theirs, usual = (Counter(each.host for each in side) for side in (readers, others))
    first = [host for host, _ in theirs.most_common(SHOWN_HOSTS)]
    more = [host for host, _ in usual.most_common() if host not in first]
    shown = (first + more)[:SHOWN_HOSTS]

    def host_of(reader: CohortReader) -> str:
        return reader.host if reader.host in shown else "others"

    labels = [*shown, "others"]
    drawn = _compared("Mail host", readers, others, host_of, labels, _host_sentence)
    differing = _unusual_hosts(readers, others)
    says = _host_sentence(differing[0], drawn.n, drawn.others) if differing else ""
    return drawn._replace(differing=differing, sentence=says)


def _unusual_hosts(readers: Sequence[CohortReader], others: Sequence[CohortReader]) -> list[Bar]:
    """Anybody can have an address at a mailbox provider, so only other domains and their hosts say
    something, compared among those who have one. Where hardly any of the others do, the services
    that companies use say nothing either, and all are compared."""
    sides = [[each for each in side if not is_provider(each.host)] for side in (readers, others)]
    n, total = map(len, sides)
    is_whole = total < LEAST_OTHERS
    if is_whole:
        n, total = len(readers), len(others)
    if total < LEAST_OTHERS:
        return []
    hosts, domains = (_shared(sides, readers, name) for name in ("host", "domain"))
    bars = [each for each in hosts if not (is_whole and is_mail_host(each.label))]
    if all(each.domain for each in sides[1]):  # not of those who looked right once
        bars += domains
    if not is_whole:
        theirs, usual = (Counter(each.host for each in side) for side in sides)
        unknown = [host for host in theirs if not usual[host] and not _is_place(host, readers)]
        alone = sum(count == 1 for count in usual.values())
        bars.append(Bar("others", sum(theirs[host] for host in unknown), alone))
    rare = sorted((tail(bar.n, n, bar.others, total), bar) for bar in bars if bar.n > 1)
    return [bar for p, bar in rare if p < RARE / (2 * SHOWN_HOSTS + 1)]


def _shared(
    sides: Sequence[Sequence[CohortReader]], readers: Sequence[CohortReader], name: str
) -> list[Bar]:
    """The hosts or domains that most of theirs have."""
    theirs, usual = (Counter(getattr(each, name) for each in side) for side in sides)
    return [
        Bar(label, count, usual[label])
        for label, count in theirs.most_common(SHOWN_HOSTS)
        if label and count > 1 and not _is_place(label, readers, name)
    ]


def _is_place(label: str, readers: Sequence[CohortReader], name: str = "host") -> bool:
    """A school or an office, and not nearly all who came."""
    there = [each for each in readers if getattr(each, name) == label]
    domains, networks = ({getattr(each, name) for each in there} for name in ("domain", "network"))
    return len(domains) == 1 and not (
        differs_from_one_place(domains.pop(), len(there), len(networks))
        or len(there) > NEARLY_ALL * len(readers)
    )


def _compared(
    name: str,
    readers: Sequence[CohortReader],
    others: Sequence[CohortReader],
    label_of: Callable[[CohortReader], str],
    labels: Sequence[str],
    sentence: Callable[[Bar, int, int], str],
) -> Comparison:
    """Who has no label is not compared: it is not known."""
    ours, theirs = (Counter(filter(None, map(label_of, side))) for side in (readers, others))
    bars = [Bar(label, ours[label], theirs[label]) for label in labels]
    n, total = ours.total(), theirs.total()
    rare = []
    if total >= LEAST_OTHERS:
        rare = [(tail(bar.n, n, bar.others, total), bar) for bar in bars if bar.n > 1]
    differing = [bar for p, bar in sorted(rare) if p < RARE / len(bars)]
    says = sentence(differing[0], n, total) if differing else ""
    return Comparison(name, bars, n, total, differing, says)


def _many(bar: Bar, n: int) -> str:
    return f"All {n}" if bar.n == n else f"{bar.n} of {n}"


def _usual(bar: Bar, total: int) -> str:
    return "None of the others" if not bar.others else f"{bar.other_percent(total)}% of the others"


def _host_sentence(bar: Bar, n: int, total: int) -> str:
    if bar.label == "others":
        return f"{_many(bar, n)} are at hosts with few of them. {_usual(bar, total)} are."
    return f"{_many(bar, n)} are at one host, {bar.label}. {_usual(bar, total)} are there."


_HOURS = [f"{hour:02}:00" for hour in range(0, 24, HOURS)]


def _of_hours(readers: Sequence[CohortReader], others: Sequence[CohortReader]) -> Comparison:
    """People come in waves, after each mailing. Hours say something at which the others sleep."""
    found = _compared("Hour they signed up, UTC", readers, others, _hour, _HOURS, _hours_sentence)
    asleep = [each for each in found.differing if each.others <= HARDLY_ANY * found.others]
    says = _hours_sentence(asleep[0], found.n, found.others) if asleep else ""
    return found._replace(differing=asleep, sentence=says)


def _hour(reader: CohortReader) -> str:
    if not reader.has_hour:
        return ""
    return _HOURS[reader.arrived_ms % DAY_MS // (HOURS * HOUR_MS)]


def _hours_sentence(bar: Bar, n: int, total: int) -> str:
    end = (int(bar.label[:2]) + HOURS) % 24
    return f"{_many(bar, n)} from {bar.label} to {end:02}:00. {_usual(bar, total)} came then."


_CLICKS = ["a click", "no click"]


def _click(reader: CohortReader) -> str:
    if reader.had_click is None:
        return ""
    return _CLICKS[0 if reader.had_click else 1]


def _click_sentence(bar: Bar, n: int, total: int) -> str:
    return f"{_many(bar, n)} with {bar.label} before the signup. {_usual(bar, total)}."


_WAITS = ["in an hour", "in a day", "in 3 days", "later", "not yet"]


def _of_waits(readers: Sequence[CohortReader], others: Sequence[CohortReader]) -> Comparison:
    """Who reads their email late is no robot."""
    found = _compared("Time to confirm", readers, others, _wait, _WAITS, _wait_sentence)
    odd = [each for each in found.differing if each.label in (_WAITS[0], _WAITS[4])]
    says = _wait_sentence(odd[0], found.n, found.others) if odd else ""
    return found._replace(differing=odd, sentence=says)


def _wait(reader: CohortReader) -> str:
    if not reader.has_time:
        return ""
    if reader.confirmed_ms is None:
        return _WAITS[4]
    took = reader.confirmed_ms - reader.arrived_ms
    limits = (HOUR_MS, DAY_MS, 3 * DAY_MS)
    return _WAITS[next((i for i, limit in enumerate(limits) if took < limit), 3)]


def _wait_sentence(bar: Bar, n: int, total: int) -> str:
    not_yet = bar.label == _WAITS[4]
    what = "have not confirmed yet" if not_yet else f"confirmed {bar.label}"
    return f"{_many(bar, n)} {what}. {_usual(bar, total)}."


_LEFT = ["stayed", "left"]


def _left(reader: CohortReader) -> str:
    return _LEFT[1 if reader.has_left else 0]


def _left_sentence(bar: Bar, n: int, total: int) -> str:
    return f"{_many(bar, n)} {bar.label}. {_usual(bar, total)} did."
