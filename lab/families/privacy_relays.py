"""Half hide their address behind a relay of their phone or browser, whose names are random
letters.
"""

import random
from collections.abc import Iterator

from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = True
people = 110
RELAYS = ("privaterelay.appleid.com", "privaterelay.appleid.com", "duck.com", "mozmail.com")


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    for at_ms in crowd.days(count, 8):
        relayed = f"{crowd.letters(10)}@{rng.choice(RELAYS)}"
        yield Signup(
            relayed if rng.random() < 0.5 else crowd.address(),
            at_ms,
            crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(),
        )
