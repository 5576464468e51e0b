"""As a replayed form, but when it is refused, the script sends the fresh form that the answer has.
The addresses are at a domain of its own, so that it can confirm them.
"""

import random
from collections.abc import Iterator

from lab.crowd import Crowd
from lab.family import Form, Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    server, domain = crowd.ip_address(), crowd.company()
    for number in range(count):
        yield Signup(
            f"{crowd.local_part()}@{domain}",
            number * 9_000 + rng.randrange(8_000),
            server,
            browser="disguised",
            form=Form.ANSWERED,
            confirms_after_ms=rng.randrange(60_000, 900_000),
        )
