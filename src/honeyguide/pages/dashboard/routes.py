"""Every address of the dashboard, one row each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from honeyguide.pages import rendering
from honeyguide.pages.dashboard import (
    account,
    administration,
    backups,
    branding,
    checklist,
    clock,
    earnings,
    emails,
    embed,
    formats,
    network,
    newsletter,
    notification_preferences,
    notifications,
    overview,
    overview_files,
    pages,
    payouts,
    program,
    program_form,
    publications,
    review,
    rewards,
    screening_lists,
    settings,
    shipments,
    stopped_emails,
    webhooks,
)
from honeyguide.pages.dashboard.integration_routes import INTEGRATION_PAGES
from honeyguide.pages.dashboard.labels import label
from honeyguide.pages.dashboard.login_routes import LOGIN_PAGES
from honeyguide.pages.dashboard.page_route import Access, PageRoute, endpoint
from honeyguide.pages.dashboard.subscriber_routes import SUBSCRIBER_PAGES
from honeyguide.pages.handlers import Uses
from honeyguide.pages.services import PageServices

rendering.add_filters(**formats.FILTERS, label=label)


READS, WRITES, SERVICES = Uses.READS, Uses.WRITES, Uses.SERVICES
SLOW_READS, REPLICA_READS = Uses.SLOW_READS, Uses.REPLICA_READS
ANYONE, ADMIN = Access.ANYONE, Access.ADMIN

PAGES = (
    *LOGIN_PAGES,
    PageRoute("GET", "/", REPLICA_READS, overview.show),
    PageRoute("POST", "/checklist/dismiss", WRITES, checklist.dismiss),
    *SUBSCRIBER_PAGES,
    PageRoute("GET", "/overview/days.csv", REPLICA_READS, overview_files.days),
    PageRoute("GET", "/overview/sources.csv", REPLICA_READS, overview_files.sources),
    PageRoute("GET", "/overview/summary.csv", REPLICA_READS, overview_files.summary),
    PageRoute("GET", "/review", READS, review.show),
    PageRoute("POST", "/review", SERVICES, review.decide),
    PageRoute("POST", "/review/referrer", SERVICES, review.decide_referrer),
    PageRoute("GET", "/rewards", READS, rewards.show),
    PageRoute("POST", "/rewards", WRITES, rewards.create, form=rewards.show, fields=rewards.FORM),
    PageRoute("POST", "/rewards/preview", READS, rewards.sketch),
    PageRoute("POST", "/rewards/hand-over", WRITES, rewards.hand_over),
    PageRoute("GET", "/rewards/{id}", READS, rewards.edit_form),
    PageRoute(
        "POST", "/rewards/{id}", WRITES, rewards.edit, form=rewards.edit_form, fields=rewards.FORM
    ),
    PageRoute("POST", "/rewards/{id}/delete", WRITES, rewards.delete),
    PageRoute("GET", "/shipments", READS, shipments.show),
    PageRoute(
        "POST",
        "/shipments",
        WRITES,
        shipments.mark_sent,
        form=shipments.show,
        fields=shipments.FORM,
    ),
    PageRoute("GET", "/shipments/export.csv", SERVICES, shipments.export),
    PageRoute("GET", "/pages", READS, pages.show),
    PageRoute("POST", "/pages", SERVICES, pages.save, form=pages.show, fields=pages.FORM),
    PageRoute("POST", "/pages/preview", READS, pages.sketch),
    PageRoute("GET", "/branding", READS, branding.show),
    PageRoute(
        "POST", "/branding", SERVICES, branding.save, form=branding.show, fields=branding.FORM
    ),
    PageRoute("POST", "/branding/preview", READS, branding.sketch),
    PageRoute("POST", "/branding/preview/color", READS, branding.note),
    PageRoute("GET", "/emails", READS, emails.show),
    PageRoute("POST", "/emails", WRITES, emails.save, form=emails.show, fields=emails.FORM),
    PageRoute("GET", "/emails/stopped", READS, stopped_emails.show),
    PageRoute(
        "POST",
        "/emails/stopped",
        WRITES,
        stopped_emails.add,
        form=stopped_emails.show,
        fields=stopped_emails.FORM,
    ),
    PageRoute("GET", "/emails/preview", READS, emails.preview),
    PageRoute("POST", "/emails/preview", READS, emails.preview),
    PageRoute(
        "POST", "/emails/test", WRITES, emails.send_test, form=emails.show, fields=emails.FORM
    ),
    PageRoute("GET", "/newsletter", READS, newsletter.show),
    PageRoute("GET", "/newsletter/preview", READS, newsletter.preview),
    PageRoute("GET", "/newsletter/links.csv", SERVICES, newsletter.links_csv),
    PageRoute(
        "POST",
        "/newsletter/test",
        WRITES,
        newsletter.send_test,
        form=newsletter.show,
        fields=newsletter.FORM,
    ),
    PageRoute("GET", "/embed", READS, embed.show),
    PageRoute("POST", "/embed", WRITES, embed.save, form=embed.show, fields=embed.FORM),
    PageRoute("GET", "/embed/preview", READS, embed.preview),
    PageRoute("POST", "/embed/check", SERVICES, embed.check, form=embed.show, fields=embed.CHECK),
    *INTEGRATION_PAGES,
    PageRoute("GET", "/webhooks", READS, webhooks.show),
    PageRoute(
        "POST", "/webhooks", WRITES, webhooks.create, form=webhooks.show, fields=webhooks.FORM
    ),
    PageRoute("GET", "/webhooks/{id}", READS, webhooks.one),
    PageRoute(
        "POST", "/webhooks/{id}", WRITES, webhooks.update, form=webhooks.one, fields=webhooks.FORM
    ),
    PageRoute(
        "POST",
        "/webhooks/{id}/act",
        WRITES,
        webhooks.act,
        form=webhooks.one,
        fields=webhooks.ACTIONS,
    ),
    PageRoute("GET", "/account", READS, account.show),
    PageRoute(
        "POST",
        "/account/keys",
        WRITES,
        account.create_key,
        form=account.show,
        fields=account.FORMS["keys"],
    ),
    PageRoute("POST", "/account/keys/{id}/revoke", WRITES, account.revoke_key),
    PageRoute(
        "POST",
        "/account/profile",
        WRITES,
        account.save_profile,
        form=account.show,
        fields=account.FORMS["profile"],
    ),
    PageRoute(
        "POST",
        "/account/password",
        SERVICES,
        account.save_password,
        form=account.show,
        fields=account.FORMS["password"],
    ),
    PageRoute("POST", "/account/sessions", WRITES, account.end_session),
    PageRoute(
        "POST",
        "/account/invitations",
        WRITES,
        account.invite,
        ADMIN,
        form=account.show,
        fields=account.FORMS["invitations"],
    ),
    PageRoute("POST", "/account/invitations/withdraw", WRITES, account.withdraw_invitation, ADMIN),
    PageRoute("GET", "/settings", READS, settings.show),
    PageRoute("GET", "/settings/screening-lists", READS, screening_lists.show),
    PageRoute(
        "POST",
        "/settings/screening-lists",
        WRITES,
        screening_lists.change,
        form=screening_lists.show,
        fields=screening_lists.FORM,
    ),
    PageRoute(
        "POST",
        "/settings/campaign",
        SERVICES,
        settings.save_campaign,
        form=settings.show,
        fields=settings.FORM,
    ),
    PageRoute(
        "POST",
        "/settings/time-zone",
        WRITES,
        settings.save_time_zone,
        form=settings.show,
        fields=settings.TIME_ZONE_FORM,
    ),
    PageRoute("GET", "/publications", READS, publications.show),
    PageRoute("GET", "/publications/new", READS, publications.new_form),
    PageRoute(
        "POST",
        "/publications/new",
        SERVICES,
        publications.create,
        form=publications.new_form,
        fields=publications.FIELDS,
    ),
    PageRoute("POST", "/publications/preview/card", READS, publications.sketch_card),
    PageRoute("POST", "/publications/preview/page", READS, publications.sketch_page),
    PageRoute("GET", "/publications/{id}", READS, publications.edit_form),
    PageRoute(
        "POST",
        "/publications/{id}",
        SERVICES,
        publications.edit,
        form=publications.edit_form,
        fields=publications.FIELDS,
    ),
    PageRoute("POST", "/publications/{id}/delete", WRITES, publications.delete),
    PageRoute("GET", "/program", READS, program.index),
    PageRoute("GET", "/program/new", READS, program_form.new_form),
    PageRoute(
        "POST",
        "/program/new",
        WRITES,
        program_form.create,
        form=program_form.new_form,
        fields=program_form.FIELDS,
    ),
    PageRoute("POST", "/program/preview/card", READS, program_form.sketch_card),
    PageRoute("POST", "/program/preview/cost", SERVICES, program_form.sketch_cost),
    PageRoute("GET", "/program/{id}", READS, program.show),
    PageRoute("GET", "/program/{id}/change", READS, program_form.edit_form),
    PageRoute(
        "POST",
        "/program/{id}/change",
        WRITES,
        program_form.edit,
        form=program_form.edit_form,
        fields=program_form.FIELDS,
    ),
    PageRoute("POST", "/program/{id}/act", WRITES, program.act),
    PageRoute("GET", "/network", READS, network.show),
    PageRoute("GET", "/network/{id}", READS, network.one),
    PageRoute(
        "POST", "/network/{id}/join", WRITES, network.join, form=network.one, fields=network.FIELDS
    ),
    PageRoute("GET", "/earnings", READS, earnings.show),
    PageRoute("GET", "/earnings/{id}", READS, earnings.one),
    PageRoute("GET", "/payouts", READS, payouts.show),
    PageRoute("GET", "/statements/{side}/{month}.csv", SERVICES, payouts.statement_csv),
    PageRoute("GET", "/statements/{side}/{month}", READS, payouts.statement),
    PageRoute("GET", "/notices", SERVICES, notifications.show),
    PageRoute("GET", "/notices/preferences", READS, notification_preferences.show),
    PageRoute(
        "POST",
        "/notices/preferences",
        WRITES,
        notification_preferences.save,
        form=notification_preferences.show,
        fields=notification_preferences.FORM,
    ),
    PageRoute("POST", "/notices/slack/test", WRITES, notification_preferences.send_test),
    PageRoute("GET", "/notices/off/{token}", READS, notification_preferences.ask_off, ANYONE),
    PageRoute(
        "POST",
        "/notices/off/{token}",
        WRITES,
        notification_preferences.turn_off,
        ANYONE,
        is_signed=True,
    ),
    PageRoute("GET", "/administration", SLOW_READS, administration.show, ADMIN),
    PageRoute("POST", "/administration/checks", SERVICES, administration.check, ADMIN),
    PageRoute(
        "POST",
        "/administration/test-email",
        SERVICES,
        administration.send_test_email,
        ADMIN,
        form=administration.show,
        fields=administration.TEST_EMAIL,
        form_uses=SLOW_READS,
    ),
    PageRoute("GET", "/administration/proof", SERVICES, administration.prove, ADMIN),
    PageRoute("GET", "/administration/payouts.csv", READS, administration.export, ADMIN),
    PageRoute(
        "POST",
        "/administration/payouts",
        WRITES,
        administration.mark,
        ADMIN,
        form=administration.show,
        fields=administration.FIELDS,
        form_uses=SLOW_READS,
    ),
    PageRoute("POST", "/administration/backups", WRITES, backups.back_up_now, ADMIN),
    PageRoute("POST", "/clock", SERVICES, clock.move),
)


# Where the parts of the account page were before; pages that were open then still post there.
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
        *(Route(page.path, endpoint(services, page), methods=[page.method]) for page in PAGES),
        Route("/api", _redirect_to_account, methods=["GET"]),
        *(Route(old, _redirect_form(new), methods=["POST"]) for old, new in MOVED.items()),
        Route("/dashboard/{path:path}", _moved),
    ]
