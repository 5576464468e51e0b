"""Why a referral has its status. One row for each reason has all that is said about it: a new
reason is a new row here and nothing elsewhere.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple, Self

from honeyguide.kernel.clock import day

SCREENING_HOLD_DAYS = 7
DEADLINE_DAYS = 30
"""For a confirmation, a sign of life, or the owner’s review of a partner's referral."""
MOST_FROM_ONE_NETWORK = 3
"""Signups with one code from one network in a day that raise no question: a household."""
MOST_ON_ONE_CODE = 10
"""Signups with one code within an hour that raise no question: a good post."""

_AT_EVERY_LEVEL = "Every screening level rejects this."
_BY_HAND = "A manual decision overrides every rule."
# A partner does not learn what screening looks at.
SCREENED = "It did not pass the newsletter’s screening."


class ReasonFacts(NamedTuple):
    code: str
    """In the API and the database. It never changes; the texts may."""
    sentence: str
    """For the operator."""
    short: str = ""
    """The same as a heading, if many referrals wait for this reason."""
    until: str = ""
    """In a row of a list, where most say the same: what it waits for, and until which `{day}`."""
    counted: str = ""
    """After a number of rejected referrals: "2 with a disposable email address"."""
    rule: str = ""
    """Which rule decided, if that says more than the sentence."""
    to_partner: str = ""
    """For the partner whose referral was rejected."""
    waiting: str = ""
    """For the partner while it is pending, if it is not verified when it is due."""
    is_suspicion: bool = False
    """It may be an honest referral: the screening level decides what becomes of it."""
    is_outside: bool = False
    """The partner took no part when they joined, so it is not in the program's figures: otherwise
    whoever left could spoil them."""
    is_stop: bool = False
    """On arrival: the owner kept out the partner or stopped the program."""
    ends_as: str = ""
    """A pending referral with it is rejected when it is due, for this reason."""
    is_settled: bool = False
    """Nothing is left for the operator to decide."""
    is_by_team: bool = False
    """The owner's team ended it, so the owner decides. What it waited for before is behind it."""
    is_by_reader: bool = False
    """The reader ended it."""
    is_after_fee: bool = False
    """If it is found after the fee, the owner is asked whether to take that back."""


class Reason(StrEnum):
    facts: ReasonFacts

    def __new__(cls, code: str, *facts: Any) -> Self:
        reason = str.__new__(cls, code)
        reason._value_ = code
        reason.facts = ReasonFacts(code, *facts)
        return reason

    @property
    def sentence(self) -> str:
        return self.facts.sentence

    # Certainties.
    OWN_ADDRESS = ReasonFacts(
        "own_address",
        "Same email address as the referrer.",
        counted="with the referrer’s own email address",
        rule=_AT_EVERY_LEVEL,
        to_partner="It is your own email address.",
    )
    ALIAS_OF_REFERRER = ReasonFacts(
        "alias_of_referrer",
        "Alias of the referrer's email address.",
        counted="with an alias of the referrer’s email address",
        rule=_AT_EVERY_LEVEL,
        to_partner="It is an alias of your own email address.",
    )
    REFERRAL_LOOP = ReasonFacts(
        "referral_loop",
        "Circular referral: this subscriber referred the referrer, directly or through others.",
        counted="in a circular referral",
        rule=_AT_EVERY_LEVEL,
        to_partner=SCREENED,
    )
    DISPOSABLE_DOMAIN = ReasonFacts(
        "disposable_domain",
        "Disposable email address.",
        counted="with a disposable email address",
        rule=_AT_EVERY_LEVEL,
        to_partner="The email address is disposable.",
    )
    BLOCKED = ReasonFacts(
        "blocked",
        "On your block list.",
        counted="on your block list",
        rule="Your block list applies at every screening level.",
        to_partner=SCREENED,
    )
    REFERRER_BLOCKED = ReasonFacts(
        "referrer_blocked",
        "The referrer is on your block list.",
        counted="by a referrer on your block list",
        rule="Your block list applies to referrers at every screening level.",
        to_partner=SCREENED,
    )
    UNSUBSCRIBED = ReasonFacts(
        "unsubscribed",
        "Already unsubscribed when added.",
        counted="already unsubscribed",
        rule="A subscriber who is added as unsubscribed does not count.",
        to_partner="They had already unsubscribed.",
    )
    # Suspicions.
    SAME_NETWORK = ReasonFacts(
        "same_network",
        "Same IP network as the referrer within a day.",
        short="Same IP network as the referrer",
        counted="from the referrer’s IP address",
        to_partner=SCREENED,
        is_suspicion=True,
    )
    MANY_FROM_ONE_NETWORK = ReasonFacts(
        "many_from_one_network",
        f"More than {MOST_FROM_ONE_NETWORK} signups through one link from one IP network in a day.",
        short="Many from one IP network",
        counted="from an IP address with many signups",
        to_partner=SCREENED,
        is_suspicion=True,
    )
    BURST = ReasonFacts(
        "burst",
        f"More than {MOST_ON_ONE_CODE} signups through one link within an hour.",
        short="Many within an hour",
        counted="in a burst of signups on one link",
        to_partner=SCREENED,
        is_suspicion=True,
    )
    LOOKS_AUTOMATED = ReasonFacts(
        "looks_automated",
        "Looks automated.",
        short="Looks automated",
        counted="that looked automated",
        to_partner=SCREENED,
        is_suspicion=True,
    )
    NEEDS_REVIEW = ReasonFacts(
        "needs_review",
        "Something speaks against it, so it waits for you.",
        short="Something speaks against it",
        until="In review until {day}",
        rule="A suspicious referral by a partner is never verified by time alone.",
        waiting="The newsletter is reviewing it, until {day} at the latest.",
        is_suspicion=True,
        ends_as="unreviewed",
    )
    # Waiting.
    AWAITING_CONFIRMATION = ReasonFacts(
        "awaiting_confirmation",
        "Not confirmed by the subscriber yet.",
        short="Not confirmed yet",
        until="Once they confirm their address",
        rule="The campaign requires new subscribers to confirm their email address.",
    )
    HOLDING_PERIOD = ReasonFacts(
        "holding_period",
        "In the standard holding period.",
        short="Holding period",
        until="On {day} if they stay",
        rule="The campaign has a holding period for every new referral.",
    )
    AWAITING_ACTIVITY = ReasonFacts(
        "awaiting_activity",
        "Confirmed, and no sign of life since.",
        short="No sign of life yet",
        until="If they show a sign of life by {day}",
        rule="The partner program asks for a sign of life after the confirmation.",
        waiting="Will be confirmed once they use their referral page, until {day} at the latest.",
        ends_as="inactive",
    )
    AWAITING_FIRST_LOOK = ReasonFacts(
        "awaiting_first_look",
        "Waits until you have looked once at the readers of this partner.",
        short="First look",
        until="Once you have looked at this partner’s readers. In review until {day}",
        rule="The first readers of a new partner count by themselves, more once the owner looked.",
        waiting="Waits until the newsletter has looked once at who came through you. Without a "
        "look it is not paid after {day}.",
        ends_as="unreviewed",
    )
    ENDED_BY_TEAM = ReasonFacts(
        "ended_by_team",
        "Your team unsubscribed, blocked or erased them before their fee was decided.",
        short="Ended by your team",
        until="Waits for your decision, until {day}",
        rule="What your team does ends no partner’s fee: you decide it, and say why.",
        waiting="The newsletter’s team ended the subscription, and decides about the fee by {day}.",
        is_by_team=True,
    )
    # What people and time decided.
    UNCONFIRMED = ReasonFacts(
        "unconfirmed",
        f"Did not confirm within {DEADLINE_DAYS} days, or confirmed a signup with another code.",
        counted="not confirmed",
        rule="The partner program asks new subscribers to confirm their email address.",
        to_partner="They did not confirm their email address.",
    )
    INACTIVE = ReasonFacts(
        "inactive",
        f"Showed no sign of life within {DEADLINE_DAYS} days.",
        counted="without a sign of life",
        rule="The partner program asks for a sign of life after the confirmation.",
        to_partner=f"They showed no sign of life within {DEADLINE_DAYS} days.",
    )
    UNREVIEWED = ReasonFacts(
        "unreviewed",
        "Waited for your decision, which did not come in time.",
        counted="that nobody reviewed",
        rule=f"A referral by a partner that waits for you is rejected {DEADLINE_DAYS} days after "
        "its holding period.",
        to_partner="It waited for the newsletter’s review, and nobody reviewed it in time.",
    )
    LEFT_DURING_HOLD = ReasonFacts(
        "left_during_hold",
        "Unsubscribed before the referral was verified.",
        counted="unsubscribed during the holding period",
        rule="A subscriber who leaves before the referral is verified does not count.",
        to_partner="They unsubscribed during the holding period.",
        is_by_reader=True,
    )
    BOUNCED = ReasonFacts(
        "bounced",
        "Their email address bounced before the referral was verified.",
        counted="whose address bounced",
        rule="A subscriber whom no email reaches does not count.",
        to_partner="Emails to them were returned.",
        is_by_reader=True,
        is_after_fee=True,
    )
    COMPLAINED = ReasonFacts(
        "complained",
        "Reported an email as spam before the referral was verified.",
        counted="who reported an email as spam",
        rule="A subscriber who complains before the referral is verified does not count.",
        to_partner="They reported an email as spam.",
        is_by_reader=True,
        is_after_fee=True,
    )
    REJECTED_BY_HAND = ReasonFacts(
        "rejected_by_hand",
        "Rejected manually.",
        counted="rejected manually",
        rule=_BY_HAND,
        to_partner="The newsletter decided against it.",
    )
    VERIFIED_BY_HAND = ReasonFacts(
        "verified_by_hand", "Verified manually.", rule=_BY_HAND, is_settled=True
    )
    SCREENING_HOLD_OVER = ReasonFacts(
        "screening_hold_over",
        "Held by screening, then verified automatically.",
        rule=f"After {SCREENING_HOLD_DAYS} days, screening verifies a held referral "
        "unless you reject it.",
        is_settled=True,
    )
    IMPORTED = ReasonFacts(
        "imported",
        "It had this status in the tool that you imported it from.",
        short="Pending in the other tool",
        counted="in the tool they were imported from",
        rule="An import keeps the status of a referral. A pending one is verified "
        f"{SCREENING_HOLD_DAYS} days later unless you reject it.",
    )
    # Referrals by partners; `partners` decides them.
    PROGRAM_PAUSED = ReasonFacts(
        "program_paused",
        "The partner program was paused when they joined.",
        counted="while the program was paused",
        to_partner="The program was paused when they joined.",
        is_stop=True,
    )
    PROGRAM_DISABLED = ReasonFacts(
        "program_disabled",
        "The partner program was disabled when they joined.",
        counted="while the program was disabled",
        to_partner="The program was off when they joined.",
    )
    PUBLICATION_ARCHIVED = ReasonFacts(
        "publication_archived",
        "The publication was archived when they joined.",
        counted="after the publication was archived",
        to_partner="The program had ended when they joined.",
        is_stop=True,
    )
    PARTNER_REMOVED = ReasonFacts(
        "partner_removed",
        "The partner was removed from the program.",
        counted="by a partner who was removed",
        to_partner="You were removed from the program.",
        waiting="Will be rejected. You were removed from the program.",
        ends_as="partner_removed",
        is_stop=True,
    )
    PARTNER_LEFT = ReasonFacts(
        "partner_left",
        "The partner had left the program when they joined.",
        counted="after the partner left the program",
        to_partner="You had left the program when they joined.",
        is_outside=True,
    )
    ALREADY_SUBSCRIBED = ReasonFacts(
        "already_subscribed",
        "Already subscribed before the partner referred them.",
        counted="already subscribed",
        to_partner="They were already subscribed.",
    )
    REVERSED = ReasonFacts(
        "reversed",
        "You took the charge back.",
        counted="reversed after they were charged",
        rule="The owner can reverse a charge until its month closes.",
        to_partner="The newsletter took the charge back.",
    )
    OWN_PROGRAM = ReasonFacts(
        "own_program", "The partner owns this program, so no fee is due.", is_settled=True
    )


SUSPICIONS = frozenset(reason for reason in Reason if reason.facts.is_suspicion)
BY_READERS = sorted(reason for reason in Reason if reason.facts.is_by_reader)
_FACTS = {reason.value: reason.facts for reason in Reason}


def facts_of(code: str | None) -> ReasonFacts:
    """Without texts if there is no reason, or a newer version gave it."""
    return _FACTS.get(code or "", ReasonFacts("", ""))


def explain(reason: str, due_ms: int | None) -> str:
    """What happened and what happens next, for the operator, in two sentences."""
    why = Reason(reason)
    if why is Reason.AWAITING_CONFIRMATION:
        earliest = f", on {day(due_ms)} at the earliest" if due_ms is not None else ""
        return (
            f"{why.sentence} It will be verified once they confirm{earliest}, "
            "unless you decide earlier."
        )
    if due_ms is not None and why.facts.is_by_team:
        return (
            f"{why.sentence} Without a decision in Review, the program’s rule decides on "
            f"{day(due_ms)}."
        )
    if due_ms is not None and why.facts.ends_as != why:  # else it is as good as rejected
        outcome = "rejected" if why.facts.ends_as else "verified"
        return f"{why.sentence} It will be {outcome} on {day(due_ms)} unless you decide earlier."
    if why.facts.is_settled:
        return why.sentence
    return f"{why.sentence} It does not count unless you verify it."
