"""Addresses counted up at a big mailbox provider: reader101, reader102 and so on. Most of them do
not exist, and nobody confirms.
"""

import random
from collections.abc import Iterator

from honeyguide.kernel.clock import HOUR_MS
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    word, first = rng.choice(["reader", "newsfan", "dailyuser"]), rng.randint(100, 800)
    for number, at_ms in enumerate(crowd.moments(count, 2 * HOUR_MS), first):
        yield Signup(f"{word}{number}@gmail.com", at_ms, crowd.ip_address(), browser="disguised")
