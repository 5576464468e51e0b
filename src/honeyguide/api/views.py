"""What every kind of response has in common, and the campaign. Views have exactly the
specification's keys; v1 and v2 differ only in views and in `bodies`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from decimal import Decimal
from types import NoneType
from typing import Annotated, Any, Protocol, TypeVar, get_type_hints

import msgspec

from honeyguide.kernel import fields, paging, public
from honeyguide.kernel.clock import iso
from honeyguide.kernel.money import dollars
from honeyguide.kernel.public import doc
from honeyguide.kernel.site import Site
from honeyguide.subscribers.campaigns import Campaign, HoldDays, LinkParameters, Screening

META = doc("Page number and totals.")
Total = Annotated[int, doc("Items in the whole list.", 1, minimum=0)]


class View(msgspec.Struct, frozen=True, omit_defaults=False):
    """Encoded as it is declared, key by key."""


_decode_list = msgspec.json.Decoder(list[Any]).decode

V_co = TypeVar("V_co", bound=View, covariant=True)
R_contra = TypeVar("R_contra", contravariant=True)


class Filler(Protocol[R_contra, V_co]):
    def __call__(self, row: R_contra, /, **given: Any) -> V_co: ...


def filler(
    view: type[V_co],
    row: type[R_contra],
    given: Collection[str] = (),
    **sources: str | tuple[str, Callable[[Any], Any]],
) -> Filler[R_contra, V_co]:
    """A function that fills the view from a row of the database.

    Each field has the column of its name, as the type of the field reads it: `uuid` is `id`, a
    `created_at` comes from `created_ms`, a `Decimal` `fee` from `fee_cents`, a flag from 0 or 1, a
    list from JSON. `sources` says so for a field of which this is not true: its column, and what
    to make of it. A field that the row knows nothing of is given with each call, and so is what
    `given` names.
    """
    hints = get_type_hints(view, include_extras=True)
    names: dict[str, Any] = {"view": view}
    parameters, values = [], []
    for name in view.__struct_fields__:
        source = sources.get(name) or _source(name, hints[name])
        column, convert = (source, None) if isinstance(source, str) else source
        if name in given or not hasattr(row, column):
            parameters.append(name)
            values.append(name)
        elif convert is None:
            values.append(f"row.{column}")
        else:
            names[f"read_{name}"] = convert
            values.append(f"read_{name}(row.{column})")
    # Long lists are made of views, and a loop over the fields would take twice as long.
    keywords = f"*, {', '.join(parameters)}" if parameters else ""
    made: Filler[R_contra, V_co] = eval(
        f"lambda row, /, {keywords}: view({', '.join(values)})", names
    )
    return made


def _dollars_or_none(cents: int | None) -> Decimal | None:
    return None if cents is None else dollars(cents)


def _flag_or_none(flag: int | None) -> bool | None:
    return None if flag is None else bool(flag)


def iso_or_none(ms: int | None) -> str | None:
    return None if ms is None else iso(ms)


def _source(name: str, hint: Any) -> tuple[str, Callable[[Any], Any] | None]:
    """The column of a view's field, and how it is read."""
    kinds, _ = fields.plain_types(hint)
    if name == "uuid" or name.endswith("_uuid"):
        return f"{name.removesuffix('uuid')}id", None
    if name.endswith("_at"):
        return f"{name.removesuffix('at')}ms", iso_or_none
    if Decimal in kinds:
        return f"{name}_cents", _dollars_or_none
    if bool in kinds:
        return name, _flag_or_none if NoneType in kinds else bool
    return name, _decode_list if list in kinds else None


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


class CampaignList(View, frozen=True):
    campaigns: list[CampaignView]


class CampaignSettingsView(View, frozen=True):
    screening: Screening
    hold_days: HoldDays
    needs_confirmation: public.NeedsConfirmation
    destination_url: public.DestinationUrl | None
    slug: public.Slug
    link_parameters: LinkParameters
    signup_page_url: Annotated[public.Url, doc("URL of the hosted signup page.")]


class OneCampaignSettings(View, frozen=True):
    settings: CampaignSettingsView


def campaign_view(campaign: Campaign) -> CampaignView:
    return CampaignView(campaign.id, campaign.name)


_fill_settings = filler(CampaignSettingsView, Campaign)


def settings_view(site: Site, campaign: Campaign) -> OneCampaignSettings:
    url = site.page_link(campaign.slug)
    return OneCampaignSettings(_fill_settings(campaign, signup_page_url=url))
