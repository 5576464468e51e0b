"""People who are paid to sign up: real browsers in one office, bought mailboxes, ordinary names,
one about every three minutes of a working day. All of them confirm.
"""

import random
from collections.abc import Iterator

from lab.browsers import DESKTOPS
from lab.crowd import Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    office = crowd.ip_address()
    for number in range(count):
        yield Signup(
            crowd.address(0),
            number * 180_000 + rng.randrange(90_000),
            office,
            browser=crowd.browser(DESKTOPS),
            confirms_after_ms=rng.randrange(30_000, 120_000),
            uses_page=rng.random() < 0.5,
        )
