"""A newsletter with the partner's link goes out, and 300 people come within an hour, most of them
in the first twenty minutes.
"""

import random
from collections.abc import Iterator

from honeyguide.kernel.clock import HOUR_MS
from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = True
people = 300


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    for at_ms in sorted(int(rng.betavariate(1.1, 3) * HOUR_MS) for _ in range(count)):
        yield Signup(
            crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(0.8),
        )
