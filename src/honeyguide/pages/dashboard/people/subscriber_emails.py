"""Emails that an operator sends one subscriber from their page: their referral link, and those that
got lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response

from honeyguide.kernel.errors import Invalid, TooMany
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.readers import page_branding, requested_emails
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.signups import resent_emails
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import branding, subscribers
from honeyguide.subscribers.subscribers import Subscriber

LINK, CONFIRMATION, REWARD = "link", "confirmation", "reward"


class SendableEmails(NamedTuple):
    """Which emails can be sent to a subscriber now."""

    why_no_link: str
    """Empty if the link can be sent."""
    can_confirm: bool
    rewards: list[EarnedReward]


async def load(at: Reading, person: Subscriber, earned: Sequence[EarnedReward]) -> SendableEmails:
    obstacles = await resent_emails.find_obstacles(at, person)
    why_not = resent_emails.why_not(person, obstacles)
    return SendableEmails(
        why_no_link=why_not,
        can_confirm=resent_emails.can_be_asked_to_confirm(person, obstacles),
        rewards=[] if why_not else [each for each in earned if resent_emails.can_be_resent(each)],
    )


async def send(change: Change, request: PageRequest) -> Response:
    subscriber_id, what = request.at("id"), request.text("email")
    if what == LINK:
        person = await resent_emails.send_link(change, subscriber_id)
        flash = f"Their referral link is on its way to {person.email}."
    elif what == CONFIRMATION:
        person = await _ask_to_confirm(change, subscriber_id)
        flash = f"The confirmation email is on its way to {person.email}."
    elif what == REWARD:
        earned = await resent_emails.send_reward(change, subscriber_id, request.text("earned"))
        flash = f"The email about {formats.isolated(earned.name)} is on its way."
    else:
        raise Invalid("Choose an email to send.")
    return request.go(f"/subscribers/{subscriber_id}", flash)


async def _ask_to_confirm(change: Change, subscriber_id: str) -> Subscriber:
    person = await subscribers.get_locked(change, subscriber_id)
    obstacles = await resent_emails.find_obstacles(change, person)
    if not resent_emails.can_be_asked_to_confirm(person, obstacles):
        raise Invalid("Nothing was sent. They have nothing to confirm, or get no emails.")
    brand = page_branding.of_campaign(await change.fact(branding.of))
    is_queued = await requested_emails.send_confirm(change, brand, person)
    if not is_queued and await requested_emails.was_asked_here(change, person):
        raise TooMany(
            "Nothing was sent: they got this email lately, or it waits to be sent. "
            "Try again later.",
            retry_after_s=requested_emails.EVERY_MS // 1000,
        )
    return person
