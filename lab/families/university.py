"""A quarter are students of one university, with initials and numbers as their addresses, many of
them on the campus network. The others are readers as usual.
"""

import random
from collections.abc import Iterator

from lab.browsers import EVERYDAY
from lab.crowd import Crowd
from lab.family import Signup

is_honest = True
people = 160


def signups(rng: random.Random, count: int) -> Iterator[Signup]:
    crowd = Crowd(rng)
    campus = [crowd.ip_address() for _ in range(6)]
    for at_ms in crowd.days(count, 10):
        is_student = rng.random() < 0.25
        first, last = crowd.name()
        student = f"{first[0]}{last[:2]}{rng.randint(100, 9999)}@northfield.edu"
        yield Signup(
            student if is_student else crowd.address(),
            at_ms,
            rng.choice(campus) if is_student and rng.random() < 0.5 else crowd.ip_address(),
            browser=crowd.browser(EVERYDAY),
            confirms_after_ms=crowd.confirms(),
        )
