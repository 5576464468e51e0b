"""When a referral counts. Every rule is here: what a new referral becomes, why, and how it can
change afterwards. Pure: no clock, no store; the caller passes the facts and the time.

A referral by a partner whose program has verification settings has terms. What it is follows from
its terms, the evidence and the time alone, so `decide_on_terms` answers at every moment: when it
comes, when the person confirms or does something, when time has passed and when there is new
evidence. Other referrals move from one state to the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Required
from honeyguide.screening.signals import SUSPICIOUS_POINTS
from honeyguide.subscribers.origins import FROM_OWN_LIST
from honeyguide.subscribers.reasons import (
    DEADLINE_DAYS,
    MOST_FROM_ONE_NETWORK,
    MOST_ON_ONE_CODE,
    SCREENING_HOLD_DAYS,
    SUSPICIONS,
    Reason,
    facts_of,
)
from honeyguide.subscribers.referral_states import Level, ScreeningPolicy, Status

DAY_MS = 86_400_000


SECOND_LOOK_MS = DAY_MS
"""How long a referral waits that is watched: by then its group has shown what it is."""


class Rule(StrEnum):
    """What a partner's referral must do to be verified."""

    NONE = "none"
    CONFIRMED = "confirmed"  # the email address
    ACTIVE = "active"  # that, and one more sign of life

    @property
    def needs_confirmation(self) -> bool:
        return self is not Rule.NONE


class Signals(NamedTuple):
    """What is known about a signup. Counts include this signup and everyone who used the code,
    whatever became of them. Days and hours are the last ones by the server's clock."""

    email: EmailAddress
    referrer_emails: tuple[EmailAddress, ...]
    """One of a subscriber, those of all members of a partner, none of somebody who was erased."""
    disposable: bool = False
    loop: bool = False
    same_network_as_referrer: bool = False
    signups_from_network_today: int = 1
    signups_on_code_last_hour: int = 1
    unsubscribed: bool = False
    confirmed: bool = False
    is_blocked: bool = False
    is_allowed: bool = False
    is_referrer_blocked: bool = False
    points: int = 0
    """The sum of the evidence."""


@dataclass(frozen=True, slots=True)
class ReferralTerms:
    """What a partner's referral must meet, as its program had it when the referral came."""

    rule: str
    level: str
    arrived_ms: int
    hold_until_ms: int
    """When its holding period ends; `arrived_ms` if there is none."""
    was_allowed: bool = False
    """Whether the owner's allow list had the person when it came."""
    program_id: str = ""
    look_id: str | None = None
    """Of the owner's look at the readers of its partner. None if it counts without one."""
    first_look: int | None = None
    """How many of its partner's referrals count before that look."""


@dataclass(frozen=True, slots=True)
class ReferralStanding:
    """What is known now about a referral that has terms."""

    is_confirmed: bool
    is_active: bool
    points: int
    asks_owner: bool = False
    """Whether it is in a group that honest people make too, and its owner has not approved it."""
    has_no_form: bool = False
    """Whether it came without a form of ours, and with nothing that its owner need not look at."""
    is_watched: bool = False
    """What others with its code have in common may not show yet."""


class Decision(NamedTuple):
    """What a referral is now. `due_ms` is when a pending one is verified automatically. `behind` is
    the suspicion that remains once an awaited confirmation has come, so that a reviewer then sees
    the true reason."""

    status: Status
    reason: Reason | None = None
    due_ms: int | None = None
    behind: Reason | None = None


# -- arrival


def must_confirm(*, origin: str, status: str, needs_confirmation: bool) -> bool:
    """Whether a new subscriber still has to confirm their email address. This is decided on
    arrival: a campaign that asks for it later, or no longer, changes nothing for them."""
    return needs_confirmation and status == "active" and origin not in FROM_OWN_LIST


def decide(signals: Signals, policy: ScreeningPolicy, now_ms: int) -> Decision:
    """What a new referral becomes."""
    certain = find_certainty(signals)
    if certain:
        return Decision(Status.REJECTED, certain)

    suspicion = _suspicion(signals) if policy.level != Level.FLEXIBLE else None
    if suspicion and policy.level == Level.STRICT:
        return Decision(Status.REJECTED, suspicion)

    # Two holds run side by side, so the longer one decides.
    days = max(policy.hold_days, SCREENING_HOLD_DAYS if suspicion else 0)
    due_ms = now_ms + days * DAY_MS if days else None
    if policy.needs_confirmation and not signals.confirmed:
        return Decision(Status.PENDING, Reason.AWAITING_CONFIRMATION, due_ms, behind=suspicion)
    if due_ms is not None:
        return Decision(Status.PENDING, suspicion or Reason.HOLDING_PERIOD, due_ms)
    return Decision(Status.VERIFIED)


def decide_on_terms(terms: ReferralTerms, standing: ReferralStanding, now_ms: int) -> Decision:
    """What a partner's referral is now, unless something certain speaks against it."""
    deadline_ms = DEADLINE_DAYS * DAY_MS
    hold_until_ms = terms.hold_until_ms
    if terms.rule != Rule.NONE and not standing.is_confirmed:
        if now_ms >= terms.arrived_ms + deadline_ms:
            return Decision(Status.REJECTED, Reason.UNCONFIRMED)
        due_ms = hold_until_ms if hold_until_ms > terms.arrived_ms else None
        return Decision(Status.PENDING, Reason.AWAITING_CONFIRMATION, due_ms)
    if terms.rule == Rule.ACTIVE and not standing.is_active:
        return _until(terms.arrived_ms + deadline_ms, Reason.AWAITING_ACTIVITY, now_ms)
    if terms.level != Level.FLEXIBLE and standing.points >= SUSPICIOUS_POINTS:
        if terms.level == Level.STRICT and not standing.asks_owner:
            return Decision(Status.REJECTED, Reason.LOOKS_AUTOMATED)
        return _until(hold_until_ms + deadline_ms, Reason.NEEDS_REVIEW, now_ms)
    if standing.has_no_form:
        return _until(hold_until_ms + deadline_ms, Reason.NEEDS_REVIEW, now_ms)
    if terms.level != Level.FLEXIBLE and standing.is_watched:
        hold_until_ms = max(hold_until_ms, terms.arrived_ms + SECOND_LOOK_MS)
    if now_ms < hold_until_ms:
        return Decision(Status.PENDING, Reason.HOLDING_PERIOD, hold_until_ms)
    return Decision(Status.VERIFIED)


def await_first_look(terms: ReferralTerms, now_ms: int) -> Decision:
    """It would count, if the owner had looked at who comes through its partner."""
    deadline_ms = terms.hold_until_ms + DEADLINE_DAYS * DAY_MS
    return _until(deadline_ms, Reason.AWAITING_FIRST_LOOK, now_ms)


def _until(deadline_ms: int, reason: Reason, now_ms: int) -> Decision:
    """It waits for somebody, until it is too late."""
    if now_ms >= deadline_ms:
        return Decision(Status.REJECTED, Reason(reason.facts.ends_as))
    return Decision(Status.PENDING, reason, deadline_ms)


def find_certainty(signals: Signals) -> Reason | None:
    """What rejects it at every level."""
    if any(signals.email.key == each.key for each in signals.referrer_emails):
        return Reason.OWN_ADDRESS
    if any(signals.email.person == each.person for each in signals.referrer_emails):
        return Reason.ALIAS_OF_REFERRER
    if signals.is_blocked:
        return Reason.BLOCKED
    if signals.is_referrer_blocked:
        return Reason.REFERRER_BLOCKED
    if signals.loop:
        return Reason.REFERRAL_LOOP
    if signals.disposable and not signals.is_allowed:
        return Reason.DISPOSABLE_DOMAIN
    if signals.unsubscribed:
        return Reason.UNSUBSCRIBED
    return None


def _suspicion(signals: Signals) -> Reason | None:
    if signals.is_allowed:
        return None
    if signals.same_network_as_referrer:
        return Reason.SAME_NETWORK
    if signals.signups_from_network_today > MOST_FROM_ONE_NETWORK:
        return Reason.MANY_FROM_ONE_NETWORK
    if signals.signups_on_code_last_hour > MOST_ON_ONE_CODE:
        return Reason.BURST
    if signals.points >= SUSPICIOUS_POINTS:
        return Reason.LOOKS_AUTOMATED
    return None


# -- the moves: each gives the new state, or None when nothing changes. Verified is final.


def on_confirm(
    status: str, reason: str | None, due_ms: int | None, now_ms: int, behind: str | None = None
) -> Decision | None:
    """They confirmed. What waited only for that is verified; a hold of days runs on. So does that
    of somebody who comes back after the owner's team ended it."""
    if status != Status.PENDING:
        return None
    if facts_of(reason).is_by_team:
        assert due_ms is not None
        due_ms -= DEADLINE_DAYS * DAY_MS
        behind = None if behind == Reason.AWAITING_CONFIRMATION else behind
    elif reason != Reason.AWAITING_CONFIRMATION:
        return None
    held_for = Reason(behind) if behind else Reason.HOLDING_PERIOD
    if due_ms is None:
        return Decision(Status.VERIFIED)
    # Judged like a holding period alone, so that one which ended while we waited for the
    # confirmation ends as usual.
    return on_due(status, held_for, due_ms, now_ms) or Decision(Status.PENDING, held_for, due_ms)


def on_due(
    status: str, reason: str | None, due_ms: int | None, now_ms: int, behind: str | None = None
) -> Decision | None:
    """Time passed. The end of a holding period verifies, but time never replaces a confirmation.
    What the owner ended when they removed the partner is rejected. What the owner's team ended is
    decided as if it had not."""
    if status != Status.PENDING or reason == Reason.AWAITING_CONFIRMATION:
        return None
    if due_ms is None or due_ms > now_ms:
        return None
    if facts_of(reason).is_by_team:
        if behind == Reason.AWAITING_CONFIRMATION:
            return Decision(Status.REJECTED, Reason.UNCONFIRMED)
        reason = behind
    facts = facts_of(reason)
    if facts.ends_as:
        return Decision(Status.REJECTED, Reason(facts.ends_as))
    return Decision(Status.VERIFIED, Reason.SCREENING_HOLD_OVER if reason in SUSPICIONS else None)


def on_evidence(
    status: str, reason: str | None, due_ms: int | None, policy: ScreeningPolicy, now_ms: int
) -> Decision | None:
    """Others who came with the same code made a pending referral suspicious."""
    if status != Status.PENDING or policy.level == Level.FLEXIBLE or reason in SUSPICIONS:
        return None
    if policy.level == Level.STRICT:
        return Decision(Status.REJECTED, Reason.LOOKS_AUTOMATED)
    due_ms = max(due_ms or 0, now_ms + SCREENING_HOLD_DAYS * DAY_MS)
    if reason == Reason.AWAITING_CONFIRMATION:
        return Decision(Status.PENDING, Reason(reason), due_ms, behind=Reason.LOOKS_AUTOMATED)
    return Decision(Status.PENDING, Reason.LOOKS_AUTOMATED, due_ms)


def on_unsubscribe(status: str, how: Reason = Reason.LEFT_DURING_HOLD) -> Decision | None:
    """They left, bounced or complained. Before it was verified, the referral is lost; afterwards it
    was earned."""
    return Decision(Status.REJECTED, how) if status == Status.PENDING else None


def on_team_act(
    status: str, reason: str | None, hold_until_ms: int | None, now_ms: int
) -> Decision | None:
    """A member of the owner's team unsubscribed, blocked or erased somebody whose fee is not
    decided. That ends no fee: the owner decides it, and says why."""
    if status != Status.PENDING or facts_of(reason).is_by_team:
        return None
    if reason == Reason.PARTNER_REMOVED:
        return on_partner_removed(status)
    # Whether the owner has looked is asked again when it is due.
    behind = None if reason in (None, Reason.AWAITING_FIRST_LOOK) else Reason(reason)
    due_ms = (now_ms if hold_until_ms is None else hold_until_ms) + DEADLINE_DAYS * DAY_MS
    return Decision(Status.PENDING, Reason.ENDED_BY_TEAM, due_ms, behind)


def check_why(reason: str | None, new_status: str, note: str | None) -> None:
    """Whoever rejects what their own team ended says why."""
    if facts_of(reason).is_by_team and new_status == Status.REJECTED and not note:
        raise Required("reason")


def on_partner_removed(status: str) -> Decision | None:
    """The owner removed the partner and ends what is pending."""
    is_pending = status == Status.PENDING
    return Decision(Status.REJECTED, Reason.PARTNER_REMOVED) if is_pending else None


def on_other_code(status: str) -> Decision | None:
    """They never confirmed it; they may have confirmed another one."""
    return Decision(Status.REJECTED, Reason.UNCONFIRMED) if status == Status.PENDING else None


def by_hand(status: str, new_status: str) -> Decision | None:
    """The operator decides. Asking again for what already is changes nothing."""
    if new_status not in (Status.VERIFIED, Status.REJECTED):
        raise Invalid(
            "A referral can only be verified or rejected.", param="status", code="illegal_move"
        )
    if new_status == status:
        return None
    if new_status == Status.VERIFIED:
        return Decision(Status.VERIFIED, Reason.VERIFIED_BY_HAND)
    if status == Status.VERIFIED:
        raise Invalid(
            "This referral is already verified and can no longer be rejected.",
            param="status",
            code="illegal_move",
        )
    return Decision(Status.REJECTED, Reason.REJECTED_BY_HAND)


def on_reversal(status: str) -> Decision:
    """The owner takes back what a verified referral cost."""
    if status != Status.VERIFIED:
        raise Invalid(
            "This referral is not verified, so there is no charge to reverse.", code="not_charged"
        )
    return Decision(Status.REJECTED, Reason.REVERSED)


# -- what follows for the referrer


def times_reached(needed: int, count: int, *, is_recurring: bool) -> int:
    """How often a reward that takes `needed` referrals is earned by who has `count` toward
    rewards."""
    return count // needed if is_recurring else int(count >= needed)
