"""Every signup comes from another home, with all headers of a real browser, over three days. The
addresses are at five domains of the attacker's, and all of them confirm.
"""

import random
from collections.abc import Iterator

from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    domains = [crowd.company() for _ in range(5)]
    for at_ms in crowd.days(count, 3):
        yield Signup(
            f"{crowd.local_part()}@{rng.choice(domains)}",
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(1),
        )
