"""The filter of the subscriber list as a form, and the filters that an operator saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import NamedTuple
from urllib.parse import parse_qsl

from starlette.responses import Response

from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats, undo
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.forms import Field
from honeyguide.rewards import rewards
from honeyguide.signups import delayed_kinds
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import origins, saved_filters, subscriber_filters, tags
from honeyguide.subscribers.subscriber_filters import SubscriberFilter

Options = tuple[tuple[str, str], ...]

FIELDS = {
    "q": Field("Search"),
    "status": Field("Subscription"),
    "referral": Field("Referral"),
    "referred_by": Field("Referred by"),
    "origin": Field("Source"),
    "utm_source": Field("UTM source"),
    "utm_campaign": Field("UTM campaign"),
    "joined_from": Field("Joined from"),
    "joined_to": Field("Joined until"),
    "min_referrals": Field("Referrals at least"),
    "max_referrals": Field("Referrals at most"),
    "reward": Field("Earned reward"),
    "tag": Field("Tag"),
}
CHOICES: dict[str, Options] = {
    "status": (
        ("active", "Active"),
        ("confirmed", "Confirmed"),
        ("unsubscribed", "Unsubscribed"),
    ),
    "referral": (("verified", "Verified"), ("pending", "Pending"), ("rejected", "Rejected")),
    "referred_by": (
        ("anyone", "Anyone"),
        ("subscriber", "A subscriber"),
        ("partner", "A partner"),
        ("nobody", "Nobody"),
        ("unknown", "An unknown code"),
    ),
    "origin": (*origins.LABELS.items(), (subscriber_filters.NOT_IMPORTED, "Any except import")),
}
SORTS: Options = (
    ("newest", "Newest first"),
    ("oldest", "Oldest first"),
    ("best", "Most referrals first"),
)


class FilterInUse(NamedTuple):
    """One condition of the filter in words, and the list without it."""

    label: str
    value: str
    without: str


class FilterForm(NamedTuple):
    values: Mapping[str, str]
    choices: Mapping[str, Options]
    sorts: Options
    tags: list[str]
    in_use: list[FilterInUse]


async def load(at: Reading, filters: SubscriberFilter, typed: Mapping[str, str]) -> FilterForm:
    """`typed` is what to show again when it was wrong."""
    earnable = tuple((each.id, each.name) for each in await at.fact(rewards.of_campaign))
    choices = {**CHOICES, "reward": earnable}
    return FilterForm(
        values={**filters.fields, **typed},
        choices=choices,
        sorts=SORTS,
        tags=await tags.in_use(at),
        in_use=[] if typed else _in_use(filters, choices),
    )


def _in_use(filters: SubscriberFilter, choices: Mapping[str, Options]) -> list[FilterInUse]:
    found = []
    for name, value in filters.fields.items():
        if name not in FIELDS:
            continue
        text = dict(choices.get(name, ())).get(value, value)
        if name in ("joined_from", "joined_to"):
            text = formats.date_in_words(date.fromisoformat(value))
        rest = {key: each for key, each in filters.fields.items() if key != name}
        if name == "min_referrals" and filters.sort == "best":
            rest.pop("sort")  # which would bring the condition back
        without = subscriber_filters.read_filter(rest)[0].query
        found.append(FilterInUse(FIELDS[name].label, text, f"/subscribers?{without}"))
    return found


def errors_of(faults: Iterable[Invalid]) -> dict[str, str]:
    """What to say next to each field."""
    errors: dict[str, str] = {}
    for fault in faults:
        errors |= forms.errors_of(fault, FIELDS)
    return errors


async def change(change: Change, request: PageRequest) -> Response:
    """Saves the filter of the list under a name, or deletes a saved one."""
    if request.text("do") == "delete":
        ids = [request.text("id")]
        return await undo.delay(change, request, delayed_kinds.DELETE_FILTER, ids, "/subscribers")
    filters, _ = subscriber_filters.read_filter(dict(parse_qsl(request.text("query"))))
    where = f"/subscribers?{filters.query}"
    if filters.is_everybody:
        return request.go(where, "Choose at least one filter before you save it.")
    try:
        await saved_filters.save(change, request.text("name"), filters)
    except Invalid as fault:
        return request.go(where, forms.errors_of(fault, NAME)["name"])
    return request.go(where, f"Filter saved as “{formats.isolated(request.text('name'))}”.")


NAME = {"name": Field("Name", "Enter a name for the filter.")}
