"""A small partner: the first five are colleagues in one office, who help to try the link out. Then
come a few readers each week.
"""

import random
from collections.abc import Iterator

from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = True
people = 30


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    office, domain = crowd.ip_address(), crowd.company()
    times = [*crowd.moments(5, 6 * HOUR_MS), *(DAY_MS + ms for ms in crowd.days(count - 5, 28))]
    for number, at_ms in enumerate(times):
        is_colleague = number < 5
        yield Signup(
            crowd.colleague(domain) if is_colleague else crowd.address(),
            at_ms,
            office if is_colleague else crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(),
        )
