"""Old iPhones, whose browser leaves out headers that newer ones send."""

import random
from collections.abc import Iterator

from lab.crowd import Crowd
from lab.family import Signup

is_honest = True
people = 100


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 9):
        yield Signup(
            crowd.address(0.05),
            at_ms,
            crowd.ip_address(),
            browser="old_safari",
            confirms_after_ms=crowd.confirms(),
        )
