"""Three domains of the attacker's, one or two signups a day for a month, from real browsers behind
proxies. All of them confirm, and some press a button on their referral page.
"""

import random
from collections.abc import Iterator

from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    domains = [crowd.company() for _ in range(3)]
    for at_ms in crowd.days(count, 30):
        yield Signup(
            crowd.colleague(rng.choice(domains)),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=rng.randrange(300_000, 20_000_000),
            uses_page=rng.random() < 0.3,
        )
