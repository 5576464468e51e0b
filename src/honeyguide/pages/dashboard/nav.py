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
class NavLink:
    name: str
    path: str
    count: str = ""  # the number shown beside it
    admin_only: bool = False


@dataclass(frozen=True)
class NavGroup:
    name: str
    places: tuple[NavLink, ...]


PARTS: tuple[NavGroup, ...] = (
    NavGroup(
        "",
        (
            NavLink("Overview", "/"),
            NavLink("Subscribers", "/subscribers"),
            NavLink("Review referrals", "/review", count="review"),
            NavLink("Rewards", "/rewards"),
            NavLink("Pages", "/pages"),
        ),
    ),
    NavGroup(
        "Partners",
        (
            NavLink("Publications", "/publications"),
            NavLink("Partner program", "/program"),
            NavLink("Network", "/network"),
            NavLink("Earnings", "/earnings"),
            NavLink("Payouts", "/payouts"),
        ),
    ),
    NavGroup("Developers", (NavLink("Webhooks", "/webhooks"), NavLink("API reference", "/docs"))),
    NavGroup(
        "",
        (
            NavLink("Notifications", "/notices", count="notices"),
            NavLink("Account", "/account"),
            NavLink("Settings", "/settings"),
            NavLink("Administration", "/administration", admin_only=True),
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
