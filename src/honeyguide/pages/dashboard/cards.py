"""The card of a publication or program in the partner network."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from honeyguide.kernel import money
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.formats import label
from honeyguide.partners.network import NetworkProgram
from honeyguide.partners.publications import Publication


class Terms(NamedTuple):
    """What a partner earns and when. `budget_left` is one of the network's words for it."""

    cpa_cents: int | None
    """None while the fee is being typed and cannot be read."""
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


def audience(gender: str, ages: Iterable[str]) -> str:
    return " · ".join(filter(None, (label(gender), ", ".join(map(label, ages)))))


def of_network_program(program: NetworkProgram) -> Card:
    terms = Terms(
        program.cpa_cents,
        hold(program.referral_pending_duration, program.referral_pending_duration_enabled),
        rate(program.confirmation_rate),
        program.budget_left,
    )
    return Card(
        name=program.publication_name,
        description=program.publication_description or "",
        logo=f"/logos/{program.logo_id}",
        audience=audience(program.audience_gender, program.age_ranges),
        categories=program.categories,
        terms=terms,
    )


def of_publication(publication: Publication) -> Card:
    return Card(
        name=publication.name,
        description=publication.description or "",
        logo=f"/logos/{publication.logo_id}",
        audience=audience(publication.audience_gender, publication.age_ranges),
        categories=publication.categories,
    )


def priced(
    card: Card, *, cpa_cents: int | None, days: int, waits: bool, known: Terms | None
) -> Card:
    """The same card with the terms that are being typed. `known` is what the network shows of the
    program already; one that is new to it has neither a rate nor spent anything."""
    confirmed, budget_left = (
        (known.confirmed, known.budget_left) if known else (rate(None), "plenty")
    )
    return card._replace(terms=Terms(cpa_cents, hold(days, waits), confirmed, budget_left))


SHOWN: dict[str, Any] = {
    "money": money.show,
    "hold": hold,
    "rate": rate,
    "card_of": of_network_program,
}
