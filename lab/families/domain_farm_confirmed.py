"""Ten cheap domains with a few addresses each, signed up by real browsers behind proxies over some
days. All of them confirm.
"""

import random
from collections.abc import Iterator

from honeyguide.kernel.clock import DAY_MS
from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    domains = [crowd.company() for _ in range(10)]
    for at_ms in crowd.moments(count, 4 * DAY_MS):
        yield Signup(
            crowd.colleague(rng.choice(domains)),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=rng.randrange(120_000, 7_200_000),
        )
