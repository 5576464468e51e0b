"""A bought list of real people, posted by a tool that fetches a form for each. They get an email
that they did not ask for; one in forty confirms it anyway.
"""

import random
from collections.abc import Iterator

from lab.crowd import Crowd
from lab.family import Form, Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    for number in range(count):
        yield Signup(
            crowd.address(),
            number * 20_000 + rng.randrange(15_000),
            crowd.ip_address(),
            browser="python",
            form=Form.ELSEWHERE,
            confirms_after_ms=3_600_000 if number % 40 == 7 else None,
        )
