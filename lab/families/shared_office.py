"""A link that was passed around in an office: one in six comes from the office's network, half of
these with an address at work. The others are readers as usual.
"""

import random
from collections.abc import Iterator

from lab.browsers import DESKTOPS, EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = True
people = 120


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    office, domain = crowd.ip_address(), crowd.company()
    for number, at_ms in enumerate(crowd.days(count, 10)):
        is_office = number % 6 == 1
        yield Signup(
            crowd.colleague(domain) if is_office and number % 12 == 1 else crowd.address(),
            at_ms,
            office if is_office else crowd.ip_address(),
            browser=crowd.browser(DESKTOPS if is_office else EVERYDAY),
            confirms_after_ms=crowd.confirms(),
        )
