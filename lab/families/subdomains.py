"""One domain with a subdomain for each address, so that no two share one. All of them confirm."""

import random
from collections.abc import Iterator

from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    domain = crowd.company()
    for at_ms in crowd.days(count, 3):
        yield Signup(
            f"{crowd.local_part()}@{crowd.letters(6)}.{domain}",
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(1),
        )
