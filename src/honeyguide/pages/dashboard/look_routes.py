"""The addresses of Look: the pages about how everything looks to readers, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard import (
    branding,
    emails,
    embed,
    newsletter,
    pages,
    stopped_emails,
)
from honeyguide.pages.dashboard.page_route import get, post
from honeyguide.pages.handlers import Uses

READS, WRITES, SERVICES = Uses.READS, Uses.WRITES, Uses.SERVICES

LOOK = (
    get("/look/pages", READS, pages.show),
    post("/look/pages", SERVICES, pages.save, pages.show, pages.FORM),
    post("/look/pages/preview", READS, pages.sketch),
    get("/look/branding", READS, branding.show),
    post("/look/branding", SERVICES, branding.save, branding.show, branding.FORM.fields),
    post("/look/branding/preview", READS, branding.sketch),
    post("/look/branding/preview/color", READS, branding.note),
    get("/look/emails", READS, emails.show),
    post("/look/emails", WRITES, emails.save, emails.show, emails.FORM),
    get("/look/emails/stopped", READS, stopped_emails.show),
    post(
        "/look/emails/stopped", WRITES, stopped_emails.add, stopped_emails.show, stopped_emails.FORM
    ),
    get("/look/emails/preview", READS, emails.preview),
    post("/look/emails/preview", READS, emails.preview),
    post("/look/emails/test", WRITES, emails.send_test, emails.show, emails.FORM),
    get("/look/newsletter", READS, newsletter.show),
    get("/look/newsletter/preview", READS, newsletter.preview),
    get("/look/newsletter/links.csv", SERVICES, newsletter.links_csv),
    post("/look/newsletter/test", WRITES, newsletter.send_test, newsletter.show, newsletter.FORM),
    get("/look/embed", READS, embed.show),
    post("/look/embed", WRITES, embed.save, embed.show, embed.FORM),
    get("/look/embed/preview", READS, embed.preview),
    post("/look/embed/check", SERVICES, embed.check, embed.show, embed.CHECK),
)
