"""Every API route, one row each. The handler serves them, and the OpenAPI document lists them."""

from __future__ import annotations

from honeyguide.accounts.permissions import Right
from honeyguide.api import (
    bodies,
    codes,
    finding,
    link_hosts,
    partners,
    program_partners,
    publications,
    referral_checks,
    referrals,
    rewards,
    shipments,
    subscriber_status,
    subscriber_views,
    tags,
    v1,
    v2,
    verification,
    views,
    webhooks,
)
from honeyguide.api.call import Route, in_v2, of_account, resource

_C = "/v1/campaigns"
_S = "/v1/campaigns/{campaign_uuid}/subscribers"
_S2 = "/v2/campaigns/{campaign_uuid}/subscribers"
_PAGED = ("page", "per_page")

_campaigns = resource("Campaigns", right=Right.CAMPAIGN)
_subscribers = resource("Subscribers", right=Right.SUBSCRIBERS)
_subscribers_v2 = resource("Subscribers", right=Right.SUBSCRIBERS, twin=in_v2)
_account_subscribers = resource("Subscribers", right=Right.SUBSCRIBERS, twin=of_account)

CAMPAIGNS = (
    _campaigns(
        "GET",
        _C,
        v1.list_campaigns,
        summary="List campaigns",
        detail="Always exactly one. Start here: its UUID is part of every v1 path.",
        answer=views.CampaignList,
    ),
    _campaigns(
        "GET",
        f"{_C}/{{campaign_uuid}}",
        v1.get_campaign,
        summary="Get a campaign",
        detail="Its UUID and its name. How it works is in its settings.",
        answer=views.OneCampaign,
    ),
    _campaigns(
        "PUT",
        f"{_C}/{{campaign_uuid}}",
        v1.update_campaign,
        summary="Update a campaign",
        detail="Renames it. Without a name, nothing changes.",
        body=bodies.CampaignUpdate,
        answer=views.OneCampaign,
    ),
)

_CREATE = "With an unknown `referrer_code`, the subscriber is still created, without a referral."
_UPDATE = (
    "Only the fields you send change. Setting `unsubscribed` rejects a pending referral; "
    "a verified one stays verified."
)
_ERASE = (
    "Deletes the subscriber and their personal data, and lowers their referrer's count. "
    "This cannot be undone."
)
_ALL_STATES = (
    "Includes every status. A subscriber's `referrals_count` counts only verified referrals."
)
_NEWEST = "Newest first. Includes subscribers who unsubscribed."
# Not in the specification, but real clients call them: no campaign UUID in the path.
_OWN = "Uses your account's campaign. "

SUBSCRIBERS_V1 = (
    _subscribers(
        "POST",
        _S,
        v1.create_subscriber,
        summary="Create a subscriber",
        detail=_CREATE,
        body=bodies.SubscriberCreate,
        answer=subscriber_views.OneSavedSubscriber,
        status=201,
    ),
    _subscribers(
        "GET",
        _S,
        v1.list_subscribers,
        summary="List subscribers",
        detail=_NEWEST,
        query=("type", *_PAGED),
        answer=subscriber_views.SubscriberList,
        snapshot=True,
    ),
    _subscribers(
        "GET",
        f"{_S}/{{uuid}}",
        v1.get_subscriber,
        summary="Get a subscriber",
        detail="Takes their UUID or their email address.",
        answer=subscriber_views.OneSubscriber,
    ),
    _subscribers(
        "GET",
        f"{_S}/{{uuid}}/referrals",
        v1.list_subscriber_referrals,
        summary="List a subscriber's referrals",
        detail=_ALL_STATES,
        query=_PAGED,
        answer=subscriber_views.SubscriberList,
        snapshot=True,
    ),
    _subscribers(
        "PUT",
        f"{_S}/{{uuid}}",
        v1.update_subscriber,
        summary="Update a subscriber",
        detail=_UPDATE,
        body=bodies.SubscriberUpdate,
        answer=subscriber_views.OneSavedSubscriber,
    ),
    _subscribers(
        "DELETE",
        f"{_S}/{{uuid}}",
        v1.delete_subscriber,
        summary="Delete a subscriber",
        detail=_ERASE,
        answer=views.Message,
    ),
)

SUBSCRIBERS_V2 = (
    _subscribers_v2(
        "GET",
        _S2,
        v2.list_subscribers,
        summary="List subscribers",
        detail=_NEWEST,
        query=("type", "expand", *_PAGED),
        answer=subscriber_views.SubscriberListV2,
        snapshot=True,
    ),
    _subscribers_v2(
        "GET",
        f"{_S2}/{{uuid}}",
        v2.get_subscriber,
        summary="Get a subscriber",
        detail="Takes their UUID or their email address.",
        query=("expand",),
        answer=subscriber_views.OneSubscriberV2,
    ),
    _subscribers_v2(
        "GET",
        f"{_S2}/{{uuid}}/referrals",
        v2.list_subscriber_referrals,
        summary="List a subscriber's referrals",
        detail=_ALL_STATES,
        query=("expand", *_PAGED),
        answer=subscriber_views.ReferredSubscriberListV2,
        snapshot=True,
    ),
    _account_subscribers(
        "POST",
        "/v2/subscribers",
        v1.create_subscriber,
        summary="Create a subscriber",
        detail=_OWN + _CREATE,
        body=bodies.SubscriberCreate,
        answer=subscriber_views.OneSavedSubscriber,
        status=201,
    ),
    _account_subscribers(
        "GET",
        "/v2/subscribers",
        v2.list_subscribers,
        summary="List subscribers",
        detail=_OWN + _NEWEST,
        query=("type", "expand", *_PAGED),
        answer=subscriber_views.SubscriberListV2,
        snapshot=True,
    ),
    _account_subscribers(
        "GET",
        "/v2/subscribers/{uuid}",
        v2.get_subscriber,
        summary="Get a subscriber",
        detail=_OWN.strip(),
        query=("expand",),
        answer=subscriber_views.OneSubscriberV2,
    ),
    _account_subscribers(
        "GET",
        "/v2/subscribers/{uuid}/referrals",
        v2.list_subscriber_referrals,
        summary="List a subscriber's referrals",
        detail=_OWN + _ALL_STATES,
        query=("expand", *_PAGED),
        answer=subscriber_views.ReferredSubscriberListV2,
        snapshot=True,
    ),
    _account_subscribers(
        "PUT",
        "/v2/subscribers/{uuid}",
        v1.update_subscriber,
        summary="Update a subscriber",
        detail=_OWN + _UPDATE,
        body=bodies.SubscriberUpdate,
        answer=subscriber_views.OneSavedSubscriber,
    ),
    _account_subscribers(
        "DELETE",
        "/v2/subscribers/{uuid}",
        v1.delete_subscriber,
        summary="Delete a subscriber",
        detail=_OWN + _ERASE,
        answer=views.Message,
    ),
)

ROUTES: tuple[Route, ...] = (
    *CAMPAIGNS,
    *SUBSCRIBERS_V1,
    *SUBSCRIBERS_V2,
    *subscriber_status.ROUTES,
    *referrals.ROUTES,
    *referral_checks.ROUTES,
    *finding.ROUTES,
    *tags.ROUTES,
    *rewards.ROUTES,
    *codes.ROUTES,
    *shipments.ROUTES,
    *link_hosts.ROUTES,
    *webhooks.ROUTES,
    *publications.ROUTES,
    *partners.ROUTES,
    *program_partners.ROUTES,
    *verification.ROUTES,
)
