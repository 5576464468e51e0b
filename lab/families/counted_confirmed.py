"""Mailboxes that a script made at a mailbox provider, with names that count up, and that it
confirms from real browsers behind proxies.
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
    numbers = rng.sample(range(10, 10 + 3 * count), count)
    for number, at_ms in zip(numbers, crowd.moments(count, 3 * DAY_MS), strict=True):
        yield Signup(
            f"markus.reads{number}@outlook.com",
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=rng.randrange(120_000, 3_600_000),
        )
