"""A handful of real names, each with many different numbers, at two mailbox providers. All of them
confirm.
"""

import random
from collections.abc import Iterator

from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    names = [".".join(crowd.name()) for _ in range(5)]
    for number, at_ms in zip(rng.sample(range(1, 2000), count), crowd.days(count, 4), strict=True):
        yield Signup(
            f"{rng.choice(names)}{number}@{rng.choice(['gmail.com', 'yahoo.com'])}",
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(1),
        )
