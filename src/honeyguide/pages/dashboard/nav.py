"""The menu of the dashboard, as one table in the order shown."""

from __future__ import annotations

from dataclasses import dataclass

from honeyguide.accounts.sessions import Visitor
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import notifications
from honeyguide.pages.dashboard import formats
from honeyguide.pages.services import PageServices
from honeyguide.referrals import daily_counts, shipments
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
            NavLink("Shipments", "/shipments", count="shipments"),
            NavLink("Pages", "/pages"),
            NavLink("Branding", "/branding"),
            NavLink("Emails", "/emails"),
            NavLink("Newsletter block", "/newsletter"),
            NavLink("Embed", "/embed"),
            NavLink("Integrations", "/integrations"),
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

# A larger count is shown as "99+".
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
    """The menu with its counts and the current page, and the number of unread notifications."""
    found = await services.store.read(_counts, who)
    counts = {name: _up_to_most(count) for name, count in found.items()}
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


async def _counts(tx: Tx, who: Visitor) -> dict[str, int]:
    """Referrals to review, shipments to send and unread notifications."""
    tenant = Tenant(who.account_id, who.campaign_id)
    return {
        "review": await daily_counts.suspected(tx, tenant, most=MOST_SHOWN + 1),
        "shipments": await shipments.count_open(tx, tenant, most=MOST_SHOWN + 1),
        "notices": await notifications.unread(tx, who.account_id),
    }


def _up_to_most(count: int) -> str:
    return formats.up_to(MOST_SHOWN, count) if count else ""


def _is_here(place: str, path: str) -> bool:
    return path == place if place == "/" else path == place or path.startswith(f"{place}/")
