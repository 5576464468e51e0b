"""What a family is: a module of `lab.families` with one function that yields signups."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from lab import families

ATTACK_SIGNUPS = 40
"""How often each attack tries: every family tries for the same dollars."""
SHORT_PEOPLE = 60
"""How many people of an honest family are in a short run, unless there are fewer."""


class Form(StrEnum):
    """Where the form that is sent comes from."""

    OWN = "own"  # the sender's own browser showed it
    ELSEWHERE = "elsewhere"  # it was fetched from another IP address, one for each signup
    REPLAYED = "replayed"  # the family's first form, again and again
    ANSWERED = "answered"  # the same, and then the fresh form in the answer that refuses it


@dataclass(frozen=True)
class Signup:
    email: str
    at_ms: int
    """After the family began."""
    ip_address: str
    browser: str = "chrome"
    """A name in `browsers`."""
    form: Form = Form.OWN
    confirms_after_ms: int | None = None
    """After the signup, or when the email comes if that is later. None: never."""
    uses_page: bool = False
    """Whether they then open their referral page and press a button on it."""


@dataclass(frozen=True)
class Family:
    name: str
    about: str
    is_honest: bool
    is_out_of_reach: bool
    """An attack that nothing we look at can tell from readers. It is played and shown, and the
    limits do not count it."""
    people: int
    signups: Callable[[random.Random, int], Iterator[Signup]]

    def play(self, *, seed: int, is_short: bool) -> list[Signup]:
        is_smaller = is_short and self.is_honest
        count = min(self.people, SHORT_PEOPLE) if is_smaller else self.people
        rng = random.Random(f"{self.name} {seed}")
        return list(self.signups(rng, count))


def find_families() -> list[Family]:
    """Every module of the package, attacks first."""
    found = [_read(each.name) for each in pkgutil.iter_modules(families.__path__)]
    return sorted(found, key=lambda family: (family.is_honest, family.name))


def choose_third(families: list[Family], seed: int) -> list[Family]:
    """For a short run: a third of the attacks and of the honest families. Attacks keep their size,
    because a group is the harder to see, the smaller it is."""
    attacks = [family for family in families if not family.is_honest]
    honest = [family for family in families if family.is_honest]
    third = (seed + 1) % 3
    return attacks[third::3] + honest[third::3]


def _read(name: str) -> Family:
    module = importlib.import_module(f"{families.__name__}.{name}")
    return Family(
        name=name,
        about=" ".join((inspect.getdoc(module) or "").split()),
        is_honest=module.is_honest,
        is_out_of_reach=getattr(module, "is_out_of_reach", False),
        people=getattr(module, "people", ATTACK_SIGNUPS),
        signups=module.signups,
    )
