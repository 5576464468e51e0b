"""People who sign up and then miss the email: more than half never confirm. The others do."""

import random
from collections.abc import Iterator

from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = True
people = 150


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 7):
        yield Signup(
            crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(0.45),
        )
