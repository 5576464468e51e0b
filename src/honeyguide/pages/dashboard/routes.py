"""Every address of the dashboard, one row each."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from honeyguide.pages import rendering
from honeyguide.pages.dashboard import formats, moved_pages, notifications, search
from honeyguide.pages.dashboard.earn import earnings, network
from honeyguide.pages.dashboard.home import checklist, home, overview_files
from honeyguide.pages.dashboard.labels import label
from honeyguide.pages.dashboard.login.recent_login import does, gives
from honeyguide.pages.dashboard.look.look_routes import LOOK
from honeyguide.pages.dashboard.page_rights import PageRights
from honeyguide.pages.dashboard.page_route import endpoint, get, get_recent, post, post_recent
from honeyguide.pages.dashboard.partners import (
    partners,
    payouts,
    program,
    program_form,
    publications,
    reversals,
)
from honeyguide.pages.dashboard.people import (
    new_subscriber,
    referral_check,
    review,
    screening_lists,
    subscriber,
    subscriber_edits,
    subscriber_emails,
    subscriber_filters,
    subscriber_referrers,
    subscriber_tags,
    subscribers,
)
from honeyguide.pages.dashboard.people.import_routes import IMPORTS
from honeyguide.pages.dashboard.rewards import rewards
from honeyguide.pages.dashboard.rewards.shipment_routes import SHIPMENTS
from honeyguide.pages.dashboard.route_rights import (
    ANYONE,
    CAMPAIGN,
    EXPORT,
    MONEY,
    PARTNERS,
    REWARDS,
    SEE,
    SUBSCRIBERS,
    WEBHOOKS,
)
from honeyguide.pages.dashboard.settings import (
    clock,
    integrations,
    link_hosts,
    notification_preferences,
    settings,
    webhooks,
)
from honeyguide.pages.dashboard.settings.account_routes import (
    ACCOUNT_PAGES,
    ADMINISTRATION_PAGES,
    LOGIN,
)
from honeyguide.pages.dashboard.settings.security_routes import SECURITY
from honeyguide.pages.handlers import Uses
from honeyguide.pages.services import PageServices

rendering.add_filters(**formats.FILTERS, label=label)


READS, WRITES, SERVICES = Uses.READS, Uses.WRITES, Uses.SERVICES
SLOW_READS, REPLICA_READS = Uses.SLOW_READS, Uses.REPLICA_READS

ERASES = does("erase")
SHOWS_OR_CHANGES_SECRET = does("reveal", "rotate", "set_token", "delete")

PAGES = (
    *LOGIN,
    *SECURITY,
    get("/", SEE, REPLICA_READS, home.show),
    get("/search", SEE, READS, search.show),
    post("/checklist/dismiss", CAMPAIGN, WRITES, checklist.dismiss),
    get("/subscribers", SEE, SERVICES, subscribers.show),
    post_recent("/subscribers/decide", SUBSCRIBERS, SERVICES, subscribers.decide, proof_for=ERASES),
    post("/subscribers/tags", SUBSCRIBERS, SERVICES, subscriber_tags.change),
    post("/subscribers/referrer", SUBSCRIBERS, SERVICES, subscriber_referrers.change_selected),
    post("/subscribers/filters", SUBSCRIBERS, WRITES, subscriber_filters.change),
    get_recent("/subscribers/export.csv", EXPORT, SERVICES, subscribers.export),
    *IMPORTS,
    get("/subscribers/new", SEE, READS, new_subscriber.show),
    post(
        "/subscribers/new",
        SUBSCRIBERS,
        WRITES,
        new_subscriber.create,
        new_subscriber.show,
        new_subscriber.FORM,
    ),
    get("/subscribers/{id}", SEE, READS, subscriber.show),
    post_recent(
        "/subscribers/{id}",
        SUBSCRIBERS,
        SERVICES,
        subscriber.decide,
        subscriber.show,
        subscribers.REASON,
        proof_for=ERASES,
    ),
    get("/subscribers/{id}/page", SEE, READS, subscriber.referral_page),
    get("/subscribers/{id}/export.json", SEE, READS, subscriber.export),
    post(
        "/subscribers/{id}/edit",
        SUBSCRIBERS,
        WRITES,
        subscriber_edits.save,
        subscriber.show,
        subscriber_edits.PERSON,
    ),
    post(
        "/subscribers/{id}/referrer",
        SUBSCRIBERS,
        SERVICES,
        subscriber_referrers.change,
        subscriber.show,
        subscriber_referrers.FORM,
    ),
    post("/subscribers/{id}/status", SUBSCRIBERS, WRITES, subscriber_edits.change_status),
    post(
        "/subscribers/{id}/tags",
        SUBSCRIBERS,
        WRITES,
        subscriber_edits.change_tags,
        subscriber.show,
        subscriber_edits.TAGS,
    ),
    post(
        "/subscribers/{id}/notes",
        SUBSCRIBERS,
        WRITES,
        subscriber_edits.change_notes,
        subscriber.show,
        subscriber_edits.NOTE,
    ),
    post(
        "/subscribers/{id}/adjustments",
        SUBSCRIBERS,
        WRITES,
        subscriber_edits.adjust,
        subscriber.show,
        subscriber_edits.ADJUSTMENT,
    ),
    post(
        "/subscribers/{id}/codes",
        SUBSCRIBERS,
        WRITES,
        subscriber_edits.choose_code,
        subscriber.show,
        subscriber_edits.CODE,
    ),
    post("/subscribers/{id}/link", SUBSCRIBERS, WRITES, subscriber_edits.renew_links),
    post("/subscribers/{id}/list", SUBSCRIBERS, WRITES, subscriber_edits.change_list),
    post("/subscribers/{id}/emails", SUBSCRIBERS, WRITES, subscriber_emails.send, subscriber.show),
    post("/subscribers/{id}/rewards", REWARDS, WRITES, subscriber.redeem),
    get("/overview/new", SEE, REPLICA_READS, home.new),
    get("/overview/days.csv", SEE, REPLICA_READS, overview_files.days),
    get("/overview/sources.csv", SEE, REPLICA_READS, overview_files.sources),
    get("/overview/summary.csv", SEE, REPLICA_READS, overview_files.summary),
    get("/review", SEE, READS, review.show),
    post("/review", SUBSCRIBERS, WRITES, review.decide, review.show, subscribers.REASON),
    get("/review/check", SEE, READS, referral_check.show),
    post(
        "/review/check",
        SEE,
        SERVICES,
        referral_check.check,
        referral_check.show,
        referral_check.FIELDS,
    ),
    post(
        "/review/referrer",
        SUBSCRIBERS,
        WRITES,
        review.decide_referrer,
        review.show,
        subscribers.REASON,
    ),
    post("/review/confirmations", SUBSCRIBERS, WRITES, review.release_confirmations),
    get("/rewards", SEE, READS, rewards.show),
    post("/rewards", REWARDS, WRITES, rewards.create, rewards.show, rewards.FORM.fields),
    post("/rewards/preview", SEE, READS, rewards.sketch),
    post("/rewards/hand-over", REWARDS, WRITES, rewards.hand_over),
    post("/rewards/earlier-claims", REWARDS, WRITES, rewards.forget_earlier),
    get("/rewards/{id}", SEE, READS, rewards.edit_form),
    post("/rewards/{id}", REWARDS, WRITES, rewards.edit, rewards.edit_form, rewards.FORM.fields),
    post("/rewards/{id}/delete", REWARDS, WRITES, rewards.delete),
    *SHIPMENTS,
    *LOOK,
    get("/integrations", SEE, READS, integrations.show),
    post_recent(
        "/integrations", CAMPAIGN, SERVICES, integrations.act, proof_for=does("disconnect")
    ),
    get("/integrations/fields", SEE, READS, integrations.fields_form),
    post(
        "/integrations/fields",
        CAMPAIGN,
        SERVICES,
        integrations.save_fields,
        integrations.fields_form,
        integrations.FIELD_NAMES,
    ),
    # The form too: it asks for a key, which is not to be carried through the page that asks.
    get_recent("/integrations/{platform}", SEE, READS, integrations.connect_form),
    post_recent(
        "/integrations/{platform}",
        CAMPAIGN,
        SERVICES,
        integrations.connect,
        integrations.connect_form,
    ),
    get("/webhooks", SEE, READS, webhooks.show),
    post_recent("/webhooks", WEBHOOKS, WRITES, webhooks.create, webhooks.show, webhooks.FORM),
    get("/webhooks/{id}", SEE, READS, webhooks.one),
    post_recent("/webhooks/{id}", WEBHOOKS, WRITES, webhooks.update, webhooks.one, webhooks.FORM),
    post_recent(
        "/webhooks/{id}/act",
        WEBHOOKS,
        WRITES,
        webhooks.act,
        webhooks.one,
        webhooks.ACTIONS,
        proof_for=SHOWS_OR_CHANGES_SECRET,
    ),
    *ACCOUNT_PAGES,
    get("/settings", SEE, READS, settings.show),
    get("/settings/screening-lists", SEE, READS, screening_lists.show),
    post(
        "/settings/screening-lists",
        CAMPAIGN,
        WRITES,
        screening_lists.change,
        screening_lists.show,
        screening_lists.FORM,
    ),
    get("/settings/link-hosts", SEE, READS, link_hosts.show),
    post(
        "/settings/link-hosts",
        CAMPAIGN,
        SERVICES,
        link_hosts.change,
        link_hosts.show,
        link_hosts.FORM,
    ),
    post(
        "/settings/campaign",
        CAMPAIGN,
        SERVICES,
        settings.save_campaign,
        settings.show,
        settings.FORM.fields,
    ),
    post(
        "/settings/time-zone",
        CAMPAIGN,
        WRITES,
        settings.save_time_zone,
        settings.show,
        settings.TIME_ZONE_FORM,
    ),
    get("/publications", SEE, READS, publications.show),
    get("/publications/new", SEE, READS, publications.new_form),
    post(
        "/publications/new",
        PARTNERS,
        SERVICES,
        publications.create,
        publications.new_form,
        publications.FORM.fields,
    ),
    post("/publications/preview/card", SEE, READS, publications.sketch_card),
    post("/publications/preview/page", SEE, READS, publications.sketch_page),
    get("/publications/{id}", SEE, READS, publications.edit_form),
    post(
        "/publications/{id}",
        PARTNERS,
        SERVICES,
        publications.edit,
        publications.edit_form,
        publications.FORM.fields,
    ),
    post("/publications/{id}/delete", PARTNERS, WRITES, publications.delete),
    get("/program", SEE, READS, program.index),
    get("/program/new", SEE, READS, program_form.new_form),
    post(
        "/program/new",
        PARTNERS,
        WRITES,
        program_form.create,
        program_form.new_form,
        program_form.FORM.fields,
    ),
    post("/program/preview/card", SEE, READS, program_form.sketch_card),
    post("/program/preview/cost", SEE, SERVICES, program_form.sketch_cost),
    get("/program/{id}", SEE, READS, program.show),
    get("/program/{id}/change", SEE, READS, program_form.edit_form),
    post(
        "/program/{id}/change",
        PARTNERS,
        WRITES,
        program_form.edit,
        program_form.edit_form,
        program_form.FORM.fields,
    ),
    post("/program/{id}/act", PARTNERS, WRITES, program.act),
    post("/program/{id}/verification", PARTNERS, WRITES, program.choose_verification),
    get("/program/{id}/reversal", SEE, READS, reversals.show),
    post_recent(
        "/program/{id}/reversal", MONEY, WRITES, reversals.reverse, reversals.show, reversals.FORM
    ),
    get("/program/partners/{id}", SEE, READS, partners.show),
    post(
        "/program/partners/{id}/remove",
        PARTNERS,
        WRITES,
        partners.remove,
        partners.show,
        partners.FIELDS,
    ),
    post("/program/partners/{id}/allow", PARTNERS, WRITES, partners.allow, partners.show),
    get("/network", SEE, READS, network.show),
    get("/network/{id}", SEE, READS, network.one),
    post("/network/{id}/join", PARTNERS, WRITES, network.join, network.one, network.FIELDS),
    get("/earnings", SEE, READS, earnings.show),
    get("/earnings/{id}", SEE, READS, earnings.one),
    post("/earnings/{id}/leave", PARTNERS, WRITES, earnings.leave),
    get("/payouts", SEE, READS, payouts.show),
    get_recent("/statements/{side}/{month}.csv", SEE, SERVICES, payouts.statement_csv),
    get("/statements/{side}/{month}", SEE, READS, payouts.statement),
    get("/notices", SEE, SERVICES, notifications.show),
    get("/notices/preferences", SEE, READS, notification_preferences.show),
    post_recent(
        "/notices/preferences",
        CAMPAIGN,
        WRITES,
        notification_preferences.save,
        notification_preferences.show,
        notification_preferences.FORM,
        proof_for=gives("url", "remove"),
    ),
    post("/notices/slack/test", CAMPAIGN, WRITES, notification_preferences.send_test),
    get("/notices/off/{token}", ANYONE, READS, notification_preferences.ask_off),
    post(
        "/notices/off/{token}",
        ANYONE,
        WRITES,
        notification_preferences.turn_off,
        is_signed=True,
    ),
    *ADMINISTRATION_PAGES,
    post("/clock", SEE, SERVICES, clock.move),
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
        *moved_pages.routes(LOOK),
        Route("/dashboard/{path:path}", _moved),
    ]
