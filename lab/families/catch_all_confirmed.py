"""Names at one domain whose every address arrives in one mailbox. A script there confirms each
after some minutes, from another IP address than the last one.
"""

import random
from collections.abc import Iterator

from honeyguide.kernel.clock import DAY_MS
from lab.browsers import DESKTOPS
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    domain = crowd.company()
    for at_ms in crowd.moments(count, 2 * DAY_MS):
        yield Signup(
            crowd.colleague(domain),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(DESKTOPS),
            confirms_after_ms=rng.randrange(60_000, 1_800_000),
        )
