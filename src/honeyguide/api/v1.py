"""v1 endpoints: the campaign and its subscribers. A few lines each; the domain does the work."""

from __future__ import annotations

import msgspec

from honeyguide.api import views
from honeyguide.api.bodies import (
    CampaignSettingsUpdate,
    CampaignUpdate,
    SubscriberCreate,
    SubscriberUpdate,
)
from honeyguide.api.call import Call, Listed, listed
from honeyguide.api.subscriber_views import (
    OneSavedSubscriber,
    OneSubscriber,
    SubscriberExport,
    SubscriberList,
    SubscriberMeta,
    SubscriberReferralPage,
    SubscriberStatus,
    read,
    written,
)
from honeyguide.api.views import iso_or_none
from honeyguide.kernel.errors import Invalid
from honeyguide.signups import privacy, signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import campaigns, hub, subscribers


async def list_campaigns(at: Reading, call: Call[None]) -> views.CampaignList:
    """List campaigns.

    Always exactly one. Start here: its UUID is part of every v1 path.
    """
    return views.CampaignList([views.campaign_view(await campaigns.get(at))])


async def get_campaign(at: Reading, call: Call[None]) -> views.OneCampaign:
    """Get a campaign.

    Its UUID and its name. How it works is in its settings.
    """
    return views.OneCampaign(views.campaign_view(await campaigns.get(at)))


async def update_campaign(change: Change, call: Call[CampaignUpdate]) -> views.OneCampaign:
    """Update a campaign.

    Renames it. Without a name, nothing changes.
    """
    if call.body.name is not msgspec.UNSET:
        await campaigns.rename(change, call.body.name)
    return views.OneCampaign(views.campaign_view(await campaigns.get(change)))


async def get_campaign_settings(at: Reading, call: Call[None]) -> views.OneCampaignSettings:
    """Get a campaign's settings.

    How new referrals are screened, whether subscribers confirm their email address, and where links
    lead.
    """
    return views.settings_view(at.site, await campaigns.get(at))


async def update_campaign_settings(
    change: Change, call: Call[CampaignSettingsUpdate]
) -> views.OneCampaignSettings:
    """Update a campaign's settings.

    Only the fields you send change. Existing referrals are not affected. With a null
    `destination_url`, referral links lead to the hosted signup page.
    """
    chosen = campaigns.CampaignSettings(**msgspec.structs.asdict(call.body))
    return views.settings_view(change.site, await campaigns.configure(change, chosen))


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
        at, call.choice("type", subscribers.LIST_TYPES, "all"), page
    )
    return listed(SubscriberList, SubscriberMeta, read.all(rows), page, total)


async def get_subscriber(at: Reading, call: Call[None]) -> OneSubscriber:
    """Get a subscriber.

    Takes their UUID or their email address.
    """
    return OneSubscriber(read(await subscribers.get(at, call.path["uuid"])))


async def list_subscriber_referrals(at: Reading, call: Call[None]) -> Listed[SubscriberList]:
    """List a subscriber's referrals.

    Includes every status. A subscriber's `referrals_count` counts only verified referrals.
    """
    page = call.page
    referrer = await subscribers.get(at, call.path["uuid"])
    rows, total = await subscribers.page_of_referred(at, referrer, page)
    return listed(SubscriberList, SubscriberMeta, read.all(rows), page, total)


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


async def get_subscriber_status(at: Reading, call: Call[None]) -> SubscriberStatus:
    """Get a subscriber's status.

    Whether they are subscribed, and whether they confirmed their email address.
    """
    found = await subscribers.get(at, call.path["uuid"])
    has_left = found.status == "unsubscribed"
    return SubscriberStatus(
        status=found.status,
        is_subscribed=not has_left and not found.must_confirm,
        is_confirmed=found.status == "confirmed",
        must_confirm=not has_left and found.must_confirm,
        unsubscribed_at=iso_or_none(found.unsubscribed_ms) if has_left else None,
    )


async def get_subscriber_referral_page(at: Reading, call: Call[None]) -> SubscriberReferralPage:
    """Get the link to a subscriber's referral page.

    The same link that emails to the subscriber have. Whoever opens it can claim rewards and
    unsubscribe on the subscriber's behalf, so a key that may only read does not get it.
    """
    found = await subscribers.get(at, call.path["uuid"])
    return SubscriberReferralPage(hub.link(at.site, found))


async def export_subscriber(at: Reading, call: Call[None]) -> SubscriberExport:
    """Export a subscriber's data.

    Everything stored about them. Other people appear only as UUIDs.
    """
    return SubscriberExport(
        await privacy.export_person(at, await subscribers.get(at, call.path["uuid"]))
    )
