"""One person with many addresses: tags and dots in one mailbox, and the same name at several
providers. All of them confirm, from home and from a phone.
"""

import random
from collections.abc import Iterator

from lab.crowd import PROVIDERS, Crowd
from lab.family import Signup

is_honest = False


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    first, last = crowd.name()
    home, phone, providers = crowd.ip_address(), crowd.ip_address(), list(PROVIDERS)
    for number, at_ms in enumerate(crowd.days(count, 6)):
        if number % 2:
            email = f"{first}.{last}+{crowd.letters(4)}@gmail.com"
        else:
            joint, tail = ("", ".", "_")[number % 3], number // 26 or ""
            email = f"{first}{joint}{last}{tail}@{providers[number // 2 % len(providers)]}"
        is_phone = rng.random() < 0.4
        yield Signup(
            email,
            at_ms,
            phone if is_phone else home,
            browser="iphone" if is_phone else "chrome_mac",
            confirms_after_ms=crowd.confirms(1),
        )
