"""Every address of the dashboard, one row each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from honeyguide.pages import rendering
from honeyguide.pages.dashboard import (
    account,
    doors,
    figures,
    hooks,
    imports,
    ladder,
    overview,
    person,
    review,
    settings,
    subscribers,
    wording,
)
from honeyguide.pages.dashboard.page_request import Handler, guarded
from honeyguide.pages.market import routes as market
from honeyguide.pages.services import PageServices

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
    Page("GET", "/subscribers", subscribers.show),
    Page("POST", "/subscribers/decide", subscribers.decide),
    Page("GET", "/subscribers/export.csv", subscribers.export),
    Page("GET", "/subscribers/import", imports.upload_form),
    Page("POST", "/subscribers/import", imports.upload),
    Page("GET", "/subscribers/import/{id}", imports.show),
    Page("POST", "/subscribers/import/{id}", imports.go_on),
    Page("GET", "/subscribers/import/{id}/errors.csv", imports.error_file),
    Page("GET", "/subscribers/{id}", person.show),
    Page("POST", "/subscribers/{id}", person.decide),
    Page("GET", "/subscribers/{id}/export.json", person.export),
    Page("POST", "/subscribers/{id}/rewards", person.redeem),
    Page("GET", "/review", review.show),
    Page("POST", "/review", review.decide),
    Page("GET", "/rewards", ladder.show),
    Page("POST", "/rewards", ladder.create),
    Page("POST", "/rewards/preview", ladder.sketch),
    Page("POST", "/rewards/hand-over", ladder.hand_over),
    Page("GET", "/rewards/{id}", ladder.edit_form),
    Page("POST", "/rewards/{id}", ladder.edit),
    Page("POST", "/rewards/{id}/delete", ladder.delete),
    Page("GET", "/pages", wording.show),
    Page("POST", "/pages", wording.save),
    Page("POST", "/pages/preview", wording.sketch),
    Page("GET", "/webhooks", hooks.show),
    Page("POST", "/webhooks", hooks.create),
    Page("GET", "/webhooks/{id}", hooks.one),
    Page("POST", "/webhooks/{id}", hooks.update),
    Page("POST", "/webhooks/{id}/act", hooks.act),
    Page("GET", "/account", account.show),
    Page("POST", "/account/keys", account.create_key),
    Page("POST", "/account/keys/{id}/revoke", account.revoke_key),
    Page("POST", "/account/profile", account.save_profile),
    Page("POST", "/account/password", account.save_password),
    Page("POST", "/account/sessions", account.end_session),
    Page("POST", "/account/invitations", account.invite),
    Page("POST", "/account/invitations/withdraw", account.withdraw_invitation),
    Page("GET", "/settings", settings.show),
    Page("POST", "/settings/campaign", settings.save_campaign),
    *(Page(*row) for row in market.ROWS),
)


# Where the parts of the account page were before. Pages that were open then still post to these addresses.
MOVED = {
    "/api/keys": "/account/keys",
    "/api/keys/{id}/revoke": "/account/keys/{id}/revoke",
    "/settings/profile": "/account/profile",
    "/settings/password": "/account/password",
    "/settings/sessions": "/account/sessions",
    "/settings/invitations": "/account/invitations",
    "/settings/invitations/withdraw": "/account/invitations/withdraw",
}


async def _redirect_to_account(request: Request) -> Response:
    return RedirectResponse("/account#keys", 302)


def _redirect_form(address: str) -> Callable[[Request], Awaitable[Response]]:
    """308 makes the browser send the same form again; the new address checks it like any other."""

    async def redirect(request: Request) -> Response:
        return RedirectResponse(address.format(**request.path_params), 308)

    return redirect


async def _moved(request: Request) -> Response:
    """Letters lead to /dashboard/…; the dashboard is at the root."""
    return RedirectResponse(f"/{request.path_params['path'].lstrip('/')}", 302)


def routes(services: PageServices) -> list[Route]:
    """For one running service."""
    return [
        *(
            Route(page.path, guarded(services, page.handler, open_to_all=page.open_to_all), methods=[page.method])
            for page in PAGES
        ),
        Route("/api", _redirect_to_account, methods=["GET"]),
        *(Route(old, _redirect_form(new), methods=["POST"]) for old, new in MOVED.items()),
        Route("/dashboard/{path:path}", _moved),
    ]
