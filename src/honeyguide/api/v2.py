"""v2 endpoints: subscribers as v2 shows them."""

from __future__ import annotations

from typing import Any

import msgspec

from honeyguide.api import subscriber_views as views
from honeyguide.api.call import Call, Listed, listed
from honeyguide.api.reward_views import earned_view
from honeyguide.kernel.errors import Invalid
from honeyguide.rewards import earned_rewards
from honeyguide.store.reading import Reading
from honeyguide.subscribers import campaigns, codes, subscribers, tags
from honeyguide.subscribers.campaigns import Campaign
from honeyguide.subscribers.subscribers import Subscriber


async def _expanded(at: Reading, call: Call[Any]) -> Campaign | None:
    """The campaign, when `expand=campaigns` asks for it."""
    expand = call.query.get("expand")
    if expand is None:
        return None
    if expand != "campaigns":
        raise Invalid("{field} must be campaigns.", param="expand")
    return await campaigns.get(at)


async def _programs(
    at: Reading, campaign: Campaign | None, rows: list[Subscriber]
) -> list[views.Programs]:
    """Each subscriber's figures in the campaign, with all that another Honeyguide needs to import
    them. One query finds what all of them earned."""
    if campaign is None:
        return [msgspec.UNSET for _ in rows]
    ids = [s.id for s in rows]
    earned = await earned_rewards.earned_by_each(at, ids, most=earned_rewards.MOST_IN_ANSWER)
    further = await codes.of_subscribers(at, ids)
    tagged = await tags.of_subscribers(at, ids)
    return [
        [
            views.ReferralProgram(
                uuid=campaign.id,
                name=campaign.name,
                ref_code=s.ref_code,
                referral_link=at.site.reader_link(s.ref_code),
                referrals=views.ReferralCounts(
                    verified=s.referrals_verified,
                    pending=s.referrals_pending,
                    rejected=s.referrals_rejected,
                ),
                rewards=[earned_view(each) for each in earned[s.id]],
                status=s.status,
                codes=further.get(s.id, []),
                adjustments=s.adjustments,
                tags=tagged.get(s.id, []),
            )
        ]
        for s in rows
    ]


async def list_subscribers(at: Reading, call: Call[None]) -> Listed[views.SubscriberListV2]:
    """List subscribers.

    Newest first. Includes subscribers who unsubscribed.
    """
    page, campaign = call.page, await _expanded(at, call)
    rows, total = await subscribers.page_of(
        at, call.choice("type", subscribers.LIST_TYPES, "all"), page
    )
    shown = views.plain.all(rows, referral_programs=await _programs(at, campaign, rows))
    return listed(views.SubscriberListV2, views.SubscriberMeta, shown, page, total)


async def get_subscriber(at: Reading, call: Call[None]) -> views.OneSubscriberV2:
    """Get a subscriber.

    Takes their UUID or their email address.
    """
    campaign = await _expanded(at, call)
    subscriber = await subscribers.get(at, call.path["uuid"])
    (programs,) = await _programs(at, campaign, [subscriber])
    return views.OneSubscriberV2(views.plain(subscriber, referral_programs=programs))


async def list_subscriber_referrals(
    at: Reading, call: Call[None]
) -> Listed[views.ReferredSubscriberListV2]:
    """List a subscriber's referrals.

    Includes every status. A subscriber's `referrals_count` counts only verified referrals.
    """
    page, campaign = call.page, await _expanded(at, call)
    referrer = await subscribers.get(at, call.path["uuid"])
    rows, total = await subscribers.page_of_referred(at, referrer, page)
    shown = views.counted.all(rows, referral_programs=await _programs(at, campaign, rows))
    return listed(views.ReferredSubscriberListV2, views.SubscriberMeta, shown, page, total)
