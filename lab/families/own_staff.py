"""A partner refers its own staff, most of whom do not exist: one domain, one office, a few each day
for two weeks. All of them confirm and press a button on their referral page.
"""

import random
from collections.abc import Iterator

from lab.browsers import DESKTOPS
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    office, domain = crowd.ip_address(), crowd.company()
    for at_ms in crowd.days(count, 14):
        yield Signup(
            crowd.colleague(domain),
            at_ms,
            office if rng.random() < 0.8 else crowd.ip_address(),
            browser=crowd.browser(DESKTOPS),
            confirms_after_ms=crowd.confirms(1),
            uses_page=True,
        )
