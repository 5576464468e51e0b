"""An offer as its card in the network shows it: the real ones, and the one that is being typed."""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.kernel import money
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.labels import label
from honeyguide.partners.network import NetworkProgram
from honeyguide.partners.publications import Publication


class Terms(NamedTuple):
    """What a partner earns and when; `budget_left` is the network's word for it."""

    cpa_cents: int
    hold: str
    confirmed: str
    budget_left: str


class Card(NamedTuple):
    name: str
    description: str
    logo: str
    audience: str
    categories: list[str]
    terms: Terms | None = None


def hold(days: int, enabled: bool) -> str:
    return formats.plural(days, "day") if enabled and days else "None"


def rate(value: float | None) -> str:
    return "No data yet" if value is None else f"{value * 100:.0f}%"


def audience(gender: str, ages: list[str]) -> str:
    return " · ".join(filter(None, (label(gender), ", ".join(map(label, ages)))))


def of_offer(offer: NetworkProgram) -> Card:
    terms = Terms(
        offer.cpa_cents,
        hold(offer.referral_pending_duration, bool(offer.referral_pending_duration_enabled)),
        rate(offer.confirmation_rate),
        offer.budget_left,
    )
    return Card(
        offer.publication_name,
        offer.publication_description or "",
        f"/logos/{offer.logo_id}",
        audience(offer.audience_gender, offer.words("age_ranges")),
        offer.words("categories"),
        terms,
    )


def of_publication(publication: Publication) -> Card:
    return Card(
        publication.name,
        publication.description or "",
        f"/logos/{publication.logo_id}",
        audience(publication.audience_gender, publication.words("age_ranges")),
        publication.words("categories"),
    )


def of_typed(given: dict[str, Any], logo_id: str) -> Card:
    """A publication's form; empty fields get a placeholder."""
    return Card(
        given["name"] or "Your newsletter",
        given["description"] or "A short description.",
        f"/logos/{logo_id}" if logo_id else "",
        audience(given["audience_gender"] or "", given["age_ranges"]),
        given["categories"],
    )


def priced(card: Card, *, cpa_cents: int, days: int, waits: bool) -> Card:
    """The same with an offer that is new to the network."""
    return card._replace(terms=Terms(cpa_cents, hold(days, waits), rate(None), "plenty"))


SHOWN: dict[str, Any] = {"money": money.show, "hold": hold, "rate": rate, "card_of": of_offer}
