"""The menu of the dashboard: six groups of pages, and the account menu. Somebody who is only a
partner has a menu of their own. Each is one table, in the order shown; search reads them too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from honeyguide.accounts import members
from honeyguide.accounts.members import Membership
from honeyguide.accounts.sessions import Visitor
from honeyguide.pages import guide
from honeyguide.pages.dashboard import formats
from honeyguide.partners import partner_only
from honeyguide.signups import open_work
from honeyguide.store.reading import Reading
from honeyguide.subscribers import branding, page_index


@dataclass(frozen=True)
class NavPage:
    name: str
    path: str
    icon: str = ""
    count: str = ""  # which number is shown beside it
    also: tuple[str, ...] = ()  # other addresses that belong to it
    keywords: str = ""  # what else somebody may look for it by


@dataclass(frozen=True)
class NavGroup:
    name: str
    icon: str
    pages: tuple[NavPage, ...]
    is_tab: bool = False  # whether it has a tab at the bottom of a phone
    has_tabs: bool = False  # whether its pages are tabs of one place


LOOK = (
    NavPage(
        "Branding", "/look/branding", keywords="logo color accent share picture consent language"
    ),
    NavPage("Pages", "/look/pages", keywords="signup thank-you referral page texts hub"),
    NavPage("Emails", "/look/emails", keywords="email texts stopped unsubscribed"),
    NavPage(
        "Newsletter", "/look/newsletter", keywords="newsletter block merge tags referral links csv"
    ),
    NavPage("Embed", "/look/embed", keywords="website form script widget"),
)

GROUPS: tuple[NavGroup, ...] = (
    NavGroup("Home", "home", (NavPage("Home", "/", keywords="overview figures"),), is_tab=True),
    NavGroup(
        "People",
        "people",
        (
            NavPage("Subscribers", "/subscribers", keywords="people list search filters tags"),
            NavPage("Review", "/review", count="review", keywords="suspicious referrals fraud"),
            NavPage("Import", "/subscribers/import", keywords="upload csv move sparkloop"),
        ),
        is_tab=True,
    ),
    NavGroup(
        "Rewards",
        "gift",
        (
            NavPage("Rewards", "/rewards", count="rewards", keywords="milestones coupon approve"),
            NavPage("Shipments", "/shipments", count="shipments", keywords="parcels addresses"),
        ),
        is_tab=True,
    ),
    NavGroup("Look", "palette", LOOK, has_tabs=True),
    NavGroup(
        "Partners",
        "link",
        (
            NavPage("Program", "/program", keywords="partner program fee budget partners"),
            NavPage("Publications", "/publications", keywords="newsletter logo categories"),
            NavPage("Payouts", "/payouts", also=("/statements",), keywords="statements fees money"),
        ),
        is_tab=True,
    ),
    NavGroup(
        "Earn",
        "money",
        (
            NavPage("Earnings", "/earnings", keywords="joined programs money links"),
            NavPage("Network", "/network", keywords="find programs join recommend"),
        ),
    ),
)

# What somebody needs who only recommends others.
PARTNER_GROUPS: tuple[NavGroup, ...] = (
    NavGroup("Earnings", "money", (NavPage("Earnings", "/earnings"),), is_tab=True),
    NavGroup("Find programs", "search", (NavPage("Find programs", "/network"),), is_tab=True),
    NavGroup(
        "Payouts", "bank", (NavPage("Payouts", "/payouts", also=("/statements",)),), is_tab=True
    ),
    NavGroup("Your newsletter", "home", (NavPage("Your newsletter", "/"),), is_tab=True),
)

PARTNER_HOME = PARTNER_GROUPS[0].pages[0].path

NOTIFICATIONS = NavPage("Notifications", "/notices", "notification", count="notices")

ACCOUNT: tuple[NavPage, ...] = (
    NavPage(
        "Settings", "/settings", "settings", keywords="campaign screening time zone link hosts"
    ),
    NavPage("Account", "/account", "lock", keywords="profile invite"),
    NavPage(
        "Security", "/account/security", "shield", keywords="password second factor sessions login"
    ),
    NavPage("API keys", "/account/keys", "key", keywords="developers tokens scopes rotate revoke"),
    NavPage("Team", "/team", "people", keywords="members roles invite colleague owner"),
    NavPage("Change log", "/account/changes", "clock", keywords="history who changed audit"),
    NavPage("Email tool", "/integrations", "email", keywords="integrations sync mailchimp kit"),
    NavPage("Notification choices", "/notices/preferences", "notification", keywords="slack email"),
    NavPage("Webhooks", "/webhooks", "code", keywords="developers events deliveries"),
    NavPage("API reference", "/docs", "globe", keywords="developers api openapi"),
    NavPage("Guide", f"{guide.PATH}/", "book", keywords="documentation help manual how to"),
    NavPage(
        "Administration",
        "/administration",
        "server",
        keywords="health backups jobs accounts payouts ledger",
    ),
)

# A larger count is shown as "99+".
MOST_SHOWN = 99


@dataclass(frozen=True)
class ShownPage:
    name: str
    path: str
    icon: str
    count: str
    is_here: bool


@dataclass(frozen=True)
class ShownGroup:
    name: str
    path: str
    icon: str
    count: str
    """Of all its pages together."""
    pages: list[ShownPage]
    is_here: bool
    """Whether it has the current page. Then its pages are listed."""
    is_tab: bool
    has_tabs: bool


class Menu(NamedTuple):
    groups: list[ShownGroup]
    account: list[ShownPage]
    notifications: ShownPage
    home: str
    logo_url: str
    subscribers: int | None
    """None for somebody who is only a partner."""
    newsletters: list[Membership]
    """All that the visitor can switch to, this one too."""


class MenuFacts(NamedTuple):
    """What the menu shows besides its names."""

    counts: dict[str, int]
    is_partner_only: bool
    logo_id: str | None
    subscribers: int
    newsletters: list[Membership]


def arrange(facts: MenuFacts, path: str, *, may_see: Callable[[str], bool]) -> Menu:
    """The menu with its counts and the current page."""
    # Somebody who is only a partner may begin with a newsletter of their own: where its pages are,
    # the menu has them all.
    is_partners = facts.is_partner_only and not _is_of_owners(path)
    groups = PARTNER_GROUPS if is_partners else GROUPS
    every = [page for group in groups for page in group.pages]
    here = _current(path, [*every, *ACCOUNT, NOTIFICATIONS])

    def shown(page: NavPage) -> ShownPage:
        count = _up_to_most(facts.counts.get(page.count, 0))
        return ShownPage(page.name, page.path, page.icon, count, page is here)

    return Menu(
        groups=[
            ShownGroup(
                name=group.name,
                path=group.pages[0].path,
                icon=group.icon,
                count=_up_to_most(sum(facts.counts.get(page.count, 0) for page in group.pages)),
                pages=[shown(page) for page in group.pages],
                is_here=here in group.pages,
                is_tab=group.is_tab,
                has_tabs=group.has_tabs,
            )
            for group in groups
        ],
        account=[shown(page) for page in ACCOUNT if may_see(page.path)],
        notifications=shown(NOTIFICATIONS),
        home=groups[0].pages[0].path,
        logo_url=f"/logos/{facts.logo_id}" if facts.logo_id else "",
        subscribers=None if is_partners else facts.subscribers,
        newsletters=facts.newsletters,
    )


async def is_partner_only(at: Reading, who: Visitor) -> bool:
    return not who.is_admin and await partner_only.is_partner_only(at)


async def load(at: Reading, who: Visitor) -> MenuFacts:
    """What the menu shows, read with the page that has it."""
    work = await at.fact(open_work.counts)
    counts = {
        "review": work.to_review + work.looks + work.ended_fees,
        "rewards": work.to_approve + work.claims,
        "shipments": work.to_send,
        "notices": work.unread,
    }
    brand = await at.fact(branding.of)
    subscribers = await at.fact(page_index.total_of, "all")
    newsletters = await members.of_user(at.tx, who.user_id)
    return MenuFacts(
        counts, await is_partner_only(at, who), brand.logo_id, subscribers, newsletters
    )


def _is_of_owners(path: str) -> bool:
    """Whether it is a page that somebody who is only a partner has no entry for."""
    owners = [page for group in GROUPS for page in group.pages]
    partners = {page.path for group in PARTNER_GROUPS for page in group.pages}
    here = _current(path, [*owners, *ACCOUNT, NOTIFICATIONS])
    return here in owners and (here.path == "/" or here.path not in partners)


def _current(path: str, pages: Iterable[NavPage]) -> NavPage | None:
    """The page that is shown at this path: of several, the one with the longest address."""
    found = [(address, page) for page in pages for address in (page.path, *page.also)]
    fitting = [(address, page) for address, page in found if _is_at(address, path)]
    return max(fitting, key=lambda each: len(each[0]))[1] if fitting else None


def _is_at(address: str, path: str) -> bool:
    return path == address or (address != "/" and path.startswith(f"{address}/"))


def _up_to_most(count: int) -> str:
    return formats.up_to(MOST_SHOWN, count) if count else ""
