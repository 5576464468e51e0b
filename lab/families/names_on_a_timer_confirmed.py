"""Bought mailboxes with ordinary names, signed up by a real browser every 20 minutes, give or take
two. All of them confirm.
"""

import random
from collections.abc import Iterator

from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    for number in range(count):
        yield Signup(
            crowd.address(0),
            number * 1_200_000 + rng.randrange(240_000),
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=rng.randrange(60_000, 600_000),
        )
