"""What the elements on a website show before anybody does anything: colors, texts and fields. It is
the same for every visitor, so browsers and proxies may keep it for some minutes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from honeyguide.pages.embeds.endpoint import EmbedRequest
from honeyguide.pages.readers import forms, signup
from honeyguide.pages.readers.page_branding import PageBranding
from honeyguide.pages.readers.reader_services import ReaderServices

CACHE_CONTROL = "public, max-age=300"


async def show(services: ReaderServices, request: EmbedRequest) -> Mapping[str, Any]:
    brand = request.brand
    gettext, palette = brand.language.gettext, brand.campaign.palette
    return {
        "language": brand.language.code,
        "direction": brand.language.direction,
        "colors": {"light": asdict(palette.light), "dark": asdict(palette.dark)},
        "trap": forms.TRAP,
        "try_again": gettext("Please try again in a minute."),
        "signup": _signup(brand),
        "find": {
            "title": gettext("Find your referral page"),
            "lead": gettext(
                "Enter the email address you subscribed with. We’ll email you a link to your "
                "referral page."
            ),
            "email": gettext("Your email address"),
            "button": gettext("Email me the link"),
            "done": {
                "title": gettext("Check your inbox"),
                "lead": gettext(
                    "If you’re subscribed with that email address, a link to your referral page is "
                    "on its way."
                ),
            },
        },
    }


def _signup(brand: PageBranding) -> dict[str, Any]:
    gettext, campaign, texts = brand.language.gettext, brand.campaign, brand.texts
    return {
        "title": texts.promise,
        "lead": texts.details,
        "email": gettext("Your email address"),
        "name": f"{gettext('First name')} {gettext('(optional)')}" if campaign.asks_name else None,
        "longest_name": signup.LONGEST_NAME,
        "consent": _consent(brand),
        "button": texts.button,
        "small_print": texts.small_print,
        "done": {
            "title": texts.thanks,
            "lead": gettext(
                "We’ve emailed you a link to your referral page. If it isn’t in your inbox, check "
                "your spam folder."
            ),
        },
        "confirm": {
            "title": texts.check_inbox,
            "lead": gettext(
                "We’ve sent you an email. Open it and tap the link to confirm your subscription "
                "and get your own link to share."
            ),
        },
        "slow": gettext(
            "Many people are signing up through this link right now, so the email can take longer "
            "than usual."
        ),
        "wait": gettext("One moment: your browser is showing that it isn’t a robot."),
    }


def _consent(brand: PageBranding) -> dict[str, Any] | None:
    campaign = brand.campaign
    if campaign.consent_text_id is None:
        return None
    return {
        "id": campaign.consent_text_id,
        "text": campaign.consent_text,
        "privacy_url": campaign.privacy_url,
        "privacy": brand.language.gettext("Privacy policy"),
    }
