"""v2 endpoints: subscribers as v2 shows them."""

from __future__ import annotations

import msgspec

from honeyguide.api import views
from honeyguide.api.call import Call, Listed
from honeyguide.api.rewards import won_view
from honeyguide.kernel.errors import Invalid
from honeyguide.referrals import campaigns, people, rewards
from honeyguide.referrals.campaigns import Campaign
from honeyguide.referrals.people import Subscriber
from honeyguide.store.tx import Tx


async def _expanded(tx: Tx, call: Call) -> Campaign | None:
    """The campaign, when `expand=campaigns` asks for it."""
    expand = call.query.get("expand")
    if expand is None:
        return None
    if expand != "campaigns":
        raise Invalid("{field} must be campaigns.", param="expand")
    return await campaigns.get(tx, call.owner)


async def _programs(tx: Tx, call: Call, campaign: Campaign | None, rows: list[Subscriber]) -> list[views.Programs]:
    """Each one's campaign as they stand in it; what all of them won is one query."""
    if campaign is None:
        return [msgspec.UNSET for _ in rows]
    won = await rewards.won_by_each(tx, call.owner, [s.id for s in rows])
    return [
        [
            views.ReferralProgram(
                campaign.id,
                campaign.name,
                s.ref_code,
                call.site.reader_link(s.ref_code),
                views.ReferralCounts(s.referrals_verified, s.referrals_pending, s.referrals_rejected),
                [won_view(each) for each in won[s.id]],
            )
        ]
        for s in rows
    ]


async def list_subscribers(tx: Tx, call: Call) -> Listed:
    page, campaign = call.page, await _expanded(tx, call)
    rows, total = await people.page_of(tx, call.owner, call.choice("type", people.KINDS, "all"), page)
    shown = list(map(views.plain, rows, await _programs(tx, call, campaign, rows)))
    return Listed(views.PlainList(shown, views.subscriber_meta(page, total)), page, total)


async def get_subscriber(tx: Tx, call: Call) -> views.OnePlain:
    campaign = await _expanded(tx, call)
    subscriber = await people.get(tx, call.owner, call.path["uuid"])
    return views.OnePlain(views.plain(subscriber, (await _programs(tx, call, campaign, [subscriber]))[0]))


async def list_referrals(tx: Tx, call: Call) -> Listed:
    page, campaign = call.page, await _expanded(tx, call)
    referrer = await people.get(tx, call.owner, call.path["uuid"])
    rows, total = await people.page_of_brought(tx, call.owner, referrer, page)
    shown = list(map(views.counted, rows, await _programs(tx, call, campaign, rows)))
    return Listed(views.CountedList(shown, views.subscriber_meta(page, total)), page, total)
