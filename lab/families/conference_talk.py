"""A talk ends with a QR code, and forty listeners sign up within a quarter of an hour: half over
the Wi-Fi of the room, half over their mobile networks.
"""

import random
from collections.abc import Iterator

from honeyguide.kernel.clock import MINUTE_MS
from lab.browsers import PHONES
from lab.crowd import Crowd
from lab.family import Signup

is_honest = True
people = 40


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    room = crowd.ip_address()
    for at_ms in sorted(int(rng.betavariate(1.2, 3) * 15 * MINUTE_MS) for _ in range(count)):
        yield Signup(
            crowd.address(0.3),
            at_ms,
            room if rng.random() < 0.5 else crowd.ip_address(),
            browser=crowd.browser(PHONES),
            confirms_after_ms=crowd.confirms(0.9),
        )
