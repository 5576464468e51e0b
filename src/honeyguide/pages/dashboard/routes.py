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
    administration,
    clock,
    earnings,
    formats,
    imports,
    login,
    network,
    notifications,
    overview,
    pages,
    payouts,
    program,
    program_form,
    publications,
    review,
    rewards,
    settings,
    subscriber,
    subscribers,
    webhooks,
)
from honeyguide.pages.dashboard.labels import label
from honeyguide.pages.dashboard.page_request import Handler, guarded
from honeyguide.pages.services import PageServices

rendering.add_filters(**formats.FILTERS, label=label)


@dataclass(frozen=True)
class PageRoute:
    method: str
    path: str
    handler: Handler
    open_to_all: bool = False


LOGIN_PAGES = (
    PageRoute("GET", "/login", login.login_form, True),
    PageRoute("POST", "/login", login.log_in, True),
    PageRoute("POST", "/logout", login.log_out),
    PageRoute("GET", "/signup", login.signup_form, True),
    PageRoute("POST", "/signup", login.sign_up, True),
    PageRoute("GET", "/welcome/{token}", login.welcome_form, True),
    PageRoute("POST", "/welcome/{token}", login.welcome, True),
    PageRoute("GET", "/password", login.forgot_form, True),
    PageRoute("POST", "/password", login.forgot, True),
    PageRoute("GET", "/password/{token}", login.reset_form, True),
    PageRoute("POST", "/password/{token}", login.reset, True),
)

PAGES = (
    *LOGIN_PAGES,
    PageRoute("GET", "/", overview.show),
    PageRoute("GET", "/subscribers", subscribers.show),
    PageRoute("POST", "/subscribers/decide", subscribers.decide),
    PageRoute("GET", "/subscribers/export.csv", subscribers.export),
    PageRoute("GET", "/subscribers/import", imports.upload_form),
    PageRoute("POST", "/subscribers/import", imports.upload),
    PageRoute("GET", "/subscribers/import/{id}", imports.show),
    PageRoute("POST", "/subscribers/import/{id}", imports.go_on),
    PageRoute("GET", "/subscribers/import/{id}/errors.csv", imports.error_file),
    PageRoute("GET", "/subscribers/{id}", subscriber.show),
    PageRoute("POST", "/subscribers/{id}", subscriber.decide),
    PageRoute("GET", "/subscribers/{id}/export.json", subscriber.export),
    PageRoute("POST", "/subscribers/{id}/rewards", subscriber.redeem),
    PageRoute("GET", "/review", review.show),
    PageRoute("POST", "/review", review.decide),
    PageRoute("GET", "/rewards", rewards.show),
    PageRoute("POST", "/rewards", rewards.create),
    PageRoute("POST", "/rewards/preview", rewards.sketch),
    PageRoute("POST", "/rewards/hand-over", rewards.hand_over),
    PageRoute("GET", "/rewards/{id}", rewards.edit_form),
    PageRoute("POST", "/rewards/{id}", rewards.edit),
    PageRoute("POST", "/rewards/{id}/delete", rewards.delete),
    PageRoute("GET", "/pages", pages.show),
    PageRoute("POST", "/pages", pages.save),
    PageRoute("POST", "/pages/preview", pages.sketch),
    PageRoute("GET", "/webhooks", webhooks.show),
    PageRoute("POST", "/webhooks", webhooks.create),
    PageRoute("GET", "/webhooks/{id}", webhooks.one),
    PageRoute("POST", "/webhooks/{id}", webhooks.update),
    PageRoute("POST", "/webhooks/{id}/act", webhooks.act),
    PageRoute("GET", "/account", account.show),
    PageRoute("POST", "/account/keys", account.create_key),
    PageRoute("POST", "/account/keys/{id}/revoke", account.revoke_key),
    PageRoute("POST", "/account/profile", account.save_profile),
    PageRoute("POST", "/account/password", account.save_password),
    PageRoute("POST", "/account/sessions", account.end_session),
    PageRoute("POST", "/account/invitations", account.invite),
    PageRoute("POST", "/account/invitations/withdraw", account.withdraw_invitation),
    PageRoute("GET", "/settings", settings.show),
    PageRoute("POST", "/settings/campaign", settings.save_campaign),
    PageRoute("GET", "/publications", publications.show),
    PageRoute("GET", "/publications/new", publications.new_form),
    PageRoute("POST", "/publications/new", publications.create),
    PageRoute("POST", "/publications/preview/card", publications.sketch_card),
    PageRoute("POST", "/publications/preview/page", publications.sketch_page),
    PageRoute("GET", "/publications/{id}", publications.edit_form),
    PageRoute("POST", "/publications/{id}", publications.edit),
    PageRoute("POST", "/publications/{id}/delete", publications.delete),
    PageRoute("GET", "/program", program.index),
    PageRoute("GET", "/program/new", program_form.new_form),
    PageRoute("POST", "/program/new", program_form.create),
    PageRoute("POST", "/program/preview/card", program_form.sketch_card),
    PageRoute("POST", "/program/preview/cost", program_form.sketch_cost),
    PageRoute("GET", "/program/{id}", program.show),
    PageRoute("GET", "/program/{id}/change", program_form.edit_form),
    PageRoute("POST", "/program/{id}/change", program_form.edit),
    PageRoute("POST", "/program/{id}/act", program.act),
    PageRoute("GET", "/network", network.show),
    PageRoute("GET", "/network/{id}", network.one),
    PageRoute("POST", "/network/{id}/join", network.join),
    PageRoute("GET", "/earnings", earnings.show),
    PageRoute("GET", "/earnings/{id}", earnings.one),
    PageRoute("GET", "/payouts", payouts.show),
    PageRoute("GET", "/statements/{side}/{month}.csv", payouts.statement_csv),
    PageRoute("GET", "/statements/{side}/{month}", payouts.statement),
    PageRoute("GET", "/notices", notifications.show),
    PageRoute("GET", "/administration", administration.show),
    PageRoute("GET", "/administration/proof", administration.prove),
    PageRoute("GET", "/administration/payouts.csv", administration.export),
    PageRoute("POST", "/administration/payouts", administration.mark),
    PageRoute("POST", "/clock", clock.move),
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
    """Emails link to /dashboard/…; the dashboard is at the root."""
    return RedirectResponse(f"/{request.path_params['path'].lstrip('/')}", 302)


def routes(services: PageServices) -> list[Route]:
    """For one running service."""
    return [
        *(
            Route(
                page.path,
                guarded(services, page.handler, open_to_all=page.open_to_all),
                methods=[page.method],
            )
            for page in PAGES
        ),
        Route("/api", _redirect_to_account, methods=["GET"]),
        *(Route(old, _redirect_form(new), methods=["POST"]) for old, new in MOVED.items()),
        Route("/dashboard/{path:path}", _moved),
    ]
