"""Made-up names at big mailbox providers, one every 45 seconds. Nobody confirms."""

import random
from collections.abc import Iterator

from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    for number in range(count):
        at_ms = number * 45_000 + rng.randrange(2_000)
        yield Signup(crowd.address(0), at_ms, crowd.ip_address(), browser="disguised")
