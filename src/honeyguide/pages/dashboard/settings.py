"""The settings of the campaign."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.kernel.errors import Fault, Invalid
from honeyguide.pages.dashboard.visit import Visit
from honeyguide.referrals import campaigns, rules

LEVELS = (
    (
        "flexible",
        "Flexible",
        "Certain fraud is rejected: own addresses, aliases, throw-away mail, loops. All else counts at once.",
    ),
    ("strong", "Strong", "Suspicions wait 7 days for your eyes, then count: same network, many from one place, bursts."),
    ("strict", "Strict", "Suspicions are rejected too. You can still verify one by hand."),
)

FIELDS = ("name", "destination_url", "slug", "hold_days")


async def show(visit: Visit) -> Response:
    return await _page(visit)


async def _page(visit: Visit, fault: Fault | None = None) -> Response:
    campaign = await visit.read(lambda tx: campaigns.get(tx, visit.owner))
    # An error that names no field is shown at the top of the form, under "".
    errors = {fault.param if fault.param in FIELDS else "": _sentence(fault)} if fault else {}
    return await visit.page(
        "settings.html",
        400 if fault else 200,
        campaign=campaign,
        levels=LEVELS,
        longest_hold_days=rules.LONGEST_HOLD_DAYS,
        errors=errors,
        page_host=visit.desk.settings.signup_page_host,
    )


def _sentence(fault: Fault) -> str:
    """What the API calls by its parameter, people call by its label."""
    label = {"destination_url": "The address", "slug": "The ending", "hold_days": "The hold", "name": "The name"}
    message = fault.message
    for param, words in label.items():
        if message.startswith(f"{param} "):
            message = words + message.removeprefix(param)
    return message if message.endswith(".") else f"{message}."


def _whole(text: str, param: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise Invalid(f"{param} must be a whole number.", param=param)
    return int(text)


async def save_campaign(visit: Visit) -> Response:
    try:
        chosen = campaigns.Settings(
            name=visit.text("name"),
            destination_url=visit.text("destination_url") or None,
            slug=visit.text("slug"),
            screening=visit.text("screening"),
            hold_days=_whole(visit.text("hold_days") or "0", "hold_days"),
            needs_confirmation=bool(visit.text("needs_confirmation")),
        )
        await visit.write(lambda tx: campaigns.configure(tx, visit.owner, chosen))
    except Invalid as fault:
        return await _page(visit, fault)
    return visit.go("/settings", "Saved. New referrals follow the new rules; those that wait keep their dates.")
