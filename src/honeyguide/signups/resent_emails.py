"""Emails that the operator sends one subscriber by hand: the link to their referral page, and an
email about a reward that got lost.

Their text was deleted when they were sent, so each is written anew.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS, MINUTE_MS
from honeyguide.kernel.errors import Invalid, TooMany
from honeyguide.mail import email_kinds, emails, texts
from honeyguide.mail.emails import EmailToSend
from honeyguide.rewards import earned_rewards, reward_events, rewards
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import branding, hub, hub_choices, reader_emails, subscribers
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.subscribers import Subscriber

# Per kind and mailbox: enough for an email that got lost, too few to annoy anybody.
EVERY_MS = 10 * MINUTE_MS
MOST_A_DAY = 5


class Obstacles(NamedTuple):
    """What can stop an email to a subscriber, besides that they unsubscribed."""

    has_left_program: bool = False
    has_stopped: bool = False
    """The emails that nobody asked for."""
    is_returned: bool = False
    """An email to the address that they have now came back."""


async def find_obstacles(at: Reading, person: Subscriber) -> Obstacles:
    choices = await at.fact(hub_choices.of_subscriber, person.id)
    sent = await at.fact(emails.of_subscriber, person.id)
    return Obstacles(
        has_left_program=choices.left_program_ms is not None,
        has_stopped=choices.stopped_ms is not None,
        is_returned=any(each.bounced and each.to_email == person.email for each in sent),
    )


def why_not(person: Subscriber, obstacles: Obstacles) -> str:
    """Why they get no email that they did not ask for; empty if they do."""
    if person.status == "unsubscribed":
        return "They unsubscribed, so they get no emails."
    if obstacles.is_returned:
        return "An email to this address came back: there is no such mailbox."
    if person.must_confirm:
        return "They have not confirmed their email address yet."
    if obstacles.has_left_program:
        return "They left the referral program."
    if obstacles.has_stopped:
        return "They stopped these emails."
    return ""


def can_be_asked_to_confirm(person: Subscriber, obstacles: Obstacles) -> bool:
    """Whether it makes sense to send the confirmation email again."""
    if person.status != "active" or obstacles.is_returned:
        return False
    return person.must_confirm or person.referral_reason == Reason.AWAITING_CONFIRMATION


def can_be_resent(earned: EarnedReward) -> bool:
    """Whether there is something to claim, a code or a link that the email is about. What is to be
    posted, or was, is past that."""
    return earned.unlocked_ms is not None and earned.shipping is None and earned.sent_ms is None


async def send_link(change: Change, id_or_email: str) -> Subscriber:
    """Raises if they must not get it, or got it lately."""
    person = await _get_reachable(change, id_or_email)
    brand = (await change.fact(branding.of)).email_branding(change.site, person.language)
    message = texts.hub_link(brand, link=hub.link(change.site, person))
    email = reader_emails.email_to(change, person, email_kinds.HUB_LINK, message, brand)
    await _send(change, person, email, about="link")
    return person


async def send_reward(change: Change, id_or_email: str, earned_id: str) -> EarnedReward:
    """The email that a subscriber gets when they earn a reward, once more."""
    person = await _get_reachable(change, id_or_email)
    earned = await earned_rewards.get(change, earned_id, of=person.id)
    if not can_be_resent(earned):
        raise Invalid("There is nothing left to claim, so this email would confuse them.")
    reward = await rewards.get(change, earned.reward_id, deleted_too=True)
    email = await reward_events.unlocked_email(change, person, reward, earned.coupon_code)
    await _send(change, person, email, about=earned.id)
    return earned


async def _get_reachable(change: Change, id_or_email: str) -> Subscriber:
    """Locked, so that two emails at the same moment see each other."""
    person = await subscribers.get_locked(change, id_or_email)
    obstacles = await find_obstacles(change, person)
    if reason := why_not(person, obstacles):
        raise Invalid("Nothing was sent. {reason}", reason=reason)
    return person


async def _send(change: Change, person: Subscriber, email: EmailToSend, *, about: str) -> None:
    now_ms = change.now_ms
    lately = await emails.count_recent(
        change,
        email.to,
        email.kind,
        since_ms=now_ms - EVERY_MS,
        now_ms=now_ms,
    )
    if lately.of_account:
        raise TooMany(
            "They were sent this kind of email in the last {minutes} minutes. Try again later.",
            minutes=EVERY_MS // MINUTE_MS,
            retry_after_s=EVERY_MS // 1000,
        )
    if lately.of_account_today >= MOST_A_DAY:
        raise TooMany(
            "They were sent {most} emails of this kind in a day. Try again tomorrow.",
            most=MOST_A_DAY,
            retry_after_s=DAY_MS // 1000,
        )
    if lately.of_all >= MOST_A_DAY:
        return  # others sent them, too: whoever asks here must not learn that they are there
    once = f"by hand:{email.kind.name}:{person.id}:{about}:{now_ms}"
    await emails.send(change.tx, email._replace(once=once))
