"""Readers of a partner's newsletter, over two weeks: all kinds of mailboxes, browsers and homes."""

import random
from collections.abc import Iterator

from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = True
people = 200


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 14):
        yield Signup(
            crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(),
            uses_page=rng.random() < 0.1,
        )
