"""Every API route, one row each. The handler serves this table, and the OpenAPI document describes it."""

from __future__ import annotations

from honeyguide.api import (
    bodies,
    partners,
    publications,
    referrals,
    rewards,
    v1,
    v2,
    views,
    webhooks,
)
from honeyguide.api.call import Route

_C = "/v1/campaigns"
_S = "/v1/campaigns/{campaign_uuid}/subscribers"
_S2 = "/v2/campaigns/{campaign_uuid}/subscribers"
_PAGED = ("page", "per_page")

CAMPAIGNS = (
    Route(
        "GET",
        _C,
        v1.list_campaigns,
        "List campaigns",
        views.Campaigns,
        detail="Always exactly one. Start here: its UUID is part of every v1 path.",
    ),
    Route("GET", f"{_C}/{{campaign_uuid}}", v1.get_campaign, "Get a campaign", views.OneCampaign),
    Route(
        "PUT",
        f"{_C}/{{campaign_uuid}}",
        v1.update_campaign,
        "Update a campaign",
        views.OneCampaign,
        bodies.CampaignUpdate,
    ),
)

_CREATE = "With an unknown `referrer_code`, the subscriber is still created, without a referral."
_UPDATE = "Only the fields you send change. Setting `unsubscribed` rejects a pending referral; a verified one stays verified."
_ERASE = "Deletes the subscriber and their personal data, and lowers their referrer's count. This cannot be undone."
_ALL_STATES = (
    "Includes every status. A subscriber's `referrals_count` counts only verified referrals."
)
_NEWEST = "Newest first. Includes subscribers who unsubscribed."
# Not in the specification, but real clients call them: the account's campaign, without its UUID in the path.
_OWN = "Uses your account's campaign. "

SUBSCRIBERS_V1 = (
    Route(
        "POST",
        _S,
        v1.create_subscriber,
        "Create a subscriber",
        views.OneWritten,
        bodies.SubscriberCreate,
        201,
        detail=_CREATE,
    ),
    Route(
        "GET",
        _S,
        v1.list_subscribers,
        "List subscribers",
        views.ReadList,
        query=("type", *_PAGED),
        snapshot=True,
        detail=_NEWEST,
    ),
    Route("GET", f"{_S}/{{uuid}}", v1.get_subscriber, "Get a subscriber", views.OneRead),
    Route(
        "GET",
        f"{_S}/{{uuid}}/referrals",
        v1.list_referrals,
        "List a subscriber's referrals",
        views.ReadList,
        query=_PAGED,
        snapshot=True,
        detail=_ALL_STATES,
    ),
    Route(
        "PUT",
        f"{_S}/{{uuid}}",
        v1.update_subscriber,
        "Update a subscriber",
        views.OneWritten,
        bodies.SubscriberUpdate,
        detail=_UPDATE,
    ),
    Route(
        "DELETE",
        f"{_S}/{{uuid}}",
        v1.delete_subscriber,
        "Delete a subscriber",
        views.Message,
        detail=_ERASE,
    ),
)

SUBSCRIBERS_V2 = (
    Route(
        "GET",
        _S2,
        v2.list_subscribers,
        "List subscribers",
        views.PlainList,
        query=("type", "expand", *_PAGED),
        snapshot=True,
        detail=_NEWEST,
    ),
    Route(
        "GET",
        f"{_S2}/{{uuid}}",
        v2.get_subscriber,
        "Get a subscriber",
        views.OnePlain,
        query=("expand",),
    ),
    Route(
        "GET",
        f"{_S2}/{{uuid}}/referrals",
        v2.list_referrals,
        "List a subscriber's referrals",
        views.CountedList,
        query=("expand", *_PAGED),
        snapshot=True,
        detail=_ALL_STATES,
    ),
    Route(
        "POST",
        "/v2/subscribers",
        v1.create_subscriber,
        "Create a subscriber",
        views.OneWritten,
        bodies.SubscriberCreate,
        201,
        detail=_OWN + _CREATE,
    ),
    Route(
        "GET",
        "/v2/subscribers",
        v2.list_subscribers,
        "List subscribers",
        views.PlainList,
        query=("type", "expand", *_PAGED),
        snapshot=True,
        detail=_OWN + _NEWEST,
    ),
    Route(
        "GET",
        "/v2/subscribers/{uuid}",
        v2.get_subscriber,
        "Get a subscriber",
        views.OnePlain,
        query=("expand",),
        detail=_OWN.strip(),
    ),
    Route(
        "PUT",
        "/v2/subscribers/{uuid}",
        v1.update_subscriber,
        "Update a subscriber",
        views.OneWritten,
        bodies.SubscriberUpdate,
        detail=_OWN + _UPDATE,
    ),
    Route(
        "DELETE",
        "/v2/subscribers/{uuid}",
        v1.delete_subscriber,
        "Delete a subscriber",
        views.Message,
        detail=_OWN + _ERASE,
    ),
)

ROUTES: tuple[Route, ...] = (
    *CAMPAIGNS,
    *SUBSCRIBERS_V1,
    *SUBSCRIBERS_V2,
    *referrals.ROUTES,
    *rewards.ROUTES,
    *webhooks.ROUTES,
    *publications.ROUTES,
    *partners.ROUTES,
)
