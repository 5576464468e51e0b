"""The settings of the campaign."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.forms import Field
from honeyguide.referrals import campaigns, rules

LEVELS = (
    (
        "flexible",
        "Flexible",
        "Rejects clear fraud: self-referrals, aliases, disposable email addresses and circular referrals. "
        "Everything else counts at once.",
    ),
    (
        "strong",
        "Strong",
        "Also holds suspicious referrals for 7 days so that you can review them; then they count. "
        "Suspicious means the same IP address, many signups from one IP address, or a burst on one link.",
    ),
    ("strict", "Strict", "Rejects suspicious referrals too. You can still verify one yourself."),
)

FORM = {
    "name": Field("Name", "Enter a name."),
    "destination_url": Field("Landing page"),
    "slug": Field("Signup page URL", "Enter the last part of the URL."),
    "screening": Field("Screening"),
    "hold_days": Field("Holding period"),
}


async def show(request: PageRequest) -> Response:
    return await _page(request)


async def _page(request: PageRequest, errors: dict[str, str] | None = None) -> Response:
    """The form: as it is saved, or as it was sent with what is wrong with it."""
    campaign = await request.read(lambda tx: campaigns.get(tx, request.tenant))
    entered: dict[str, Any] = campaign._asdict()
    if errors:
        entered |= {
            **dict(request.fields),
            "needs_confirmation": bool(request.text("needs_confirmation")),
        }
    return await request.page(
        "settings.html",
        400 if errors else 200,
        entered=entered,
        levels=LEVELS,
        longest_hold_days=rules.LONGEST_HOLD_DAYS,
        errors=errors or {},
        page_host=request.services.settings.signup_page_host,
    )


def _hold_days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise Invalid("{field} must be a whole number of days.", param="hold_days")
    return int(text)


async def save_campaign(request: PageRequest) -> Response:
    if errors := forms.missing(FORM, request.fields):
        return await _page(request, errors)
    try:
        chosen = campaigns.CampaignSettings(
            name=request.text("name"),
            destination_url=request.text("destination_url") or None,
            slug=request.text("slug"),
            screening=request.text("screening"),
            hold_days=_hold_days(request.text("hold_days") or "0"),
            needs_confirmation=bool(request.text("needs_confirmation")),
        )
        await request.write(lambda tx: campaigns.configure(tx, request.tenant, chosen))
    except Invalid as fault:
        return await _page(request, forms.errors_of(fault, FORM))
    return request.go(
        "/settings",
        "Changes saved. New referrals follow the new rules; pending ones keep their dates.",
    )
