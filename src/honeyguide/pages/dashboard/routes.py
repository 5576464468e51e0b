"""Every address of the dashboard. Each group of the menu has a table of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from honeyguide.pages import redirects, rendering
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.earn.routes import EARN_PAGES
from honeyguide.pages.dashboard.home.routes import HOME_PAGES
from honeyguide.pages.dashboard.login.routes import LOGIN_PAGES
from honeyguide.pages.dashboard.look.routes import LOOK_PAGES
from honeyguide.pages.dashboard.page_rights import PageRights
from honeyguide.pages.dashboard.page_route import PageRoute, endpoint
from honeyguide.pages.dashboard.partners.routes import PARTNERS_PAGES
from honeyguide.pages.dashboard.people.routes import PEOPLE_PAGES
from honeyguide.pages.dashboard.rewards.routes import REWARDS_PAGES
from honeyguide.pages.dashboard.settings.routes import SETTINGS_PAGES
from honeyguide.pages.services import PageServices

rendering.add_filters(**formats.FILTERS)

PAGES = (
    *HOME_PAGES,
    *PEOPLE_PAGES,
    *REWARDS_PAGES,
    *LOOK_PAGES,
    *PARTNERS_PAGES,
    *EARN_PAGES,
    *LOGIN_PAGES,
    *SETTINGS_PAGES,
)
PAGE_RIGHTS = PageRights(PAGES)


LOOK = "/look"
# Addresses that pages had before. Bookmarks and emails still have them, and pages that were open
# then still post there. Where the parts of the account page were:
MOVED_FORMS = {
    "/api/keys": "/account/keys",
    "/api/keys/{id}/revoke": "/account/keys/{id}/revoke",
    "/settings/profile": "/account/profile",
    "/settings/password": "/account/password",
    "/settings/sessions": "/account/sessions",
    "/settings/invitations": "/account/invitations",
    "/settings/invitations/withdraw": "/account/invitations/withdraw",
}


async def _moved(request: Request) -> Response:
    """Emails link to /dashboard/…; the dashboard is at the root."""
    return to_new(f"/{request.path_params['path'].lstrip('/')}", request, 302)


def routes(services: PageServices) -> list[Route]:
    """For one running service."""
    return [
        *(
            Route(page.path, endpoint(services, page, PAGE_RIGHTS), methods=[page.method])
            for page in PAGES
        ),
        *moved_routes(LOOK_PAGES),
        Route("/dashboard/{path:path}", _moved),
    ]


def moved_routes(pages: Iterable[PageRoute]) -> list[Route]:
    """`pages` are those that moved to /look; each is still found where it was."""
    return [
        Route("/api", _to("/account/keys", 302), methods=["GET"]),
        Route(LOOK, _to("/look/branding", 302), methods=["GET"]),
        *(Route(old, _to(new), methods=["POST"]) for old, new in MOVED_FORMS.items()),
        *(
            Route(page.path.removeprefix(LOOK), _to(page.path), methods=[page.method])
            for page in pages
        ),
    ]


def to_new(path: str, request: Request, status: int) -> Response:
    """To where the page is now, with what was asked of it."""
    query = request.url.query
    return redirects.to_page(f"{path}?{query}" if query else path, status)


def _to(address: str, status: int = 308) -> Callable[[Request], Awaitable[Response]]:
    """308 makes the browser send the same form again; the new address checks it like any other."""

    async def redirect(request: Request) -> Response:
        return to_new(address.format(**request.path_params), request, status)

    return redirect
