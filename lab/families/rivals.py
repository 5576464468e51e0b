"""Somebody who attacks an honest partner, to keep their readers from being written to or paid for.
Every form comes from another network, and nobody confirms. What counts is the partner's readers.
"""

import random
from collections.abc import Iterator, Sequence

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup, framing


def _readers(crowd: Crowd, times: Sequence[int], *, partners: int = 1) -> Iterator[Signup]:
    for number, at_ms in enumerate(times):
        yield Signup(
            crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(1),
            partner=number % partners,
        )


def _form(
    crowd: Crowd, at_ms: int, *, email: str = "", partner: int = 0, works: bool = False
) -> Signup:
    email = email or crowd.address(0)
    home, browser = crowd.ip_address(), crowd.browser(EVERYDAY)
    return Signup(email, at_ms, home, browser, partner=partner, is_extra=True, works=works)


@framing(people=18)
def new_code_flooded(rng: random.Random, count: int) -> Iterator[Signup]:
    """25 made-up addresses on a new code, before its first reader."""
    crowd = Crowd(rng)
    for at_ms in crowd.moments(25, HOUR_MS):
        yield _form(crowd, at_ms)
    yield from _readers(crowd, [HOUR_MS + ms for ms in crowd.days(count, 5)])


@framing(people=18)
def known_code_flooded(rng: random.Random, count: int) -> Iterator[Signup]:
    """100 made-up addresses on a code that brought 40 readers this week."""
    crowd = Crowd(rng)
    for each in _readers(crowd, crowd.days(40, 3)):
        yield Signup(**{**vars(each), "is_extra": True})
    for at_ms in crowd.moments(100, 2 * HOUR_MS):
        yield _form(crowd, 3 * DAY_MS + at_ms)
    yield from _readers(crowd, [3 * DAY_MS + 2 * HOUR_MS + ms for ms in crowd.days(count, 3)])


@framing(people=18)
def counted_up_in_their_name(rng: random.Random, count: int) -> Iterator[Signup]:
    """45 addresses that count up, over the days in which the readers come."""
    crowd = Crowd(rng)
    for number, at_ms in enumerate(crowd.days(45, 5), 100):
        yield _form(crowd, at_ms, email=f"reader{number}@gmail.com")
    yield from _readers(crowd, crowd.days(count, 6))


@framing(people=18)
def timer_in_their_name(rng: random.Random, count: int) -> Iterator[Signup]:
    """A form every half hour for six days."""
    crowd = Crowd(rng)
    for number in range(290):
        yield _form(crowd, number * 30 * MINUTE_MS + rng.randrange(MINUTE_MS))
    yield from _readers(crowd, crowd.days(count, 6))


@framing(people=18)
def three_companies_in_their_name(rng: random.Random, count: int) -> Iterator[Signup]:
    """60 made-up addresses at three companies, where most of the readers work too."""
    crowd = Crowd(rng)
    companies = [crowd.company() for _ in range(3)]
    for at_ms in crowd.days(60, 5):
        yield _form(crowd, at_ms, email=crowd.colleague(rng.choice(companies)))
    for number, each in enumerate(_readers(crowd, crowd.days(count, 6))):
        own = f"{number}{crowd.colleague(rng.choice(companies))}"
        yield Signup(**{**vars(each), "email": own if number % 3 else each.email})


@framing(people=40)
def flooded_for_six_days(rng: random.Random, count: int) -> Iterator[Signup]:
    """300 forms from 300 networks over six days."""
    crowd = Crowd(rng)
    for at_ms in crowd.moments(300, 6 * DAY_MS):
        yield _form(crowd, at_ms)
    yield from _readers(crowd, crowd.days(count, 6))


@framing(people=40)
def flooded_in_a_minute(rng: random.Random, count: int) -> Iterator[Signup]:
    """100 forms within a minute, just before the partner's newsletter goes out."""
    crowd = Crowd(rng)
    for at_ms in crowd.moments(100, MINUTE_MS):
        yield _form(crowd, at_ms)
    yield from _readers(crowd, [MINUTE_MS + ms for ms in crowd.moments(count, 3 * HOUR_MS)])


@framing(people=100, partners=50)
def account_flooded(rng: random.Random, count: int) -> Iterator[Signup]:
    """5,000 forms within an hour, over the codes of fifty partners of one newsletter."""
    crowd = Crowd(rng)
    for number, at_ms in enumerate(crowd.moments(50 * count, HOUR_MS)):
        yield _form(crowd, at_ms, partner=number % 50)
    yield from _readers(crowd, crowd.moments(count, 4 * HOUR_MS), partners=50)


@framing(people=40, is_out_of_reach=True)
def flooded_after_work(rng: random.Random, count: int) -> Iterator[Signup]:
    """1,000 forms within two hours, from as many networks, whose browsers do the work. Out of
    reach: 200 emails an hour go after work, and chance chooses among networks.
    """
    crowd = Crowd(rng)
    for at_ms in crowd.moments(25 * count, 2 * HOUR_MS):
        yield _form(crowd, at_ms, works=True)
    yield from _readers(crowd, crowd.moments(count, 4 * HOUR_MS))


@framing(people=100, partners=2, is_theft=True)
def entered_a_day_before(rng: random.Random, count: int) -> Iterator[Signup]:
    """A thief enters 200 addresses of a partner's readers with a code of their own, a day before
    the partner writes to them.
    """
    crowd = Crowd(rng)
    readers = list(_readers(crowd, [DAY_MS + ms for ms in crowd.moments(count, 3 * HOUR_MS)]))
    for each in readers:
        yield _form(crowd, rng.randrange(HOUR_MS), email=each.email, partner=1)
    for _ in range(count):
        yield _form(crowd, rng.randrange(HOUR_MS), partner=1)
    yield from readers
