"""What every kind of response has in common, and the campaign. Views have exactly the
specification's keys; v1 and v2 differ only in views and in `bodies`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import Decimal
from operator import attrgetter
from types import NoneType
from typing import Annotated, Any, Generic, TypeVar, get_type_hints

import msgspec

from honeyguide.kernel import fields, paging, public
from honeyguide.kernel.clock import iso
from honeyguide.kernel.money import dollars
from honeyguide.kernel.public import doc
from honeyguide.kernel.site import Site
from honeyguide.store.rows import Read
from honeyguide.subscribers.campaigns import Campaign, HoldDays, LinkParameters, Screening

META = doc("Page number and totals.")
Total = Annotated[int, doc("Items in the whole list.", 1, minimum=0)]


class View(msgspec.Struct, frozen=True, omit_defaults=False):
    """Encoded as it is declared, key by key."""


V = TypeVar("V", bound=View)
R = TypeVar("R")


class Filler(Generic[R, V]):
    """Fills views from rows: what `find` takes from a row, what is given, and some of it read."""

    def __init__(
        self,
        view: type[V],
        find: Callable[[R], tuple[Any, ...]],
        readers: list[tuple[int, Read]],
        missing: dict[str, int],
    ) -> None:
        self._view, self._find, self._readers, self._missing = view, find, readers, missing

    def _add(self, given: dict[str, Any], values: list[Any]) -> None:
        if given.keys() != self._missing.keys():
            raise TypeError(f"{self._view.__name__} needs {[*self._missing]}, not {[*given]}")
        for name, place in self._missing.items():
            values.insert(place, given[name])

    def __call__(self, row: R, /, **given: Any) -> V:
        values = list(self._find(row))
        if given or self._missing:
            self._add(given, values)
        for place, read in self._readers:
            values[place] = read(values[place])
        return self._view(*values)

    def all(self, rows: Sequence[R], /, **given: Sequence[Any]) -> list[V]:
        """The same for many rows, field by field, which takes less time for each."""
        if not rows:
            return []
        columns: list[Iterable[Any]] = list(zip(*map(self._find, rows), strict=True))
        self._add(given, columns)
        for place, read in self._readers:
            columns[place] = map(read, columns[place])
        return list(map(self._view, *columns))


def filler(
    view: type[V],
    row: type[R],
    given: Collection[str] = (),
    **sources: str | tuple[str, Callable[[Any], Any]],
) -> Filler[R, V]:
    """A function that fills the view from a row of the database.

    Each field has the column of its name, as the type of the field reads it: `uuid` is `id`, a
    `created_at` comes from `created_ms`, a `Decimal` `fee` from `fee_cents`. `sources` says so for
    a field of which this is not true: its column, and what to make of it. A field that the row
    knows nothing of is given with each call, and so is what `given` names.
    """
    hints = get_type_hints(view, include_extras=True)
    columns: list[str] = []
    readers: list[tuple[int, Read]] = []
    missing: dict[str, int] = {}
    for place, name in enumerate(view.__struct_fields__):
        source = sources.get(name) or _source(name, hints[name])
        column, read = (source, None) if isinstance(source, str) else source
        if name in given or not hasattr(row, column):
            missing[name] = place
            continue
        columns.append(column)
        if read is not None:
            readers.append((place, read))
    return Filler(view, attrgetter(*columns), readers, missing)


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
        return f"{name.removesuffix('at')}ms", iso_or_none if NoneType in kinds else iso
    if Decimal in kinds:
        return f"{name}_cents", _dollars_or_none if NoneType in kinds else dollars
    return name, None


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
