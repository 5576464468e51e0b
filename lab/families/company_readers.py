"""Readers of a newsletter about business: two thirds use their address at work, and now and then
two or three come from the same company.
"""

import random
from collections.abc import Iterator

from lab.browsers import DESKTOPS
from lab.crowd import Crowd
from lab.family import Signup

is_honest = True
people = 150


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    offices: list[tuple[str, str]] = []
    for at_ms in crowd.days(count, 12):
        is_colleague = bool(offices) and rng.random() < 0.1
        company = rng.choice(offices) if is_colleague else (crowd.company(), crowd.ip_address())
        is_at_work = is_colleague or rng.random() < 0.6
        if is_at_work:
            offices.append(company)
        domain, office = company
        yield Signup(
            crowd.colleague(domain) if is_at_work else crowd.address(0),
            at_ms,
            office if is_at_work and rng.random() < 0.7 else crowd.ip_address(),
            browser=crowd.browser(DESKTOPS),
            confirms_after_ms=crowd.confirms(),
        )
