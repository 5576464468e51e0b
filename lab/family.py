"""What a family is: one function of a module of `lab.families`, which yields signups."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from lab import families

ATTACK_SIGNUPS = 40
"""How often each attack tries: every family tries for the same dollars."""
SHORT_PEOPLE = 60
"""How many people of an honest family are in a short run, unless there are fewer."""


# So many of the honest have a browser without scripts, or one that gives up.
WITHOUT_SCRIPTS = 0.1


class Kind(StrEnum):
    ATTACK = "attack"
    FRAMING = "framing"  # somebody attacks an honest partner
    HONEST = "honest"


class Form(StrEnum):
    """Where the form that is sent comes from."""

    OWN = "own"  # the sender's own browser showed it
    ELSEWHERE = "elsewhere"  # it was fetched from another IP address, one for each signup
    REPLAYED = "replayed"  # the family's first form, again and again
    ANSWERED = "answered"  # the same, and then the fresh form in the answer that refuses it
    OPENED = "opened"  # it is shown, and nobody sends it
    PAGE = "page"  # that of the newsletter's own page, without anybody's code
    EMBED = "embed"  # none: a program calls the endpoint behind the form on the owner's website
    API = "api"  # that of the owner's own website, whose server calls the API


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
    partner: int = 0
    """Whose code it is, of the family's partners."""
    is_extra: bool = False
    """It only hides or hurts those whom the family is about, and is not counted: readers of the
    attacker's own, or the forms of somebody who attacks an honest partner."""
    is_scanned: bool = False
    """A security service opens every link of the email from elsewhere."""
    mail_host: str = ""
    """The server that takes the mail of the address's domain. Empty: one as others have."""
    works: bool = True
    """Whether the browser does the work that a flooded link asks for. Tools never do."""
    clicks_from: tuple[str, ...] = ()
    """IP addresses that open the link before."""
    leaves_after_ms: int | None = None
    """After the confirmation. The newsletter's platform reports it."""


class Signups(Protocol):
    """The function of a family, for so many signups or people."""

    __name__: str

    def __call__(self, rng: random.Random, count: int, /) -> Iterator[Signup]: ...


@dataclass(frozen=True)
class Family:
    name: str
    about: str
    kind: Kind
    people: int
    signups: Signups
    partners: int = 1
    """Each has a code of its own."""
    is_one_login: bool = False
    """One person owns all of these partners."""
    cost_mills: int = 0
    """What one fake costs the attacker, in tenths of a cent."""
    is_editor: bool = False
    """The partner is an editor in the team of the newsletter that pays, and verifies all that the
    dashboard lets them."""
    is_theft: bool = False
    """Framing: somebody else wants the fees for the partner's readers."""
    is_out_of_reach: bool = False
    """An attack that nothing we look at can tell from readers. It is played and shown, and the
    limits do not count it."""
    is_group: bool = False
    """Honest people who have so much in common that the owner has to look."""

    @property
    def is_expert(self) -> bool:
        """Only an owner who looks can stop these."""
        return self.signups.__module__.endswith(".experts")

    @property
    def is_attack(self) -> bool:
        return self.kind is Kind.ATTACK

    def play(self, *, seed: int, is_short: bool) -> list[Signup]:
        is_smaller = is_short and not self.is_attack
        count = min(self.people, SHORT_PEOPLE) if is_smaller else self.people
        rng = random.Random(f"{self.name} {seed}")
        signups = list(self.signups(rng, count))
        if self.kind is not Kind.HONEST:
            return signups
        chance = random.Random(f"work {self.name} {seed}")
        return [replace(each, works=chance.random() >= WITHOUT_SCRIPTS) for each in signups]


_found: list[Family] = []


def attack(
    *,
    cost_mills: int,
    partners: int = 1,
    is_one_login: bool = False,
    is_editor: bool = False,
    is_out_of_reach: bool = False,
) -> Callable[[Signups], Signups]:
    def add(signups: Signups) -> Signups:
        _found.append(
            Family(
                *_words(signups),
                Kind.ATTACK,
                ATTACK_SIGNUPS,
                signups,
                partners=partners,
                is_one_login=is_one_login,
                is_editor=is_editor,
                cost_mills=cost_mills,
                is_out_of_reach=is_out_of_reach,
            )
        )
        return signups

    return add


def framing(
    *, people: int, partners: int = 1, is_theft: bool = False, is_out_of_reach: bool = False
) -> Callable[[Signups], Signups]:
    """`people` are the honest readers who are counted."""

    def add(signups: Signups) -> Signups:
        words = _words(signups)
        family = Family(*words, Kind.FRAMING, people, signups, partners=partners)
        _found.append(replace(family, is_theft=is_theft, is_out_of_reach=is_out_of_reach))
        return signups

    return add


def honest(*, people: int, is_group: bool = False) -> Callable[[Signups], Signups]:
    def add(signups: Signups) -> Signups:
        _found.append(Family(*_words(signups), Kind.HONEST, people, signups, is_group=is_group))
        return signups

    return add


def _words(signups: Signups) -> tuple[str, str]:
    return signups.__name__, " ".join((inspect.getdoc(signups) or "").split())


def find_families(size: int = ATTACK_SIGNUPS) -> list[Family]:
    """Those of all modules of the package, attacks first. `size` is how often an attack tries."""
    for module in pkgutil.iter_modules(families.__path__):
        importlib.import_module(f"{families.__name__}.{module.name}")
    sized = [replace(each, people=size) if each.is_attack else each for each in _found]
    return sorted(sized, key=lambda family: (family.kind, family.name))


def choose_third(families: list[Family], seed: int) -> list[Family]:
    """For a short run: a third of the families of each kind. Attacks keep their size, because a
    group is the harder to see, the smaller it is."""
    third = (seed + 1) % 3
    return [
        family
        for kind in Kind
        for family in [each for each in families if each.kind is kind][third::3]
    ]
