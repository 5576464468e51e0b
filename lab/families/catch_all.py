"""Names at one domain whose every address arrives in one mailbox. Nobody confirms."""

import random
from collections.abc import Iterator

from honeyguide.kernel.clock import HOUR_MS
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    domain = crowd.company()
    for at_ms in crowd.moments(count, 3 * HOUR_MS):
        yield Signup(crowd.colleague(domain), at_ms, crowd.ip_address())
