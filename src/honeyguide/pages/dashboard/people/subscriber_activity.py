"""What happened around one subscriber, in sentences, the newest first. Pure: no store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from honeyguide.kernel import actors
from honeyguide.mail.emails import QueuedEmail
from honeyguide.pages.dashboard import formats
from honeyguide.rewards.adjustments import Adjustment
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.signups.claims import HiddenClaim
from honeyguide.signups.paid_referrals import SentBy
from honeyguide.subscribers import origins, reasons
from honeyguide.subscribers.hub_choices import HubChoices
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.referral_decisions import ReferralDecision
from honeyguide.subscribers.subscribers import Subscriber

# Of those they referred, the newest.
REFERRED_SHOWN = 8
MOST_ENTRIES = 60
COLORS = {"verified": "good", "rejected": "bad"}


class TimelineEntry(NamedTuple):
    at_ms: int
    kind: str  # "good", "bad" or ""
    text: str
    detail: str = ""


class History(NamedTuple):
    """All that is kept of what happened."""

    person: Subscriber
    referrer: Subscriber | None
    sent_by: SentBy | None
    claims: Sequence[HiddenClaim]
    """Signups through others, of whom they confirmed none."""
    decisions: Sequence[ReferralDecision]
    earned: Sequence[EarnedReward]
    adjusted: Sequence[Adjustment]
    referred: Sequence[Subscriber]
    emails: Sequence[QueuedEmail]
    choices: HubChoices


def timeline(history: History) -> list[TimelineEntry]:
    found = [
        _joined(history.person, history.referrer, history.sent_by),
        *_claimed(history.claims),
        *_decided(history.person, list(history.decisions)),
        *_earned(history.earned),
        *_adjusted(history.adjusted),
        *_referred(history.referred),
        *_emailed(history.emails),
        *_left(history.person, history.choices),
    ]
    return sorted(found, key=lambda entry: -entry.at_ms)[:MOST_ENTRIES]


def _joined(
    person: Subscriber, referrer: Subscriber | None, sent_by: SentBy | None
) -> TimelineEntry:
    by = ""
    if referrer:
        by = referrer.name or referrer.email
    elif person.referrer_code:
        by = sent_by.partner_name if sent_by else "a deleted subscriber"
    joined = f"Referred by {by}; joined" if by else "Joined"
    sources = " · ".join(filter(None, (person.utm_source, person.utm_campaign)))
    origin = origins.JOINED.get(person.origin, person.origin)
    return TimelineEntry(person.created_ms, "", f"{joined} {origin}.", sources)


def _claimed(claims: Sequence[HiddenClaim]) -> Iterator[TimelineEntry]:
    for claim in claims:
        by = f" through {formats.isolated(claim.referred_by)}" if claim.referred_by else ""
        why = Reason(claim.referral_reason).sentence if claim.referral_reason else ""
        yield TimelineEntry(claim.received_ms, "", f"Another signup{by}.", why)


def _decided(person: Subscriber, decisions: list[ReferralDecision]) -> Iterator[TimelineEntry]:
    """The last decision is told from the subscriber: only there it says what happens next, and
    older versions kept no others."""
    note = None
    if decisions and decisions[-1].decided_ms == person.decided_ms:
        *decisions, last = decisions
        note = last.note
    for each in decisions:
        why = Reason(each.reason).sentence if each.reason else ""
        yield _decision(each.decided_ms, each.status, each.by, _with_note(why, each.note))
    if person.decided_ms is None:
        return
    why = ""
    if person.referral_reason:
        why = reasons.explain(person.referral_reason, person.referral_due_ms)
    by, status = person.decided_by, person.referral_status
    yield _decision(person.decided_ms, status, by, _with_note(why, note))


def _with_note(why: str, note: str | None) -> str:
    return " ".join(filter(None, [why, f"“{note}”" if note else ""]))


def _decision(at_ms: int, status: str, decided_by: str | None, why: str) -> TimelineEntry:
    verb = {"verified": "verified", "rejected": "rejected", "pending": "set to pending"}[status]
    by = {actors.OPERATOR: " by you", actors.API: " through the API"}.get(decided_by or "", "")
    return TimelineEntry(at_ms, COLORS.get(status, ""), f"The referral was {verb}{by}.", why)


def _earned(rewards: Sequence[EarnedReward]) -> Iterator[TimelineEntry]:
    for earned in rewards:
        name = formats.isolated(earned.name)
        referrals = formats.plural(earned.referrals * earned.multiple, "referral")
        yield TimelineEntry(earned.earned_ms, "good", f"Earned {name} for {referrals}.")
        if earned.claimed_ms and earned.redeemed_by != actors.READER:
            yield TimelineEntry(earned.claimed_ms, "", f"Claimed {name}.")
        if earned.redeemed_ms:
            verb = "Claimed" if earned.redeemed_by == actors.READER else "Received"
            yield TimelineEntry(earned.redeemed_ms, "good", f"{verb} {name}.")
        if earned.sent_ms:
            note = earned.tracking_note or ""
            yield TimelineEntry(earned.sent_ms, "good", f"{name} was sent.", note)


def _adjusted(made: Sequence[Adjustment]) -> Iterator[TimelineEntry]:
    for each in made:
        kind = "good" if each.amount > 0 else "bad"
        by = {actors.OPERATOR: " by you", actors.API: " through the API"}.get(each.by or "", "")
        text = f"Progress adjusted{by}: {formats.signed(each.amount)}."
        yield TimelineEntry(each.adjusted_ms, kind, text, each.reason)


def _referred(referred: Sequence[Subscriber]) -> Iterator[TimelineEntry]:
    for friend in referred[:REFERRED_SHOWN]:
        kind = COLORS.get(friend.referral_status or "", "")
        name = formats.isolated(friend.name or friend.email)
        yield TimelineEntry(friend.created_ms, kind, f"Referred {name}.")


def _emailed(sent: Sequence[QueuedEmail]) -> Iterator[TimelineEntry]:
    for email in sent:
        state = formats.email_state(email.status, bounced=email.bounced)
        yield TimelineEntry(email.created_ms, "", f"Email: {email.subject or 'erased'}", state)


def _left(person: Subscriber, choices: HubChoices) -> Iterator[TimelineEntry]:
    if person.status == "unsubscribed" and person.unsubscribed_ms is not None:
        yield TimelineEntry(person.unsubscribed_ms, "bad", "Unsubscribed.")
    if choices.left_program_ms is not None:
        text = "Left the referral program."
        yield TimelineEntry(choices.left_program_ms, "", text, "New friends no longer count.")
