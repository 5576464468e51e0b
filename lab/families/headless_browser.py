"""A browser without a window on a few rented servers, with bought mailboxes. All of them
confirm.
"""

import random
from collections.abc import Iterator

from honeyguide.kernel.clock import HOUR_MS
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    servers = [crowd.ip_address() for _ in range(4)]
    for at_ms in crowd.moments(count, 12 * HOUR_MS):
        yield Signup(
            crowd.address(0),
            at_ms,
            rng.choice(servers),
            browser="headless",
            confirms_after_ms=rng.randrange(20_000, 120_000),
        )
