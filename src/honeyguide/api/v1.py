"""v1 endpoints: the campaign and its subscribers. A few lines each; the domain does the work."""

from __future__ import annotations

import msgspec

from honeyguide.api import views
from honeyguide.api.bodies import CampaignUpdate, SubscriberCreate, SubscriberUpdate
from honeyguide.api.call import Call, Listed, listed
from honeyguide.api.subscriber_views import (
    OneSavedSubscriber,
    OneSubscriber,
    SubscriberList,
    SubscriberMeta,
    read,
    written,
)
from honeyguide.kernel.errors import Invalid
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import campaigns, subscribers


async def list_campaigns(at: Reading, call: Call[None]) -> views.CampaignList:
    """List campaigns.

    Always exactly one. Start here: its UUID is part of every v1 path.
    """
    return views.CampaignList([views.campaign_view(await campaigns.get(at.tx, at.tenant))])


async def get_campaign(at: Reading, call: Call[None]) -> views.OneCampaign:
    """Get a campaign.

    Its UUID and its name. How it works is in its settings.
    """
    return views.OneCampaign(views.campaign_view(await campaigns.get(at.tx, at.tenant)))


async def update_campaign(change: Change, call: Call[CampaignUpdate]) -> views.OneCampaign:
    """Update a campaign.

    Renames it. Without a name, nothing changes.
    """
    if call.body.name is not msgspec.UNSET:
        await campaigns.rename(change, call.body.name)
    return views.OneCampaign(views.campaign_view(await campaigns.get(change.tx, change.tenant)))


def _new_subscriber(body: SubscriberCreate) -> NewSubscriber:
    if not body.email:
        raise Invalid("You have to provide at least an email", param="email", code="email_missing")
    given = {
        name: value for name, value in msgspec.structs.asdict(body).items() if value is not None
    }
    return NewSubscriber(**given)


async def create_subscriber(change: Change, call: Call[SubscriberCreate]) -> OneSavedSubscriber:
    """Create a subscriber.

    With an unknown `referrer_code`, the subscriber is still created, without a referral.
    """
    subscriber = await signups.sign_up(change, _new_subscriber(call.body))
    return OneSavedSubscriber(written(subscriber))


async def list_subscribers(at: Reading, call: Call[None]) -> Listed[SubscriberList]:
    """List subscribers.

    Newest first. Includes subscribers who unsubscribed.
    """
    page = call.page
    rows, total = await subscribers.page_of(
        at.tx, at.tenant, call.choice("type", subscribers.LIST_TYPES, "all"), page
    )
    shown = [read(row) for row in rows]
    return listed(SubscriberList, SubscriberMeta, shown, page, total)


async def get_subscriber(at: Reading, call: Call[None]) -> OneSubscriber:
    """Get a subscriber.

    Takes their UUID or their email address.
    """
    return OneSubscriber(read(await subscribers.get(at.tx, at.tenant, call.path["uuid"])))


async def list_subscriber_referrals(at: Reading, call: Call[None]) -> Listed[SubscriberList]:
    """List a subscriber's referrals.

    Includes every status. A subscriber's `referrals_count` counts only verified referrals.
    """
    page = call.page
    referrer = await subscribers.get(at.tx, at.tenant, call.path["uuid"])
    rows, total = await subscribers.page_of_referred(at.tx, at.tenant, referrer, page)
    shown = [read(row) for row in rows]
    return listed(SubscriberList, SubscriberMeta, shown, page, total)


async def update_subscriber(change: Change, call: Call[SubscriberUpdate]) -> OneSavedSubscriber:
    """Update a subscriber.

    Only the fields you send change. Setting `unsubscribed` rejects a pending referral; a verified
    one stays verified.
    """
    changed = await signups.update(change, call.path["uuid"], call.body)
    return OneSavedSubscriber(written(changed))


async def delete_subscriber(change: Change, call: Call[None]) -> views.Message:
    """Delete a subscriber.

    Deletes the subscriber and their personal data, and lowers their referrer's count. This cannot
    be undone.
    """
    await signups.erase(change, call.path["uuid"])
    return views.Message("The subscriber was deleted.")
