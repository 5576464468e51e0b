"""The addresses of Look: how everything looks to readers, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard.look import branding, emails, embed, newsletter, pages
from honeyguide.pages.dashboard.page_route import (
    CAMPAIGN,
    EXPORT,
    READS,
    SEE,
    SERVICES,
    WRITES,
    get,
    get_recent,
    post,
)

LOOK_PAGES = (
    get("/look/pages", SEE, READS, pages.show),
    post("/look/pages", CAMPAIGN, SERVICES, pages.save, pages.show, pages.FORM),
    post("/look/pages/preview", SEE, READS, pages.show_preview),
    get("/look/branding", SEE, READS, branding.show),
    post("/look/branding", CAMPAIGN, SERVICES, branding.save, branding.show, branding.FORM.fields),
    post("/look/branding/preview", SEE, READS, branding.show_preview),
    post("/look/branding/preview/color", SEE, READS, branding.show_color_note),
    get("/look/emails", SEE, READS, emails.show),
    post("/look/emails", CAMPAIGN, WRITES, emails.save, emails.show, emails.FORM),
    get("/look/emails/stopped", SEE, READS, emails.show_stopped),
    post("/look/emails/stopped", CAMPAIGN, WRITES, emails.stop, emails.show_stopped, emails.STOP_FORM),
    get("/look/emails/preview", SEE, READS, emails.preview),
    post("/look/emails/preview", SEE, READS, emails.preview),
    post("/look/emails/test", CAMPAIGN, WRITES, emails.send_test, emails.show, emails.FORM),
    get("/look/newsletter", SEE, READS, newsletter.show),
    get("/look/newsletter/preview", SEE, READS, newsletter.preview),
    get_recent("/look/newsletter/links.csv", EXPORT, SERVICES, newsletter.links_csv),
    post("/look/newsletter/test", CAMPAIGN, WRITES, newsletter.send_test, newsletter.show, newsletter.FORM),
    get("/look/embed", SEE, READS, embed.show),
    post("/look/embed", CAMPAIGN, WRITES, embed.save, embed.show, embed.FORM),
    get("/look/embed/preview", SEE, READS, embed.preview),
    post("/look/embed/check", CAMPAIGN, SERVICES, embed.check, embed.show, embed.CHECK),
)
