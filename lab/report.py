"""What a run shows: dollars that robots were paid, honest people who were not paid for, the limits
that must be met, and what each signal is worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from honeyguide.screening.rules import Rule
from honeyguide.screening.signals import Signal
from lab.family import Family
from lab.outcomes import PlayedSignup, decide_without
from lab.world import FEE_CENTS

LEAST_STOPPED = 0.95
LEAST_STOPPED_OF_FAMILY = 0.80
MOST_HONEST_REJECTED = 0.005
MOST_HONEST_HELD = 0.03


class AttackRow(NamedTuple):
    family: str
    about: str
    is_out_of_reach: bool
    tried_cents: int
    charged_cents: int
    refused: int
    """Forms that were not taken."""
    unconfirmed: int
    held: int
    rejected: int
    """For another reason."""
    emails: int
    evidence: dict[str, int]
    """How many of the signups have each signal."""

    @property
    def stopped(self) -> float:
        return 1 - self.charged_cents / self.tried_cents if self.tried_cents else 1.0


class HonestRow(NamedTuple):
    """Of those who would confirm."""

    family: str
    about: str
    signups: int
    people: int
    paid_at_once: int
    paid_later: int
    held: int
    rejected: int
    emails: int
    evidence: dict[str, int]


class SwitchedOff(NamedTuple):
    """What a run would have come to without one part of screening."""

    name: str
    charged_cents: int
    honest_held: int


class LabLimit(NamedTuple):
    name: str
    value: float
    limit: float
    is_least: bool

    @property
    def is_met(self) -> bool:
        return self.value >= self.limit if self.is_least else self.value <= self.limit


class LabReport(NamedTuple):
    attacks: list[AttackRow]
    honest: list[HonestRow]
    limits: list[LabLimit]
    switched_off: list[SwitchedOff]

    @property
    def is_met(self) -> bool:
        return all(limit.is_met for limit in self.limits)

    @property
    def tried_cents(self) -> int:
        return sum(row.tried_cents for row in self.attacks)

    @property
    def charged_cents(self) -> int:
        return sum(row.charged_cents for row in self.attacks)


def make(families: Sequence[Family], played: Sequence[PlayedSignup]) -> LabReport:
    of_family = {
        family.name: [each for each in played if each.family == family.name] for family in families
    }
    attacks = [_attack(each, of_family[each.name]) for each in families if not each.is_honest]
    honest = [_honest(each, of_family[each.name]) for each in families if each.is_honest]
    return LabReport(attacks, honest, list(_limits(attacks, honest)), list(_switched_off(played)))


def _attack(family: Family, played: Sequence[PlayedSignup]) -> AttackRow:
    unpaid = [each for each in played if each.is_accepted and not each.charged_cents]
    unconfirmed = sum(each.confirmed_ms is None and not each.was_held for each in unpaid)
    held = sum(each.was_held for each in unpaid)
    return AttackRow(
        family=family.name,
        about=family.about,
        is_out_of_reach=family.is_out_of_reach,
        tried_cents=len(played) * FEE_CENTS,
        charged_cents=sum(each.charged_cents for each in played),
        refused=sum(not each.is_accepted for each in played),
        unconfirmed=unconfirmed,
        held=held,
        rejected=len(unpaid) - unconfirmed - held,
        emails=sum(each.emails for each in played),
        evidence=_evidence(played),
    )


def _honest(family: Family, played: Sequence[PlayedSignup]) -> HonestRow:
    people = [each for each in played if each.wants_to_confirm]
    held = [each for each in people if is_held(each)]
    paid = [each for each in people if each.charged_cents and not is_held(each)]
    at_once = sum(each.is_paid_at_once for each in paid)
    return HonestRow(
        family=family.name,
        about=family.about,
        signups=len(played),
        people=len(people),
        paid_at_once=at_once,
        paid_later=len(paid) - at_once,
        held=len(held),
        rejected=len(people) - len(held) - len(paid),
        emails=sum(each.emails for each in played),
        evidence=_evidence(people),
    )


def is_held(each: PlayedSignup) -> bool:
    """Somebody who never got the email to confirm was held too."""
    return each.was_held or (each.is_accepted and each.confirmed_ms is None)


def _evidence(played: Iterable[PlayedSignup]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in played:
        for finding in each.findings:
            counts[finding.signal.value] = counts.get(finding.signal.value, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def _limits(attacks: Sequence[AttackRow], honest: Sequence[HonestRow]) -> Iterable[LabLimit]:
    if within_reach := [row for row in attacks if not row.is_out_of_reach]:
        charged = sum(row.charged_cents for row in within_reach)
        stopped = 1 - charged / sum(row.tried_cents for row in within_reach)
        yield LabLimit("Dollars stopped, all attacks", stopped, LEAST_STOPPED, True)
        worst = min(within_reach, key=lambda row: row.stopped)
        name = f"Dollars stopped, worst attack ({worst.family})"
        yield LabLimit(name, worst.stopped, LEAST_STOPPED_OF_FAMILY, True)
    if people := sum(row.people for row in honest):
        held, rejected = sum(row.held for row in honest), sum(row.rejected for row in honest)
        yield LabLimit("Honest people held", held / people, MOST_HONEST_HELD, False)
        yield LabLimit("Honest people rejected", rejected / people, MOST_HONEST_REJECTED, False)


def _switched_off(played: Sequence[PlayedSignup]) -> Iterable[SwitchedOff]:
    yield _without("nothing", played)
    for signal in Signal:
        if signal.facts.points > 0:
            yield _without(signal.value, played, signal=signal)
    yield _without("the rule that people confirm", played, rule=Rule.NONE)


def _without(
    name: str,
    played: Sequence[PlayedSignup],
    *,
    signal: Signal | None = None,
    rule: Rule | None = None,
) -> SwitchedOff:
    charged_cents = honest_held = 0
    for each in played:
        cents, would_be_held = decide_without(each, signal=signal, rule=rule)
        if not each.is_honest:
            charged_cents += cents
        elif each.wants_to_confirm:
            honest_held += would_be_held
    return SwitchedOff(name, charged_cents, honest_held)
