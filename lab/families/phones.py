"""Phones without scripts, most of them in the browser of another app. Some share the IP address of
their mobile network.
"""

import random
from collections.abc import Iterator

from lab.browsers import PHONES
from lab.crowd import Crowd
from lab.family import Signup

is_honest = True
people = 120


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    carriers = [crowd.ip_address() for _ in range(10)]
    for at_ms in crowd.days(count, 5):
        yield Signup(
            crowd.address(0.03),
            at_ms,
            rng.choice(carriers) if rng.random() < 0.25 else crowd.ip_address(),
            browser=crowd.browser(PHONES),
            confirms_after_ms=crowd.confirms(),
        )
