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
class Page:
    method: str
    path: str
    handler: Handler
    open_to_all: bool = False


LOGIN_PAGES = (
    Page("GET", "/login", login.login_form, True),
    Page("POST", "/login", login.log_in, True),
    Page("POST", "/logout", login.log_out),
    Page("GET", "/signup", login.signup_form, True),
    Page("POST", "/signup", login.sign_up, True),
    Page("GET", "/welcome/{token}", login.welcome_form, True),
    Page("POST", "/welcome/{token}", login.welcome, True),
    Page("GET", "/password", login.forgot_form, True),
    Page("POST", "/password", login.forgot, True),
    Page("GET", "/password/{token}", login.reset_form, True),
    Page("POST", "/password/{token}", login.reset, True),
)

PAGES = (
    *LOGIN_PAGES,
    Page("GET", "/", overview.show),
    Page("GET", "/subscribers", subscribers.show),
    Page("POST", "/subscribers/decide", subscribers.decide),
    Page("GET", "/subscribers/export.csv", subscribers.export),
    Page("GET", "/subscribers/import", imports.upload_form),
    Page("POST", "/subscribers/import", imports.upload),
    Page("GET", "/subscribers/import/{id}", imports.show),
    Page("POST", "/subscribers/import/{id}", imports.go_on),
    Page("GET", "/subscribers/import/{id}/errors.csv", imports.error_file),
    Page("GET", "/subscribers/{id}", subscriber.show),
    Page("POST", "/subscribers/{id}", subscriber.decide),
    Page("GET", "/subscribers/{id}/export.json", subscriber.export),
    Page("POST", "/subscribers/{id}/rewards", subscriber.redeem),
    Page("GET", "/review", review.show),
    Page("POST", "/review", review.decide),
    Page("GET", "/rewards", rewards.show),
    Page("POST", "/rewards", rewards.create),
    Page("POST", "/rewards/preview", rewards.sketch),
    Page("POST", "/rewards/hand-over", rewards.hand_over),
    Page("GET", "/rewards/{id}", rewards.edit_form),
    Page("POST", "/rewards/{id}", rewards.edit),
    Page("POST", "/rewards/{id}/delete", rewards.delete),
    Page("GET", "/pages", pages.show),
    Page("POST", "/pages", pages.save),
    Page("POST", "/pages/preview", pages.sketch),
    Page("GET", "/webhooks", webhooks.show),
    Page("POST", "/webhooks", webhooks.create),
    Page("GET", "/webhooks/{id}", webhooks.one),
    Page("POST", "/webhooks/{id}", webhooks.update),
    Page("POST", "/webhooks/{id}/act", webhooks.act),
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
    Page("GET", "/publications", publications.show),
    Page("GET", "/publications/new", publications.new_form),
    Page("POST", "/publications/new", publications.create),
    Page("POST", "/publications/preview/card", publications.sketch_card),
    Page("POST", "/publications/preview/page", publications.sketch_page),
    Page("GET", "/publications/{id}", publications.edit_form),
    Page("POST", "/publications/{id}", publications.edit),
    Page("POST", "/publications/{id}/delete", publications.delete),
    Page("GET", "/program", program.index),
    Page("GET", "/program/new", program_form.new_form),
    Page("POST", "/program/new", program_form.create),
    Page("POST", "/program/preview/card", program_form.sketch_card),
    Page("POST", "/program/preview/cost", program_form.sketch_cost),
    Page("GET", "/program/{id}", program.show),
    Page("GET", "/program/{id}/change", program_form.edit_form),
    Page("POST", "/program/{id}/change", program_form.edit),
    Page("POST", "/program/{id}/act", program.act),
    Page("GET", "/network", network.show),
    Page("GET", "/network/{id}", network.one),
    Page("POST", "/network/{id}/join", network.join),
    Page("GET", "/earnings", earnings.show),
    Page("GET", "/earnings/{id}", earnings.one),
    Page("GET", "/payouts", payouts.show),
    Page("GET", "/statements/{side}/{month}.csv", payouts.statement_csv),
    Page("GET", "/statements/{side}/{month}", payouts.statement),
    Page("GET", "/notices", notifications.show),
    Page("GET", "/administration", administration.show),
    Page("GET", "/administration/proof", administration.prove),
    Page("GET", "/administration/payouts.csv", administration.export),
    Page("POST", "/administration/payouts", administration.mark),
    Page("POST", "/clock", clock.move),
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
