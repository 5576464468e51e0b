"""Every API route, one row each. The handler serves this table and the OpenAPI document describes it."""

from __future__ import annotations

from honeyguide.api import bodies, v1, v2, views
from honeyguide.api.call import Route

_C = "/v1/campaigns"
_S = "/v1/campaigns/{campaign_uuid}/subscribers"
_S2 = "/v2/campaigns/{campaign_uuid}/subscribers"
_PAGED = ("page", "per_page")

CAMPAIGNS = (
    Route("GET", _C, v1.list_campaigns, "List campaigns", views.Campaigns),
    Route("GET", f"{_C}/{{campaign_uuid}}", v1.get_campaign, "Get a campaign", views.OneCampaign),
    Route("PUT", f"{_C}/{{campaign_uuid}}", v1.update_campaign, "Update a campaign", views.OneCampaign, bodies.CampaignUpdate),
)

SUBSCRIBERS_V1 = (
    Route("POST", _S, v1.create_subscriber, "Create a subscriber", views.OneWritten, bodies.SubscriberCreate, 201),
    Route("GET", _S, v1.list_subscribers, "List subscribers", views.ReadList, query=("type", *_PAGED), snapshot=True),
    Route("GET", f"{_S}/{{uuid}}", v1.get_subscriber, "Get a subscriber", views.OneRead),
    Route("GET", f"{_S}/{{uuid}}/referrals", v1.list_referrals, "List a subscriber's referrals", views.ReadList,
          query=_PAGED, snapshot=True, detail="All of them, whatever their status."),
    Route("PUT", f"{_S}/{{uuid}}", v1.update_subscriber, "Update a subscriber", views.OneWritten, bodies.SubscriberUpdate),
    Route("DELETE", f"{_S}/{{uuid}}", v1.delete_subscriber, "Erase a subscriber", views.Message),
)  # fmt: skip

SUBSCRIBERS_V2 = (
    Route("GET", _S2, v2.list_subscribers, "List subscribers", views.PlainList, query=("type", "expand", *_PAGED), snapshot=True),
    Route("GET", f"{_S2}/{{uuid}}", v2.get_subscriber, "Get a subscriber", views.OnePlain, query=("expand",)),
    Route("GET", f"{_S2}/{{uuid}}/referrals", v2.list_referrals, "List a subscriber's referrals", views.CountedList,
          query=("expand", *_PAGED), snapshot=True, detail="All of them, whatever their status."),
    # Beyond the specification, because real clients call them: the account's campaign needs no naming.
    Route("POST", "/v2/subscribers", v1.create_subscriber, "Create a subscriber", views.OneWritten, bodies.SubscriberCreate, 201),
    Route("GET", "/v2/subscribers", v2.list_subscribers, "List subscribers", views.PlainList,
          query=("type", "expand", *_PAGED), snapshot=True),
    Route("GET", "/v2/subscribers/{uuid}", v2.get_subscriber, "Get a subscriber", views.OnePlain, query=("expand",)),
    Route("PUT", "/v2/subscribers/{uuid}", v1.update_subscriber, "Update a subscriber", views.OneWritten, bodies.SubscriberUpdate),
    Route("DELETE", "/v2/subscribers/{uuid}", v1.delete_subscriber, "Erase a subscriber", views.Message),
)  # fmt: skip

ROUTES: tuple[Route, ...] = (*CAMPAIGNS, *SUBSCRIBERS_V1, *SUBSCRIBERS_V2)
