"""v1 endpoints: the campaign and its subscribers. A few lines each; the domain does the work."""

from __future__ import annotations

import msgspec

from honeyguide.api import views
from honeyguide.api.bodies import CampaignUpdate, SubscriberCreate
from honeyguide.api.call import Call, Listed
from honeyguide.api.subscriber_views import (
    OneSavedSubscriber,
    OneSubscriber,
    SubscriberList,
    read,
    subscriber_meta,
    written,
)
from honeyguide.kernel.errors import Invalid
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import campaigns, subscribers


async def list_campaigns(at: Reading, call: Call) -> views.CampaignList:
    return views.CampaignList([views.campaign_view(await campaigns.get(at))])


async def get_campaign(at: Reading, call: Call) -> views.OneCampaign:
    return views.OneCampaign(views.campaign_view(await campaigns.get(at)))


async def update_campaign(change: Change, call: Call) -> views.OneCampaign:
    body: CampaignUpdate = call.body
    if body.name is not msgspec.UNSET:
        await campaigns.rename(change, body.name)
    return await get_campaign(change, call)


def _new_subscriber(body: SubscriberCreate) -> NewSubscriber:
    if not body.email:
        raise Invalid("You have to provide at least an email", param="email", code="email_missing")
    given = {
        name: value for name, value in msgspec.structs.asdict(body).items() if value is not None
    }
    return NewSubscriber(**given)


async def create_subscriber(change: Change, call: Call) -> OneSavedSubscriber:
    subscriber = await signups.sign_up(change, _new_subscriber(call.body))
    return OneSavedSubscriber(written(subscriber))


async def list_subscribers(at: Reading, call: Call) -> Listed:
    page = call.page
    rows, total = await subscribers.page_of(
        at, call.choice("type", subscribers.LIST_TYPES, "all"), page
    )
    shown = read.all(rows)
    return Listed(SubscriberList(shown, subscriber_meta(page, total)), page, total)


async def get_subscriber(at: Reading, call: Call) -> OneSubscriber:
    return OneSubscriber(read(await subscribers.get(at, call.path["uuid"])))


async def list_subscriber_referrals(at: Reading, call: Call) -> Listed:
    page = call.page
    referrer = await subscribers.get(at, call.path["uuid"])
    rows, total = await subscribers.page_of_referred(at, referrer, page)
    shown = read.all(rows)
    return Listed(SubscriberList(shown, subscriber_meta(page, total)), page, total)


async def update_subscriber(change: Change, call: Call) -> OneSavedSubscriber:
    changed = await signups.update(change, call.path["uuid"], call.body)
    return OneSavedSubscriber(written(changed))


async def delete_subscriber(change: Change, call: Call) -> views.Message:
    await signups.erase(change, call.path["uuid"])
    return views.Message("The subscriber was deleted.")
