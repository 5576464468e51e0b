"""A script loads one form and posts it again and again with addresses of a bought list."""

import random
from collections.abc import Iterator

from lab.crowd import Crowd
from lab.family import Form, Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    server = crowd.ip_address()
    for number in range(count):
        yield Signup(crowd.address(), number * 2_000, server, browser="python", form=Form.REPLAYED)
