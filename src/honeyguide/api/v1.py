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
from honeyguide.store.tx import Tx
from honeyguide.subscribers import campaigns, subscribers


async def list_campaigns(tx: Tx, call: Call) -> views.CampaignList:
    return views.CampaignList([views.campaign_view(await campaigns.get(tx, call.tenant))])


async def get_campaign(tx: Tx, call: Call) -> views.OneCampaign:
    return views.OneCampaign(views.campaign_view(await campaigns.get(tx, call.tenant)))


async def update_campaign(tx: Tx, call: Call) -> views.OneCampaign:
    body: CampaignUpdate = call.body
    if body.name is not msgspec.UNSET:
        await campaigns.rename(call.change(tx), body.name)
    return await get_campaign(tx, call)


def _new_subscriber(body: SubscriberCreate) -> NewSubscriber:
    if not body.email:
        raise Invalid("You have to provide at least an email", param="email", code="email_missing")
    given = {
        name: value for name, value in msgspec.structs.asdict(body).items() if value is not None
    }
    return NewSubscriber(**given)


async def create_subscriber(tx: Tx, call: Call) -> OneSavedSubscriber:
    subscriber = await signups.sign_up(call.change(tx), _new_subscriber(call.body))
    return OneSavedSubscriber(written(subscriber))


async def list_subscribers(tx: Tx, call: Call) -> Listed:
    page = call.page
    rows, total = await subscribers.page_of(
        tx, call.tenant, call.choice("type", subscribers.LIST_TYPES, "all"), page
    )
    shown = read.all(rows)
    return Listed(SubscriberList(shown, subscriber_meta(page, total)), page, total)


async def get_subscriber(tx: Tx, call: Call) -> OneSubscriber:
    return OneSubscriber(read(await subscribers.get(tx, call.tenant, call.path["uuid"])))


async def list_subscriber_referrals(tx: Tx, call: Call) -> Listed:
    page = call.page
    referrer = await subscribers.get(tx, call.tenant, call.path["uuid"])
    rows, total = await subscribers.page_of_referred(tx, call.tenant, referrer, page)
    shown = read.all(rows)
    return Listed(SubscriberList(shown, subscriber_meta(page, total)), page, total)


async def update_subscriber(tx: Tx, call: Call) -> OneSavedSubscriber:
    changed = await signups.update(call.change(tx), call.path["uuid"], call.body)
    return OneSavedSubscriber(written(changed))


async def delete_subscriber(tx: Tx, call: Call) -> views.Message:
    await signups.erase(call.change(tx), call.path["uuid"])
    return views.Message("The subscriber was deleted.")
