"""Random letters and digits at big mailbox providers, from real browsers behind proxies. All of
them confirm.
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
    for at_ms in crowd.moments(count, 2 * DAY_MS):
        yield Signup(
            f"{crowd.letters(rng.randint(8, 12))}@{crowd.provider()}",
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=rng.randrange(60_000, 1_800_000),
        )
