"""Every address of the dashboard, one row each."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from honeyguide.pages import rendering
from honeyguide.pages.dashboard import doors, figures, overview
from honeyguide.pages.dashboard.visit import Handler, guarded
from honeyguide.pages.desk import Desk

rendering.add_filters(**figures.FILTERS)


@dataclass(frozen=True)
class Page:
    method: str
    path: str
    handler: Handler
    open_to_all: bool = False


DOORS = (
    Page("GET", "/login", doors.login_form, True),
    Page("POST", "/login", doors.log_in, True),
    Page("POST", "/logout", doors.log_out),
    Page("GET", "/signup", doors.signup_form, True),
    Page("POST", "/signup", doors.sign_up, True),
    Page("GET", "/welcome/{token}", doors.welcome_form, True),
    Page("POST", "/welcome/{token}", doors.welcome, True),
    Page("GET", "/password", doors.forgot_form, True),
    Page("POST", "/password", doors.forgot, True),
    Page("GET", "/password/{token}", doors.reset_form, True),
    Page("POST", "/password/{token}", doors.reset, True),
)

PAGES = (
    *DOORS,
    Page("GET", "/", overview.show),
)


async def _moved(request: Request) -> Response:
    """Letters lead to /dashboard/…; the dashboard is at the root."""
    return RedirectResponse(f"/{request.path_params['path'].lstrip('/')}", 302)


def routes(desk: Desk) -> list[Route]:
    """For one running service."""
    return [
        *(Route(page.path, guarded(desk, page.handler, open_to_all=page.open_to_all), methods=[page.method]) for page in PAGES),
        Route("/dashboard/{path:path}", _moved),
    ]
