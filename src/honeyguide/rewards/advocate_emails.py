"""Emails to subscribers about their referrals that nobody asked for: a friend joined, one more to
go, a reward earned. The operator switches each on or off, and a subscriber gets at most one of them
a day (`reader_emails.send_news`).
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.events import change_log
from honeyguide.kernel.fields import as_stored
from honeyguide.mail import email_kinds, texts
from honeyguide.rewards import rewards
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import branding, reader_emails
from honeyguide.subscribers.subscribers import Subscriber


class EmailSwitches(NamedTuple):
    """Which of these emails a campaign sends, by their kinds."""

    friend_joined: bool
    one_more: bool
    reward_unlocked: bool
    shipment_sent: bool
    """Sent by `shipment_emails`, however many a day."""


_sql = beside(__file__)
_OF_CAMPAIGN = _sql.query("of_campaign", EmailSwitches)
_SWITCH = _sql.command("switch")


async def switches_of(at: Reading) -> EmailSwitches:
    found = await at.one(_OF_CAMPAIGN)
    assert found is not None
    return found


async def switch(change: Change, kind: str, *, is_on: bool) -> None:
    old = await switches_of(change)
    new = old._replace(**{kind: is_on})
    await change.run(_SWITCH, **new._asdict())
    before, after = (as_stored(each, new._fields) for each in (old, new))
    await change_log.record(change, "emails.changed", change.tenant.campaign_id, before, after)


async def tell_of_friend(change: Change, advocate: Subscriber) -> None:
    """Somebody they referred counts now. If one more earns them a reward, the email is about that;
    if this one did, they have today's email already."""
    brand = await change.fact(branding.of)
    if not (brand.sends_friend_joined or brand.sends_one_more):
        return
    email_branding = brand.email_branding(change.site, advocate.language)
    facts = reader_emails.facts_of(change.site, advocate)
    ahead = rewards.next_reward(await change.fact(rewards.of_campaign), advocate.toward_rewards)
    if brand.sends_one_more and ahead is not None and ahead[1] == 1:
        kind = email_kinds.ONE_MORE
        message = texts.one_more(email_branding, facts, reward=ahead[0].name)
    elif brand.sends_friend_joined:
        kind = email_kinds.FRIEND_JOINED
        message = texts.friend_joined(email_branding, facts)
    else:
        return
    email = reader_emails.email_to(change, advocate, kind, message, email_branding)
    await reader_emails.send_news(change, advocate, email)
