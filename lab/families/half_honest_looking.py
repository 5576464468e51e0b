"""Half are addresses at the attacker's own domain, which confirm. The other half are addresses of
strangers, which never do and only hide the first half.
"""

import random
from collections.abc import Iterator

from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    domain = crowd.company()
    for number, at_ms in enumerate(crowd.days(count, 3)):
        is_own = number % 2 == 0
        yield Signup(
            crowd.colleague(domain) if is_own else crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(1) if is_own else None,
        )
