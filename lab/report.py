"""What a run shows: dollars that robots were paid, honest people who were not paid for, the limits
that must be met, and what each signal is worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.screening.rules import Rule
from honeyguide.screening.signals import Signal
from lab.family import Family, Kind
from lab.outcomes import PlayedSignup, decide_without
from lab.owner import Setting
from lab.world import FEE_CENTS

LEAST_STOPPED = 0.95
LEAST_STOPPED_OF_FAMILY = 0.80
MOST_HONEST_REJECTED = 0.005
MOST_HONEST_HELD = 0.03
# An expert's fake that costs more is reported, and the limits do not count it.
CHEAP_MILLS = 60
MOST_LATE = 0.1
MOST_LOST = 0.05
MOST_STOLEN = 0.02
MOST_CARDS = 2
MOST_UNLOOKED = 10

EMAIL_WITHIN_MS = (10 * MINUTE_MS, HOUR_MS, DAY_MS)


class AttackRow(NamedTuple):
    family: str
    about: str
    is_out_of_reach: bool
    is_expert: bool
    cost_mills: int
    fakes: int
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

    @property
    def profit_mills(self) -> int:
        """What the attacker makes of one fake, in tenths of a cent."""
        return self.charged_cents * 10 // max(1, self.fakes) - self.cost_mills


class HonestRow(NamedTuple):
    """Of those who would confirm."""

    family: str
    about: str
    is_group: bool
    signups: int
    people: int
    paid_at_once: int
    paid_later: int
    held: int
    rejected: int
    unlooked: int
    """Waited for a first look until their time was over."""
    cards: int
    unwritten: int
    """How many had no email after an hour, or after a day if their browser did no work."""
    emails: int
    evidence: dict[str, int]


class FramedRow(NamedTuple):
    """The readers of an honest partner who is attacked."""

    family: str
    about: str
    is_theft: bool
    is_out_of_reach: bool
    forms: int
    """The attacker's."""
    emails_to_strangers: int
    people: int
    paid: int
    unwritten: tuple[int, ...]
    """How many had no email after ten minutes, an hour and a day."""

    @property
    def lost(self) -> float:
        return 1 - self.paid / self.people if self.people else 0.0


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
    framed: list[FramedRow]
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


def make(
    families: Sequence[Family],
    played: Sequence[PlayedSignup],
    setting: Setting = Setting.API,
) -> LabReport:
    def of(family: Family) -> list[PlayedSignup]:
        return [each for each in played if each.family == family.name]

    by_kind = {kind: [each for each in families if each.kind is kind] for kind in Kind}
    attacks = [_attack(each, _counted(of(each))) for each in by_kind[Kind.ATTACK]]
    people = [_honest(each, _counted(of(each))) for each in by_kind[Kind.HONEST]]
    framed = [_framed(each, of(each)) for each in by_kind[Kind.FRAMING]]
    limits = [
        *_attack_limits(attacks, setting),
        *_honest_limits(people),
        *_framed_limits(framed, setting),
    ]
    return LabReport(attacks, people, framed, limits, list(_switched_off(_counted(played))))


def _counted(played: Sequence[PlayedSignup]) -> list[PlayedSignup]:
    return [each for each in played if not each.is_extra]


def _attack(family: Family, played: Sequence[PlayedSignup]) -> AttackRow:
    unpaid = [each for each in played if each.is_accepted and not each.charged_cents]
    unconfirmed = sum(each.confirmed_ms is None and not each.was_held for each in unpaid)
    held = sum(each.was_held for each in unpaid)
    return AttackRow(
        family=family.name,
        about=family.about,
        is_out_of_reach=family.is_out_of_reach,
        is_expert=family.is_expert,
        cost_mills=family.cost_mills,
        fakes=len(played),
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
    unlooked = sum(each.is_unlooked for each in people)
    waits = [(each.email_wait_ms, HOUR_MS if each.has_worked else DAY_MS) for each in people]
    return HonestRow(
        family=family.name,
        about=family.about,
        is_group=family.is_group,
        signups=len(played),
        people=len(people),
        paid_at_once=at_once,
        paid_later=len(paid) - at_once,
        held=len(held),
        rejected=len(people) - len(held) - len(paid) - unlooked,
        unlooked=unlooked,
        cards=max((each.cards for each in played), default=0),
        unwritten=sum(wait is None or wait > most_ms for wait, most_ms in waits),
        emails=sum(each.emails for each in played),
        evidence=_evidence(people),
    )


def _framed(family: Family, played: Sequence[PlayedSignup]) -> FramedRow:
    people = [each for each in _counted(played) if each.wants_to_confirm]
    strangers = [each for each in played if each.is_extra and not each.wants_to_confirm]
    waits = [each.email_wait_ms for each in people]
    return FramedRow(
        family=family.name,
        about=family.about,
        is_theft=family.is_theft,
        is_out_of_reach=family.is_out_of_reach,
        forms=len(strangers),
        emails_to_strangers=sum(each.emails for each in strangers),
        people=len(people),
        paid=sum(bool(each.charged_cents) for each in people),
        unwritten=tuple(
            sum(wait is None or wait > most_ms for wait in waits) for most_ms in EMAIL_WITHIN_MS
        ),
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


def _attack_limits(attacks: Sequence[AttackRow], setting: Setting) -> Iterable[LabLimit]:
    """Of cheap fakes. Without an owner who looks, experts are only reported; whoever stays away
    pays a few of each partner."""
    counted = [row for row in attacks if not row.is_out_of_reach and row.cost_mills <= CHEAP_MILLS]
    if setting is not Setting.LOOKS:
        counted = [row for row in counted if not row.is_expert]
    if setting is Setting.ABSENT:
        most = max((row.charged_cents // FEE_CENTS for row in attacks), default=0)
        yield LabLimit("Fees without a look, of one partner", most, MOST_UNLOOKED, False)
        return
    if not counted:
        return
    charged = sum(row.charged_cents for row in counted)
    stopped = 1 - charged / sum(row.tried_cents for row in counted)
    yield LabLimit("Dollars stopped, all attacks", stopped, LEAST_STOPPED, True)
    worst = min(counted, key=lambda row: row.stopped)
    name = f"Dollars stopped, worst attack ({worst.family})"
    yield LabLimit(name, worst.stopped, LEAST_STOPPED_OF_FAMILY, True)


def _honest_limits(honest: Sequence[HonestRow]) -> Iterable[LabLimit]:
    ordinary = [row for row in honest if not row.is_group]
    if people := sum(row.people for row in ordinary):
        held, rejected = sum(row.held for row in ordinary), sum(row.rejected for row in ordinary)
        yield LabLimit("Honest people held", held / people, MOST_HONEST_HELD, False)
        yield LabLimit("Honest people rejected", rejected / people, MOST_HONEST_REJECTED, False)
    if honest:
        unwritten = sum(row.unwritten for row in honest)
        yield LabLimit("Honest people without an email", unwritten, 0, False)
        yield LabLimit("Cards of one group", max(row.cards for row in honest), MOST_CARDS, False)


def _framed_limits(framed: Sequence[FramedRow], setting: Setting) -> Iterable[LabLimit]:
    """Who waits for a look that never comes is lost to nobody's attack."""
    framed = [row for row in framed if not row.is_out_of_reach]
    if people := sum(row.people for row in framed):
        late = sum(row.unwritten[0] for row in framed)
        yield LabLimit("Attacked readers without an email", late / people, MOST_LATE, False)
        if setting is not Setting.ABSENT:
            worst = max(row.lost for row in framed)
            yield LabLimit("Attacked readers not paid for, worst", worst, MOST_LOST, False)
            stolen = max((row.lost for row in framed if row.is_theft), default=0)
            yield LabLimit("Readers of a partner lost to a thief", stolen, MOST_STOLEN, False)


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
        if each.is_fake:
            charged_cents += cents
        elif each.wants_to_confirm:
            honest_held += would_be_held
    return SwitchedOff(name, charged_cents, honest_held)
