"""The way around, as one table: what is built is shown, in the order of the table."""

from __future__ import annotations

from dataclasses import dataclass

from honeyguide.accounts.sessions import Visitor
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import notifications
from honeyguide.pages.dashboard import formats
from honeyguide.pages.services import PageServices
from honeyguide.referrals import daily_counts
from honeyguide.store.tx import Tx


@dataclass(frozen=True)
class Place:
    name: str
    path: str
    count: str = ""  # the number shown beside it
    admin_only: bool = False


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
            Place("Review referrals", "/review", count="review"),
            Place("Rewards", "/rewards"),
            Place("Pages", "/pages"),
        ),
    ),
    Part(
        "Partners",
        (
            Place("Publications", "/publications"),
            Place("Partner program", "/program"),
            Place("Network", "/network"),
            Place("Earnings", "/earnings"),
            Place("Payouts", "/payouts"),
        ),
    ),
    Part("Developers", (Place("Webhooks", "/webhooks"), Place("API reference", "/docs"))),
    Part(
        "",
        (
            Place("Notifications", "/notices", count="notices"),
            Place("Account", "/account"),
            Place("Settings", "/settings"),
            Place("Administration", "/administration", admin_only=True),
        ),
    ),
)

# A count above this is shown as "99+": more says nothing more.
MOST_SHOWN = 99


@dataclass(frozen=True)
class Shown:
    name: str
    path: str
    count: str
    is_here: bool


async def shown(
    services: PageServices, who: Visitor, path: str
) -> tuple[list[tuple[str, list[Shown]]], str]:
    """The table with counts filled in and the current place marked; and how many notices nobody has read."""

    async def count(tx: Tx) -> tuple[int, int]:
        waiting = await daily_counts.suspected(
            tx, Tenant(who.account_id, who.campaign_id), most=MOST_SHOWN + 1
        )
        return waiting, await notifications.unread(tx, who.account_id)

    waiting, unread = await services.store.read(count)
    counts = {"review": _up_to_most(waiting), "notices": _up_to_most(unread)}
    parts = [
        (
            part.name,
            [
                Shown(p.name, p.path, counts.get(p.count, ""), _is_here(p.path, path))
                for p in part.places
                if who.is_admin or not p.admin_only
            ],
        )
        for part in PARTS
    ]
    return parts, counts["notices"]


def _up_to_most(count: int) -> str:
    return formats.up_to(MOST_SHOWN, count) if count else ""


def _is_here(place: str, path: str) -> bool:
    return path == place if place == "/" else path == place or path.startswith(f"{place}/")
