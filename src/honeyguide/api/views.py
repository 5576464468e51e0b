"""What every kind of response has in common, and the campaign. Views have exactly the
specification's keys; v1 and v2 differ only in views and in `bodies`."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from operator import attrgetter
from typing import Annotated, Any, Protocol, TypeVar, get_type_hints

import msgspec

from honeyguide.kernel import fields, paging, public
from honeyguide.kernel.clock import iso
from honeyguide.kernel.money import dollars
from honeyguide.kernel.public import doc
from honeyguide.kernel.site import Site
from honeyguide.referrals.campaigns import Campaign

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
    **sources: str | tuple[str, Callable[[Any], Any]],
) -> Filler[R_contra, V_co]:
    """A function that fills the view from a row of the database.

    Each field has the column of its name, as the type of the field reads it: `uuid` is `id`, a
    `created_at` comes from `created_ms`, a `Decimal` `fee` from `fee_cents`, a flag from 0 or 1, a
    list from JSON. `sources` says so for a field of which this is not true: its column, and what
    to make of it. What is given with a call wins; a field that the row knows nothing of must be.
    """
    columns: list[str] = []
    conversions: list[tuple[int, Callable[[Any], Any]]] = []
    places = {name: place for place, name in enumerate(view.__struct_fields__)}
    unknown: set[str] = set()
    hints = get_type_hints(view, include_extras=True)
    for name, place in places.items():
        column, convert = _source(name, hints[name])
        if name in sources:
            source = sources[name]
            column, convert = (source, convert) if isinstance(source, str) else source
        if not hasattr(row, column):
            unknown.add(name)
            column, convert = "__class__", None  # anything, until it is given
        columns.append(column)
        if convert is not None:
            conversions.append((place, convert))
    pick = attrgetter(*columns)

    def fill(row: R_contra, /, **given: Any) -> V_co:
        assert given.keys() >= unknown, f"{view.__name__} also needs {unknown - given.keys()}"
        values = list(pick(row))
        for place, convert in conversions:
            values[place] = convert(values[place])
        for name, value in given.items():
            values[places[name]] = value
        return view(*values)

    return fill


def _dollars_or_none(cents: int | None) -> Decimal | None:
    return None if cents is None else dollars(cents)


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
    return name, bool if bool in kinds else _decode_list if list in kinds else None


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


_fill_settings = filler(CampaignSettingsView, Campaign)


def settings_view(site: Site, campaign: Campaign) -> OneSettings:
    url = site.page_link(campaign.slug)
    return OneSettings(_fill_settings(campaign, signup_page_url=url))
