"""The way around, as one table: what is built is shown, in the order of the table."""

from __future__ import annotations

from dataclasses import dataclass

from honeyguide.pages.desk import Desk
from honeyguide.referrals import days
from honeyguide.referrals.campaigns import Owner
from honeyguide.store.tx import Tx


@dataclass(frozen=True)
class Place:
    name: str
    path: str
    count: str = ""  # the number shown beside it


@dataclass(frozen=True)
class Part:
    name: str
    places: tuple[Place, ...]


PARTS: tuple[Part, ...] = (
    Part(
        "",
        (
            Place("Overview", "/"),
            Place("Subscribers", "/subscribers"),
            Place("Review", "/review", count="review"),
            Place("Rewards", "/rewards"),
            Place("Pages", "/pages"),
        ),
    ),
    Part("Partners", ()),
    Part("Build", (Place("Webhooks", "/webhooks"), Place("API", "/api"))),
    Part("", (Place("Settings", "/settings"),)),
)

# A count above this is shown as "99+": more says nothing more.
MOST_SHOWN = 99


@dataclass(frozen=True)
class Shown:
    name: str
    path: str
    count: str
    is_here: bool


async def shown(desk: Desk, owner: Owner, path: str) -> list[tuple[str, list[Shown]]]:
    """The table with counts filled in and the current place marked; parts without places are left out."""

    async def count(tx: Tx) -> int:
        return await days.waiting(tx, owner, most=MOST_SHOWN + 1)

    waiting = await desk.store.read(count)
    counts = {"review": f"{MOST_SHOWN}+" if waiting > MOST_SHOWN else str(waiting or "")}
    return [
        (part.name, [Shown(p.name, p.path, counts.get(p.count, ""), _is_here(p.path, path)) for p in part.places])
        for part in PARTS
        if part.places
    ]


def _is_here(place: str, path: str) -> bool:
    return path == place if place == "/" else path == place or path.startswith(f"{place}/")
