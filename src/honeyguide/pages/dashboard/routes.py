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
    integrations,
    link_hosts,
    login,
    network,
    new_subscriber,
    newsletter,
    notification_preferences,
    notifications,
    overview,
    overview_files,
    pages,
    partners,
    payouts,
    program,
    program_form,
    publications,
    referral_check,
    reversals,
    review,
    rewards,
    screening_lists,
    settings,
    shipments,
    stopped_emails,
    subscriber,
    subscriber_edits,
    subscriber_filters,
    subscriber_referrers,
    subscriber_tags,
    subscribers,
    undo,
    webhooks,
)
from honeyguide.pages.dashboard.import_routes import IMPORTS
from honeyguide.pages.dashboard.labels import label
from honeyguide.pages.dashboard.page_route import Access, endpoint, get, post
from honeyguide.pages.handlers import Uses
from honeyguide.pages.services import PageServices

rendering.add_filters(**formats.FILTERS, label=label)


READS, WRITES, SERVICES = Uses.READS, Uses.WRITES, Uses.SERVICES
SLOW_READS, REPLICA_READS = Uses.SLOW_READS, Uses.REPLICA_READS
ANYONE, ADMIN = Access.ANYONE, Access.ADMIN

PAGES = (
    get("/login", READS, login.login_form, access=ANYONE),
    post("/login", SERVICES, login.log_in, login.login_page, login.LOGIN, access=ANYONE),
    post("/logout", WRITES, login.log_out),
    get("/signup", READS, login.signup_form, access=ANYONE),
    post("/signup", SERVICES, login.sign_up, login.signup_page, login.FIRST_ACCOUNT, access=ANYONE),
    get("/welcome/{token}", READS, login.welcome_form, access=ANYONE),
    post(
        "/welcome/{token}",
        SERVICES,
        login.welcome,
        login.welcome_form,
        login.INVITED,
        access=ANYONE,
    ),
    get("/password", READS, login.forgot_form, access=ANYONE),
    post("/password", WRITES, login.forgot, login.forgot_form, login.EMAIL, access=ANYONE),
    get("/password/{token}", READS, login.reset_form, access=ANYONE),
    post(
        "/password/{token}",
        SERVICES,
        login.reset,
        login.reset_page,
        login.NEW_PASSWORD,
        access=ANYONE,
    ),
    get("/", REPLICA_READS, overview.show),
    post("/checklist/dismiss", WRITES, checklist.dismiss),
    get("/subscribers", SERVICES, subscribers.show),
    post("/subscribers/decide", SERVICES, subscribers.decide),
    post("/subscribers/tags", SERVICES, subscriber_tags.change),
    post("/subscribers/referrer", SERVICES, subscriber_referrers.change_selected),
    post("/subscribers/filters", WRITES, subscriber_filters.change),
    get("/subscribers/export.csv", SERVICES, subscribers.export),
    *IMPORTS,
    get("/subscribers/new", READS, new_subscriber.show),
    post(
        "/subscribers/new", WRITES, new_subscriber.create, new_subscriber.show, new_subscriber.FORM
    ),
    get("/subscribers/{id}", READS, subscriber.show),
    post("/subscribers/{id}", SERVICES, subscriber.decide, subscriber.show, subscribers.REASON),
    get("/subscribers/{id}/export.json", READS, subscriber.export),
    post(
        "/subscribers/{id}/edit",
        WRITES,
        subscriber_edits.save,
        subscriber.show,
        subscriber_edits.PERSON,
    ),
    post(
        "/subscribers/{id}/referrer",
        SERVICES,
        subscriber_referrers.change,
        subscriber.show,
        subscriber_referrers.FORM,
    ),
    post("/subscribers/{id}/status", WRITES, subscriber_edits.change_status),
    post(
        "/subscribers/{id}/tags",
        WRITES,
        subscriber_edits.change_tags,
        subscriber.show,
        subscriber_edits.TAGS,
    ),
    post(
        "/subscribers/{id}/notes",
        WRITES,
        subscriber_edits.change_notes,
        subscriber.show,
        subscriber_edits.NOTE,
    ),
    post(
        "/subscribers/{id}/adjustments",
        WRITES,
        subscriber_edits.adjust,
        subscriber.show,
        subscriber_edits.ADJUSTMENT,
    ),
    post(
        "/subscribers/{id}/codes",
        WRITES,
        subscriber_edits.choose_code,
        subscriber.show,
        subscriber_edits.CODE,
    ),
    post("/subscribers/{id}/list", WRITES, subscriber_edits.change_list),
    post("/subscribers/{id}/rewards", WRITES, subscriber.redeem),
    get("/overview/days.csv", REPLICA_READS, overview_files.days),
    get("/overview/sources.csv", REPLICA_READS, overview_files.sources),
    get("/overview/summary.csv", REPLICA_READS, overview_files.summary),
    get("/review", READS, review.show),
    post("/review", WRITES, review.decide, review.show, subscribers.REASON),
    get("/review/check", READS, referral_check.show),
    post(
        "/review/check", SERVICES, referral_check.check, referral_check.show, referral_check.FIELDS
    ),
    post("/review/referrer", WRITES, review.decide_referrer, review.show, subscribers.REASON),
    post("/review/confirmations", WRITES, review.release_confirmations),
    get("/rewards", READS, rewards.show),
    post("/rewards", WRITES, rewards.create, rewards.show, rewards.FORM.fields),
    post("/rewards/preview", READS, rewards.sketch),
    post("/rewards/hand-over", WRITES, rewards.hand_over),
    get("/rewards/{id}", READS, rewards.edit_form),
    post("/rewards/{id}", WRITES, rewards.edit, rewards.edit_form, rewards.FORM.fields),
    post("/rewards/{id}/delete", WRITES, rewards.delete),
    get("/shipments", READS, shipments.show),
    post("/shipments", WRITES, shipments.mark_sent, shipments.show, shipments.FORM),
    get("/shipments/export.csv", SERVICES, shipments.export),
    get("/pages", READS, pages.show),
    post("/pages", SERVICES, pages.save, pages.show, pages.FORM),
    post("/pages/preview", READS, pages.sketch),
    get("/branding", READS, branding.show),
    post("/branding", SERVICES, branding.save, branding.show, branding.FORM.fields),
    post("/branding/preview", READS, branding.sketch),
    post("/branding/preview/color", READS, branding.note),
    get("/emails", READS, emails.show),
    post("/emails", WRITES, emails.save, emails.show, emails.FORM),
    get("/emails/stopped", READS, stopped_emails.show),
    post("/emails/stopped", WRITES, stopped_emails.add, stopped_emails.show, stopped_emails.FORM),
    get("/emails/preview", READS, emails.preview),
    post("/emails/preview", READS, emails.preview),
    post("/emails/test", WRITES, emails.send_test, emails.show, emails.FORM),
    get("/newsletter", READS, newsletter.show),
    get("/newsletter/preview", READS, newsletter.preview),
    get("/newsletter/links.csv", SERVICES, newsletter.links_csv),
    post("/newsletter/test", WRITES, newsletter.send_test, newsletter.show, newsletter.FORM),
    get("/embed", READS, embed.show),
    post("/embed", WRITES, embed.save, embed.show, embed.FORM),
    get("/embed/preview", READS, embed.preview),
    post("/embed/check", SERVICES, embed.check, embed.show, embed.CHECK),
    get("/integrations", READS, integrations.show),
    post("/integrations", SERVICES, integrations.act),
    get("/integrations/fields", READS, integrations.fields_form),
    post(
        "/integrations/fields",
        SERVICES,
        integrations.save_fields,
        integrations.fields_form,
        integrations.FIELD_NAMES,
    ),
    get("/integrations/{platform}", READS, integrations.connect_form),
    post("/integrations/{platform}", SERVICES, integrations.connect, integrations.connect_form),
    get("/webhooks", READS, webhooks.show),
    post("/webhooks", WRITES, webhooks.create, webhooks.show, webhooks.FORM),
    get("/webhooks/{id}", READS, webhooks.one),
    post("/webhooks/{id}", WRITES, webhooks.update, webhooks.one, webhooks.FORM),
    post("/webhooks/{id}/act", WRITES, webhooks.act, webhooks.one, webhooks.ACTIONS),
    get("/account", READS, account.show),
    post("/account/keys", WRITES, account.create_key, account.show, account.FORMS["keys"]),
    post("/account/keys/{id}/revoke", WRITES, account.revoke_key),
    post("/account/profile", WRITES, account.save_profile, account.show, account.FORMS["profile"]),
    post(
        "/account/password",
        SERVICES,
        account.save_password,
        account.show,
        account.FORMS["password"],
    ),
    post("/account/sessions", WRITES, account.end_session),
    post("/account/undo", WRITES, undo.undo),
    post(
        "/account/invitations",
        WRITES,
        account.invite,
        account.show,
        account.FORMS["invitations"],
        access=ADMIN,
    ),
    post("/account/invitations/withdraw", WRITES, account.withdraw_invitation, access=ADMIN),
    get("/settings", READS, settings.show),
    get("/settings/screening-lists", READS, screening_lists.show),
    post(
        "/settings/screening-lists",
        WRITES,
        screening_lists.change,
        screening_lists.show,
        screening_lists.FORM,
    ),
    get("/settings/link-hosts", READS, link_hosts.show),
    post("/settings/link-hosts", SERVICES, link_hosts.change, link_hosts.show, link_hosts.FORM),
    post(
        "/settings/campaign", SERVICES, settings.save_campaign, settings.show, settings.FORM.fields
    ),
    post(
        "/settings/time-zone",
        WRITES,
        settings.save_time_zone,
        settings.show,
        settings.TIME_ZONE_FORM,
    ),
    get("/publications", READS, publications.show),
    get("/publications/new", READS, publications.new_form),
    post(
        "/publications/new",
        SERVICES,
        publications.create,
        publications.new_form,
        publications.FORM.fields,
    ),
    post("/publications/preview/card", READS, publications.sketch_card),
    post("/publications/preview/page", READS, publications.sketch_page),
    get("/publications/{id}", READS, publications.edit_form),
    post(
        "/publications/{id}",
        SERVICES,
        publications.edit,
        publications.edit_form,
        publications.FORM.fields,
    ),
    post("/publications/{id}/delete", WRITES, publications.delete),
    get("/program", READS, program.index),
    get("/program/new", READS, program_form.new_form),
    post(
        "/program/new", WRITES, program_form.create, program_form.new_form, program_form.FORM.fields
    ),
    post("/program/preview/card", READS, program_form.sketch_card),
    post("/program/preview/cost", SERVICES, program_form.sketch_cost),
    get("/program/{id}", READS, program.show),
    get("/program/{id}/change", READS, program_form.edit_form),
    post(
        "/program/{id}/change",
        WRITES,
        program_form.edit,
        program_form.edit_form,
        program_form.FORM.fields,
    ),
    post("/program/{id}/act", WRITES, program.act),
    post("/program/{id}/verification", WRITES, program.choose_verification),
    get("/program/{id}/reversal", READS, reversals.show),
    post("/program/{id}/reversal", WRITES, reversals.reverse, reversals.show, reversals.FORM),
    get("/program/partners/{id}", READS, partners.show),
    post("/program/partners/{id}/remove", WRITES, partners.remove, partners.show, partners.FIELDS),
    post("/program/partners/{id}/allow", WRITES, partners.allow, partners.show),
    get("/network", READS, network.show),
    get("/network/{id}", READS, network.one),
    post("/network/{id}/join", WRITES, network.join, network.one, network.FIELDS),
    get("/earnings", READS, earnings.show),
    get("/earnings/{id}", READS, earnings.one),
    post("/earnings/{id}/leave", WRITES, earnings.leave),
    get("/payouts", READS, payouts.show),
    get("/statements/{side}/{month}.csv", SERVICES, payouts.statement_csv),
    get("/statements/{side}/{month}", READS, payouts.statement),
    get("/notices", SERVICES, notifications.show),
    get("/notices/preferences", READS, notification_preferences.show),
    post(
        "/notices/preferences",
        WRITES,
        notification_preferences.save,
        notification_preferences.show,
        notification_preferences.FORM,
    ),
    post("/notices/slack/test", WRITES, notification_preferences.send_test),
    get("/notices/off/{token}", READS, notification_preferences.ask_off, access=ANYONE),
    post(
        "/notices/off/{token}",
        WRITES,
        notification_preferences.turn_off,
        access=ANYONE,
        is_signed=True,
    ),
    get("/administration", SLOW_READS, administration.show, access=ADMIN),
    post("/administration/checks", SERVICES, administration.check, access=ADMIN),
    post(
        "/administration/test-email",
        SERVICES,
        administration.send_test_email,
        administration.show,
        administration.TEST_EMAIL,
        access=ADMIN,
        form_uses=SLOW_READS,
    ),
    get("/administration/proof", SERVICES, administration.prove, access=ADMIN),
    get("/administration/payouts.csv", READS, administration.export, access=ADMIN),
    post(
        "/administration/payouts",
        WRITES,
        administration.mark,
        administration.show,
        administration.FIELDS,
        access=ADMIN,
        form_uses=SLOW_READS,
    ),
    post("/administration/backups", WRITES, backups.back_up_now, access=ADMIN),
    post("/clock", SERVICES, clock.move),
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
