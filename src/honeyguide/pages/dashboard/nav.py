"""The menu of the dashboard: six groups of pages, and the rooms of the settings. Somebody who is
only a partner has a menu of their own. Each is one table, in the order shown; search reads them
too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
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
    seen_with: str = ""  # an address that only those open who find it on its page

    @property
    def is_part(self) -> bool:
        """Whether it is a part of another page."""
        return "#" in self.path


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

SETTINGS = NavPage("Settings", "/settings/rooms", "settings", keywords="rooms preferences")
GUIDE = NavPage("Guide", f"{guide.PATH}/", "book", keywords="documentation help manual how to")


@dataclass(frozen=True)
class Room:
    """Of the settings. It lists its pages, and finds the parts of each by name."""

    name: str
    about: str
    icon: str
    pages: tuple[NavPage, ...]


_ADMINISTRATION = "/administration"
_RUNS_IT = f"{_ADMINISTRATION}/proof"

ROOMS: tuple[Room, ...] = (
    Room(
        "You",
        "Name, password, second factor, notifications",
        "lock",
        (
            NavPage("Account", "/account", keywords="profile close"),
            NavPage("Account name", "/account#profile", keywords="profile"),
            NavPage("Your name", "/account#password", keywords="login colleagues"),
            NavPage("Security", "/account/security", keywords="login"),
            NavPage("Password", "/account/security#password", keywords="login change"),
            NavPage(
                "Second factor",
                "/account/security#second-factor",
                keywords="step 2fa totp authenticator phone recovery codes",
            ),
            NavPage("Email address", "/account/security#email", keywords="login change"),
            NavPage("Sessions", "/account/security#sessions", keywords="logged in devices log out"),
            NavPage("Notification choices", "/notices/preferences", keywords="slack email notices"),
        ),
    ),
    Room(
        "Newsletter",
        "Name, links, when a referral counts, time zone",
        "settings",
        (
            NavPage("Campaign", "/settings", keywords="settings newsletter"),
            NavPage("Name of the newsletter", "/settings#f-name", keywords="rename"),
            NavPage("Where links lead", "/settings#f-destination_url", keywords="url destination"),
            NavPage("Signup page", "/settings#f-slug", keywords="address url slug"),
            NavPage(
                "When a referral counts",
                "/settings#f-hold_days",
                keywords="screening flexible strong strict holding period confirmation opt-in",
            ),
            NavPage("Time zone", "/settings#time-zone", keywords="days midnight"),
            NavPage("Link hosts", "/settings/link-hosts", keywords="own domain dns"),
            NavPage(
                "Block and allow lists",
                "/settings/screening-lists",
                keywords="screening fraud addresses domains",
            ),
        ),
    ),
    Room(
        "Team",
        "Members, roles, invitations, who did what",
        "people",
        (
            NavPage("Members", "/team", keywords="team colleague owner leave hand over"),
            NavPage(
                "Invite somebody", "/team#invitations", keywords="invitation colleague partner"
            ),
            NavPage("What each role may do", "/team#roles", keywords="rights permissions"),
            NavPage("Change log", "/account/changes", keywords="history who changed audit"),
        ),
    ),
    Room(
        "Email tool",
        "Connection, fields, errors",
        "email",
        (NavPage("Email tool", "/integrations", keywords="integrations sync mailchimp kit"),),
    ),
    Room(
        "Developers",
        "API keys, webhooks, reference",
        "code",
        (
            NavPage("API keys", "/account/keys", keywords="tokens scopes rotate revoke"),
            NavPage("Webhooks", "/webhooks", keywords="events deliveries log"),
            NavPage("API reference", "/docs", keywords="api openapi"),
        ),
    ),
    Room(
        "Installation",
        "Health, payouts, accounts, backups, jobs",
        "server",
        (
            NavPage("Administration", _ADMINISTRATION, keywords="installation"),
            NavPage("Months and payouts", f"{_ADMINISTRATION}#h-months", keywords="ledger money"),
            *(
                NavPage(name, f"{_ADMINISTRATION}#{part}", keywords=words, seen_with=_RUNS_IT)
                for name, part, words in (
                    ("Health", "h-health", "checks mail server test email"),
                    ("Accounts", "h-accounts", "pause resume customers"),
                    ("Reset a second factor", "h-factors", "2fa totp lost phone"),
                    ("Backups", "h-backups", "restore"),
                    ("Background jobs", "h-jobs", "work late failed"),
                )
            ),
        ),
    ),
)

_OF_EVERYBODY = (*(page for room in ROOMS for page in room.pages), SETTINGS, GUIDE, NOTIFICATIONS)

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


@dataclass(frozen=True)
class ShownRoom:
    name: str
    about: str
    icon: str
    path: str
    pages: list[ShownPage]
    parts: list[NavPage]
    is_here: bool


class Menu(NamedTuple):
    groups: list[ShownGroup]
    rooms: list[ShownRoom]
    """Those that the visitor may open."""
    account: list[ShownPage]
    notifications: ShownPage
    home: str
    as_partner: bool | None
    """Of somebody who is only a partner: whether this is the menu of one."""
    logo_url: str
    subscribers: int | None
    """None for somebody who is only a partner."""
    newsletters: list[Membership]
    """All that the visitor can switch to, this one too."""

    @property
    def room(self) -> ShownRoom | None:
        """The one that is open."""
        return next((room for room in self.rooms if room.is_here), None)


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
    here = _current(path, [*every, *_OF_EVERYBODY])

    def shown(page: NavPage) -> ShownPage:
        count = _up_to_most(facts.counts.get(page.count, 0))
        return ShownPage(page.name, page.path, page.icon, count, page is here)

    rooms = [_shown_room(room, shown, may_see) for room in ROOMS]
    settings = shown(SETTINGS)
    is_in_room = any(room.is_here for room in rooms)
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
        rooms=[room for room in rooms if room.pages],
        account=[replace(settings, is_here=settings.is_here or is_in_room), shown(GUIDE)],
        notifications=shown(NOTIFICATIONS),
        home=groups[0].pages[0].path,
        as_partner=is_partners if facts.is_partner_only else None,
        logo_url=f"/logos/{facts.logo_id}" if facts.logo_id else "",
        subscribers=None if is_partners else facts.subscribers,
        newsletters=facts.newsletters,
    )


def _shown_room(
    room: Room, shown: Callable[[NavPage], ShownPage], may_see: Callable[[str], bool]
) -> ShownRoom:
    found = [page for page in room.pages if may_see(page.seen_with or page.path)]
    pages = [shown(page) for page in found if not page.is_part]
    return ShownRoom(
        name=room.name,
        about=room.about,
        icon=room.icon,
        path=pages[0].path if pages else "",
        pages=pages,
        parts=[page for page in found if page.is_part],
        is_here=any(page.is_here for page in pages),
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
    here = _current(path, [*owners, *_OF_EVERYBODY])
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
