"""What follows from a change to a subscriber, planned from what changed and what the campaign asks
for. Nothing is loaded or written here: `consequence_writer` does that.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.subscribers.origins import Origin
from honeyguide.subscribers.reasons import Reason, facts_of
from honeyguide.subscribers.referral_states import Status
from honeyguide.subscribers.subscribers import Subscriber


class Consequence(Enum):
    """In the order in which they are written. Events are stored together, right before the first
    of `CONTENDED`: those lock rows that many signups want at once, so nothing comes after them."""

    RECORD_DECISION = auto()
    """Of a referral that had been decided otherwise before."""
    LOG_DECISION = auto()
    """If somebody decided by hand."""
    RELEASE_CONFIRMATION = auto()
    """The email that asks them to confirm, if it waits because of the referral code."""
    CANCEL_CONFIRMATION = auto()
    """The same email, if it waits."""
    TELL_NEW_REFERRAL = auto()
    UNLOCK_REWARDS = auto()
    """Whatever the referrer's count has reached, with the events and emails about it."""
    EMAIL_REFERRER = auto()
    NOTIFY_OF_FIRST_REFERRAL = auto()
    TELL_NEW_SUBSCRIBER = auto()
    TELL_UNSUBSCRIBED = auto()
    TELL_VERIFIED = auto()
    TELL_REJECTED = auto()
    TELL_NEW_PARTNER_REFERRAL = auto()
    """To the program's owner and to the partner."""
    TELL_PARTNER_REFERRAL_REVERSED = auto()
    """To the same two."""
    CHARGE_FEE = auto()
    """Whether and what the partner is paid is decided by the charge, under its locks."""
    REVERSE_CHARGE = auto()
    COUNT_DECISION = auto()
    """On the program's day."""


CONTENDED = (Consequence.CHARGE_FEE, Consequence.REVERSE_CHARGE, Consequence.COUNT_DECISION)
_TO_OWN_WEBHOOKS = (
    Consequence.TELL_NEW_REFERRAL,
    Consequence.TELL_NEW_SUBSCRIBER,
    Consequence.TELL_UNSUBSCRIBED,
    Consequence.TELL_VERIFIED,
    Consequence.TELL_REJECTED,
)


class CampaignFacts(NamedTuple):
    """What a campaign wants to happen. Unless somebody looked, anything may."""

    had_referrals: bool = True
    has_rewards: bool = True
    sends_friend_emails: bool = True
    has_listeners: bool = True
    """Whether one of its webhooks may want an event about the subscriber."""


def is_news(subscriber: Subscriber) -> bool:
    """Nobody is emailed about people who joined elsewhere before: those in an imported file, or
    sent to the API with a date in the past. On our own forms, somebody may come again."""
    is_backfill = subscriber.received_ms - subscriber.created_ms > DAY_MS
    origin = Origin(subscriber.origin)
    return origin.is_hosted or (origin != Origin.IMPORT and not is_backfill)


def of_change(
    before: Subscriber | None,
    after: Subscriber,
    campaign: CampaignFacts,
    *,
    is_by_hand: bool = False,
) -> list[Consequence]:
    """`before` is None for a signup. `is_by_hand` if somebody decided the referral."""
    is_referred_now = after.referrer_code is not None and (
        before is None or before.referrer_code is None
    )
    has_moved = is_referred_now or (
        before is not None and before.referral_status != after.referral_status
    )
    planned = []
    if before is not None and not is_referred_now and _decision(before) != _decision(after):
        planned.append(Consequence.RECORD_DECISION)
        if is_by_hand:
            planned.append(Consequence.LOG_DECISION)
    if before is not None and before.must_confirm and before.referrer_code is not None:
        planned += _about_confirmation(before, after, is_by_hand=is_by_hand)
    if after.referrer_id is not None:
        planned += _for_referrer(after, campaign, is_new=is_referred_now, has_moved=has_moved)
    planned += _about_subscription(before, after)
    if has_moved:
        planned += _of_decision(after, is_new=is_referred_now)
    if not campaign.has_listeners:
        return [each for each in planned if each not in _TO_OWN_WEBHOOKS]
    return planned


def of_erasure(before: Subscriber) -> list[Consequence]:
    """Of an erased subscriber, and of a claim that is not shown, nobody is told. A partner's
    referral that waited is rejected."""
    if before.partner_campaign_id is None or before.referral_status != Status.PENDING:
        return []
    return [Consequence.RECORD_DECISION, Consequence.COUNT_DECISION]


def _about_confirmation(
    before: Subscriber, after: Subscriber, *, is_by_hand: bool
) -> list[Consequence]:
    """Of a referral who had to confirm."""
    has_moved = before.referral_status != after.referral_status
    if (has_moved and after.referral_status == Status.REJECTED) or before.status != after.status:
        return [Consequence.CANCEL_CONFIRMATION]
    if has_moved and after.referral_status == Status.VERIFIED and is_by_hand:
        return [Consequence.RELEASE_CONFIRMATION]
    return []


def _decision(subscriber: Subscriber) -> tuple[str, str | None]:
    return subscriber.referral_status, subscriber.referral_reason


def _for_referrer(
    referral: Subscriber, campaign: CampaignFacts, *, is_new: bool, has_moved: bool
) -> list[Consequence]:
    planned = []
    counts = referral.referral_status != Status.REJECTED
    if is_new and counts:
        planned.append(Consequence.TELL_NEW_REFERRAL)
    if has_moved and referral.referral_status == Status.VERIFIED:
        if campaign.has_rewards:
            planned.append(Consequence.UNLOCK_REWARDS)
        if campaign.sends_friend_emails and is_news(referral):
            planned.append(Consequence.EMAIL_REFERRER)
    if is_new and counts and not campaign.had_referrals and is_news(referral):
        planned.append(Consequence.NOTIFY_OF_FIRST_REFERRAL)
    return planned


def _about_subscription(before: Subscriber | None, after: Subscriber) -> list[Consequence]:
    if before is None:
        # An imported list is one that the operator has already; nobody in it signed up just now.
        joined = after.origin != Origin.IMPORT and _is_on_list(after)
    elif before.status == after.status:
        joined = False
    elif after.status == "unsubscribed":
        return [Consequence.TELL_UNSUBSCRIBED]
    else:
        joined = not _is_on_list(before)
    return [Consequence.TELL_NEW_SUBSCRIBER] if joined else []


def _is_on_list(subscriber: Subscriber) -> bool:
    """Whether the newsletter may be sent to them: not before they confirmed, if they must."""
    if subscriber.status == "active":
        return not subscriber.must_confirm
    return subscriber.status == "confirmed"


def _of_decision(referral: Subscriber, *, is_new: bool) -> list[Consequence]:
    by_partner = referral.partner_campaign_id is not None
    if referral.referral_status == Status.VERIFIED:
        planned = [Consequence.TELL_VERIFIED]
        if by_partner:
            planned += [Consequence.TELL_NEW_PARTNER_REFERRAL, Consequence.CHARGE_FEE]
    elif referral.referral_status == Status.REJECTED:
        planned = [Consequence.TELL_REJECTED]
        if by_partner and referral.referral_reason == Reason.REVERSED:
            planned += [Consequence.TELL_PARTNER_REFERRAL_REVERSED, Consequence.REVERSE_CHARGE]
    else:
        # Of one that had been decided, the decision no longer counts.
        return [] if is_new or not by_partner else [Consequence.COUNT_DECISION]
    if by_partner and not (is_new and facts_of(referral.referral_reason).is_outside):
        planned.append(Consequence.COUNT_DECISION)
    return planned
