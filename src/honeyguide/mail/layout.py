"""The two parts of an email to a reader or partner: HTML in the newsletter's branding, and text.

The HTML is one table of at most 600 pixels with inline styles, since many mail programs know
nothing else. The logo is the only picture; nothing tells us whether somebody opened it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from honeyguide.kernel.colors import NEUTRAL, Palette
from honeyguide.languages.language import ENGLISH, Language
from honeyguide.mail.content import EmailText

# Programs show about this much of an email in the list of emails.
PREHEADER_LIMIT = 140


@dataclass(frozen=True)
class EmailBranding:
    name: str
    language: Language = ENGLISH
    palette: Palette = NEUTRAL
    logo_url: str | None = None
    """Absolute."""
    from_name: str | None = None
    """None for that of the installation."""
    reply_to: str | None = None
    privacy_url: str | None = None
    imprint_url: str | None = None
    own_texts: Mapping[str, str] = field(default_factory=dict)
    """The operator's texts, by the names of `mail.own_texts`."""


# What users of the dashboard get.
HONEYGUIDE = EmailBranding("Honeyguide")


class EmailLinks(NamedTuple):
    """Links below an email that are not the same in all emails of its branding."""

    stop: str | None = None
    """Where the reader stops such emails, for those that nobody asked for."""
    leave: str | None = None
    """Where they leave the referral program."""
    never: str | None = None
    """Where somebody who unsubscribed stops all emails."""
    preferences: str | None = None
    """Where a user of the dashboard chooses their notifications."""


class FooterLink(NamedTuple):
    label: str
    url: str


class Footer(NamedTuple):
    sentences: list[str]
    links: list[FooterLink]


class EmailParts(NamedTuple):
    text: str
    html: str


_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


NO_LINKS = EmailLinks()


def parts(message: EmailText, brand: EmailBranding, links: EmailLinks = NO_LINKS) -> EmailParts:
    footer = _footer(brand, links, message.reason)
    html = render(
        "email.html",
        message=message,
        blocks=[(type(block).__name__, block) for block in message.blocks],
        preheader=message.blocks[0].text[:PREHEADER_LIMIT],
        brand=brand,
        footer=footer,
        direction=brand.language.direction,
        light=brand.palette.light,
        dark=brand.palette.dark,
    )
    return EmailParts(message.text + _footer_text(footer), html)


def render(template: str, **values: Any) -> str:
    """Everything in it is escaped."""
    return _templates.get_template(template).render(**values)


def _footer(brand: EmailBranding, given: EmailLinks, reason: str) -> Footer:
    gettext = brand.language.gettext
    sentences, links = [], []
    if brand.reply_to:
        sentences.append(gettext("Questions? Just reply to this email."))
    if given.stop:
        shares = gettext(
            "You get this email because you share {newsletter} with friends.",
            newsletter=brand.name,
        )
        sentences.append(reason or shares)
        links.append(FooterLink(gettext("Stop these emails"), given.stop))
    if given.leave:
        links.append(FooterLink(gettext("Leave the program"), given.leave))
    if brand.privacy_url:
        links.append(FooterLink(gettext("Privacy policy"), brand.privacy_url))
    if brand.imprint_url:
        links.append(FooterLink(gettext("Imprint"), brand.imprint_url))
    if given.never:
        links.append(FooterLink(gettext("Never email me again"), given.never))
    if given.preferences:
        links.append(FooterLink("Choose your notifications", given.preferences))
    return Footer(sentences, links)


def _footer_text(footer: Footer) -> str:
    lines = [*footer.sentences, *(f"{link.label}\n{link.url}" for link in footer.links)]
    return "\n-- \n" + "\n".join(lines) + "\n" if lines else ""
