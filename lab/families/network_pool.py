"""Bought mailboxes with ordinary names, signed up through a pool of eight IP addresses with all
headers of a real browser. All of them confirm. Out of reach: an office, a school or a village
behind one address looks the same, and refusing those would cost more than this does.
"""

import random
from collections.abc import Iterator

from lab.browsers import DESKTOPS
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False
is_out_of_reach = True


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    pool = [crowd.ip_address() for _ in range(8)]
    for at_ms in crowd.days(count, 5):
        yield Signup(
            crowd.address(0),
            at_ms,
            rng.choice(pool),
            browser=crowd.browser(DESKTOPS),
            confirms_after_ms=crowd.confirms(1),
        )
