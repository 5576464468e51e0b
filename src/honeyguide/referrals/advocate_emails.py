"""Emails to subscribers about their referrals that nobody asked for: a friend joined, one more to
go, a reward earned. The operator switches each on or off, and a subscriber gets at most one of them
a day (`reader_emails.send_news`).
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import email_kinds, texts
from honeyguide.referrals import branding, hub, names, reader_emails, rewards, subscribers
from honeyguide.referrals.rewards import Reward
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class EmailSwitches(NamedTuple):
    """Which of these emails a campaign sends, by their kinds."""

    friend_joined: int
    one_more: int
    reward_unlocked: int


_sql = beside(__file__)
_OF_CAMPAIGN = _sql.query("of_campaign", EmailSwitches)
_SWITCH = _sql.command("switch")


async def switches_of(tx: Tx, tenant: Tenant) -> EmailSwitches:
    found = await tx.one(_OF_CAMPAIGN, **tenant._asdict())
    assert found is not None
    return found


async def switch(tx: Tx, tenant: Tenant, kind: str, *, is_on: bool) -> None:
    switches = (await switches_of(tx, tenant))._replace(**{kind: int(is_on)})
    await tx.run(_SWITCH, **tenant._asdict(), **switches._asdict())


async def tell_of_friend(
    tx: Tx, site: Site, tenant: Tenant, advocate_id: str, *, now_ms: int
) -> None:
    """Somebody they referred counts now. If one more earns them a reward, the email is about that;
    if this one did, they have today's email already."""
    switches = await switches_of(tx, tenant)
    if not (switches.friend_joined or switches.one_more):
        return
    advocate = await subscribers.find(tx, tenant, advocate_id)
    if advocate is None:
        return
    brand = await branding.of(tx, tenant)
    look, newsletter = brand.email_branding(site), brand.name
    link, first_name = hub.link(site, advocate), names.first_name(advocate.name)
    reward = await _one_away(tx, tenant, advocate.referrals_verified)
    if switches.one_more and reward is not None:
        kind = email_kinds.ONE_MORE
        message = texts.one_more(
            look.language,
            newsletter=newsletter,
            reward=reward.name,
            hub=link,
            first_name=first_name,
            own=look.own_texts,
        )
    elif switches.friend_joined:
        kind = email_kinds.FRIEND_JOINED
        message = texts.friend_joined(
            look.language,
            newsletter=newsletter,
            referrals=advocate.referrals_verified,
            hub=link,
            first_name=first_name,
            own=look.own_texts,
        )
    else:
        return
    await reader_emails.send_news(
        tx, site, tenant, advocate, message, look, kind=kind, now_ms=now_ms
    )


async def _one_away(tx: Tx, tenant: Tenant, verified: int) -> Reward | None:
    """The reward that one more referral earns."""
    ahead = rewards.next_reward(await rewards.of_campaign(tx, tenant), verified)
    return ahead[0] if ahead is not None and ahead[1] == 1 else None
