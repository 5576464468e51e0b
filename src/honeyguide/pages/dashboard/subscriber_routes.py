"""The addresses of the dashboard under /subscribers, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard import (
    imports,
    new_subscriber,
    subscriber,
    subscriber_edits,
    subscriber_filters,
    subscriber_referrers,
    subscriber_tags,
    subscribers,
)
from honeyguide.pages.dashboard.page_route import PageRoute
from honeyguide.pages.handlers import Uses

READS, WRITES, SERVICES = Uses.READS, Uses.WRITES, Uses.SERVICES

SUBSCRIBER_PAGES = (
    PageRoute("GET", "/subscribers", SERVICES, subscribers.show),
    PageRoute("POST", "/subscribers/decide", SERVICES, subscribers.decide),
    PageRoute("POST", "/subscribers/tags", SERVICES, subscriber_tags.change),
    PageRoute("POST", "/subscribers/referrer", SERVICES, subscriber_referrers.change_selected),
    PageRoute("POST", "/subscribers/filters", WRITES, subscriber_filters.change),
    PageRoute("GET", "/subscribers/export.csv", SERVICES, subscribers.export),
    PageRoute("GET", "/subscribers/import", READS, imports.upload_form),
    PageRoute("POST", "/subscribers/import", SERVICES, imports.upload, form=imports.upload_form),
    PageRoute("GET", "/subscribers/import/{id}", READS, imports.show),
    PageRoute("POST", "/subscribers/import/{id}", SERVICES, imports.go_on, form=imports.show),
    PageRoute("GET", "/subscribers/import/{id}/errors.csv", READS, imports.error_file),
    PageRoute("GET", "/subscribers/new", READS, new_subscriber.show),
    PageRoute(
        "POST",
        "/subscribers/new",
        WRITES,
        new_subscriber.create,
        form=new_subscriber.show,
        fields=new_subscriber.FORM,
    ),
    PageRoute("GET", "/subscribers/{id}", READS, subscriber.show),
    PageRoute("POST", "/subscribers/{id}", SERVICES, subscriber.decide),
    PageRoute("GET", "/subscribers/{id}/export.json", READS, subscriber.export),
    PageRoute(
        "POST",
        "/subscribers/{id}/edit",
        WRITES,
        subscriber_edits.save,
        form=subscriber.show,
        fields=subscriber_edits.PERSON,
    ),
    PageRoute(
        "POST",
        "/subscribers/{id}/referrer",
        SERVICES,
        subscriber_referrers.change,
        form=subscriber.show,
        fields=subscriber_referrers.FORM,
    ),
    PageRoute("POST", "/subscribers/{id}/status", WRITES, subscriber_edits.change_status),
    PageRoute(
        "POST",
        "/subscribers/{id}/tags",
        WRITES,
        subscriber_edits.change_tags,
        form=subscriber.show,
        fields=subscriber_edits.TAGS,
    ),
    PageRoute(
        "POST",
        "/subscribers/{id}/notes",
        WRITES,
        subscriber_edits.change_notes,
        form=subscriber.show,
        fields=subscriber_edits.NOTE,
    ),
    PageRoute("POST", "/subscribers/{id}/list", WRITES, subscriber_edits.change_list),
    PageRoute("POST", "/subscribers/{id}/rewards", WRITES, subscriber.redeem),
)
