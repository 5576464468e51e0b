"""What every kind of response has in common, and the campaign. Views have exactly the
specification's keys; v1 and v2 differ only in views and in `bodies`."""

from __future__ import annotations

from typing import Annotated

import msgspec

from honeyguide.kernel import paging, public
from honeyguide.kernel.clock import iso
from honeyguide.kernel.public import doc
from honeyguide.kernel.site import Site
from honeyguide.referrals.campaigns import Campaign

META = doc("Page number and totals.")
Total = Annotated[int, doc("Items in the whole list.", 1, minimum=0)]


class View(msgspec.Struct, frozen=True, omit_defaults=False):
    """Encoded as it is declared, key by key."""


class Message(View, frozen=True):
    message: Annotated[str, doc("What was done.", "Done.")]


class PageMeta(View, frozen=True):
    """Each list adds its total, under a name of its own."""

    per_page: Annotated[int, doc("Items per page.", 50, minimum=1, maximum=paging.MOST_PER_PAGE)]
    page: Annotated[int, doc("Page number.", 1, minimum=1)]
    total_pages: Annotated[int, doc("Number of pages.", 1, minimum=0)]


class CampaignView(View, frozen=True):
    uuid: public.CampaignUuid
    name: public.CampaignName


class OneCampaign(View, frozen=True):
    campaign: CampaignView


class Campaigns(View, frozen=True):
    campaigns: list[CampaignView]


class CampaignSettingsView(View, frozen=True):
    screening: public.Screening
    hold_days: public.HoldDays
    needs_confirmation: public.NeedsConfirmation
    destination_url: public.DestinationUrl | None
    slug: public.Slug
    signup_page_url: Annotated[public.Url, doc("URL of the hosted signup page.")]


class OneSettings(View, frozen=True):
    settings: CampaignSettingsView


def campaign_view(campaign: Campaign) -> CampaignView:
    return CampaignView(campaign.id, campaign.name)


def settings_view(site: Site, campaign: Campaign) -> OneSettings:
    return OneSettings(
        CampaignSettingsView(
            screening=campaign.screening,
            hold_days=campaign.hold_days,
            needs_confirmation=bool(campaign.needs_confirmation),
            destination_url=campaign.destination_url,
            slug=campaign.slug,
            signup_page_url=site.page_link(campaign.slug),
        )
    )


def iso_or_none(ms: int | None) -> str | None:
    return None if ms is None else iso(ms)
