"""Every address of the dashboard. Each group of the menu has a table of its own."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from honeyguide.pages import rendering
from honeyguide.pages.dashboard import formats, moved_pages
from honeyguide.pages.dashboard.earn.routes import EARN_PAGES
from honeyguide.pages.dashboard.home.routes import HOME_PAGES
from honeyguide.pages.dashboard.login.routes import LOGIN_PAGES
from honeyguide.pages.dashboard.look.routes import LOOK_PAGES
from honeyguide.pages.dashboard.page_rights import PageRights
from honeyguide.pages.dashboard.page_route import endpoint
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


async def _moved(request: Request) -> Response:
    """Emails link to /dashboard/…; the dashboard is at the root."""
    return moved_pages.to_new(f"/{request.path_params['path'].lstrip('/')}", request, 302)


def routes(services: PageServices) -> list[Route]:
    """For one running service."""
    return [
        *(
            Route(page.path, endpoint(services, page, PAGE_RIGHTS), methods=[page.method])
            for page in PAGES
        ),
        *moved_pages.routes(LOOK_PAGES),
        Route("/dashboard/{path:path}", _moved),
    ]
