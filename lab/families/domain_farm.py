"""Ten cheap domains, none of them on a list of disposable ones, with a few addresses each. Nobody
confirms.
"""

import random
from collections.abc import Iterator

from honeyguide.kernel.clock import HOUR_MS
from lab.crowd import Crowd
from lab.family import Form, Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    domains = [crowd.company() for _ in range(10)]
    for at_ms in crowd.moments(count, 4 * HOUR_MS):
        email = crowd.colleague(rng.choice(domains))
        yield Signup(email, at_ms, crowd.ip_address(), browser="curl", form=Form.ELSEWHERE)
