"""Mailboxes sold by the hundred: a first name, a last name and four digits at one provider. Every
signup comes from another home, with all headers of a real browser, and confirms.
"""

import random
from collections.abc import Iterator

from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 4):
        first, last = crowd.name()
        yield Signup(
            f"{first}{last}{rng.randint(1000, 9999)}@outlook.com",
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(1),
        )
