"""A quarter forget that they signed up and do it again some hours later, with the same address."""

import random
from collections.abc import Iterator

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = True
people = 120


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 8):
        email, home, browser = crowd.address(), crowd.ip_address(), crowd.browser(EVERYDAY)
        again = rng.random() < 0.25
        confirms = crowd.confirms(0.9)
        yield Signup(email, at_ms, home, browser=browser, confirms_after_ms=confirms)
        if again:
            later_ms = at_ms + rng.randrange(2 * HOUR_MS, 2 * DAY_MS)
            yield Signup(email, later_ms, home, browser=browser, confirms_after_ms=confirms)
