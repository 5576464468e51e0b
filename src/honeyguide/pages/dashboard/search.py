"""Search: subscribers, pages of the menu, and what one can do. The command menu shows the same
results while somebody types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from honeyguide.kernel import text_matching
from honeyguide.pages.dashboard import nav
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.store.reading import Reading
from honeyguide.subscribers import search

LONGEST = 100
MOST_SUBSCRIBERS = 6
MOST_PAGES = 6
MOST_ACTIONS = 5


class SearchLink(NamedTuple):
    name: str
    path: str
    icon: str
    about: str = ""
    keywords: str = ""
    """What else somebody may look for it by."""
    only_reads: bool = False
    """Whether the action is done without the form of its page."""

    def matches(self, asked: list[str]) -> bool:
        """Whether each word that was asked for begins one of its own."""
        own = text_matching.fold(f"{self.name} {self.about} {self.keywords}").split()
        return all(any(each.startswith(word) for each in own) for word in asked)


ACTIONS = (
    SearchLink("Add a reward", "/rewards#h-new", "gift", keywords="new create milestone"),
    SearchLink("Add a subscriber", "/subscribers/new", "people", keywords="new create person"),
    SearchLink("Import subscribers", "/subscribers/import", "upload", keywords="csv file move"),
    SearchLink("Invite a partner", "/program", "link", keywords="add link program"),
    SearchLink("Send what was claimed", "/shipments", "truck", keywords="mark sent shipments"),
    SearchLink("Review referrals", "/review", "shield", keywords="verify reject decide"),
    SearchLink("Check a referral", "/review/check", "shield", keywords="screening try address"),
    SearchLink("Block or allow an address", "/settings/screening-lists", "block", keywords="list"),
    SearchLink("Change the logo or color", "/look/branding", "palette", keywords="brand"),
    SearchLink(
        "Get the newsletter block", "/look/newsletter", "email", keywords="merge tags links"
    ),
    SearchLink(
        "See who stopped emails",
        "/look/emails/stopped",
        "email",
        keywords="unsubscribed",
        only_reads=True,
    ),
    SearchLink("Connect your email tool", "/integrations", "email", keywords="integration sync"),
    SearchLink(
        "Export subscribers", "/subscribers/export.csv", "download", keywords="csv download"
    ),
    SearchLink("Create an API key", "/account/keys", "key", keywords="new token developers"),
    SearchLink("Add a webhook", "/webhooks#h-new", "code", keywords="new endpoint developers"),
    SearchLink("Add a link host", "/settings/link-hosts", "globe", keywords="own domain"),
    SearchLink("Change your password", "/account#password", "lock", keywords="new"),
)


async def show(at: Reading, request: PageRequest) -> PageView:
    text = " ".join(request.query.get("q", "").split())[:LONGEST]
    asked = text_matching.fold(text).split()
    people = []
    if text:
        people = await search.find_quickly(at, text, most=MOST_SUBSCRIBERS)
    pages = [each for each in pages_of(request) if each.matches(asked)]
    if not text:
        pages = [each for each in pages if "#" not in each.path]
    actions = [each for each in ACTIONS if each.matches(asked) and _may_do(request, each)]
    return request.view(
        "search_results.html" if request.query.get("part") == "results" else "search.html",
        q=text,
        people=people,
        pages=pages[:MOST_PAGES] if text else pages,
        actions=actions[:MOST_ACTIONS] if text else actions,
    )


def _may_do(request: PageRequest, action: SearchLink) -> bool:
    """Whether their role sees its page and may send the form there, in a paused account too."""
    right = None if action.only_reads else request.rights.right_for("POST", action.path)
    return request.may_see(action.path) and (right is None or request.who.may(right))


def pages_of(request: PageRequest) -> list[SearchLink]:
    """Every page of the menu, each with its group, and every setting with its room."""
    others = nav.NavGroup("Account", "settings", (nav.NOTIFICATIONS, nav.SETTINGS, nav.GUIDE))
    groups = [(group.name, group.icon, group.pages) for group in (*nav.GROUPS, others)]
    return [*_links(request, groups), *settings_of(request)]


def settings_of(request: PageRequest) -> list[SearchLink]:
    """What the rooms of the settings have by name."""
    return _links(request, [(room.name, room.icon, room.pages) for room in nav.ROOMS])


def _links(
    request: PageRequest, groups: Iterable[tuple[str, str, tuple[nav.NavPage, ...]]]
) -> list[SearchLink]:
    return [
        SearchLink(
            page.name,
            page.path,
            page.icon or icon,
            "" if name == page.name else name,
            page.keywords,
        )
        for name, icon, pages in groups
        for page in pages
        if request.may_see(page.seen_with or page.path)
    ]
