"""The rooms of the settings, and the settings of the campaign."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.accounts import accounts
from honeyguide.kernel import periods, text_matching
from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard import search
from honeyguide.pages.dashboard.bound_form import StructForm
from honeyguide.pages.dashboard.look import share_picture
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import campaigns, link_parameters, referral_states
from honeyguide.subscribers.campaigns import CampaignSettings

LEVELS = (
    (
        "flexible",
        "Flexible",
        "Rejects clear fraud: self-referrals, aliases, disposable email addresses and circular "
        "referrals. "
        "Everything else counts at once.",
    ),
    (
        "strong",
        "Strong",
        "Also holds suspicious referrals for 7 days so that you can review them; then they count. "
        "Suspicious means the same IP address, many signups from one IP address, or a burst on "
        "one link.",
    ),
    ("strict", "Strict", "Rejects suspicious referrals too. You can still verify one yourself."),
)

FORM = StructForm(
    CampaignSettings,
    ask={"name": "Enter a name.", "slug": "Enter the last part of the URL."},
    leave_out=["words"],
)
TIME_ZONE_FORM = {"time_zone": Field("Time zone", "Choose a time zone.")}


async def show_rooms(at: Reading, request: PageRequest) -> PageView:
    """All that can be set, by name; or what was asked for."""
    text = " ".join(request.query.get("q", "").split())[: search.LONGEST]
    asked = text_matching.fold(text).split()
    found = [each for each in search.settings_of(request) if each.matches(asked)] if text else []
    return request.view("rooms.html", q=text, found=found)


async def show(at: Reading, request: PageRequest) -> PageView:
    """The form: as it is saved, or as it was sent with what is wrong with it."""
    if request.errors and "time_zone" not in request.fields:
        form = FORM.typed(request, link_parameters=request.text("link_parameters"))
    else:
        saved = await at.fact(campaigns.get)
        names = link_parameters.joined(saved.link_parameters)
        form = FORM.saved(saved, link_parameters=names)
    return request.view(
        "settings.html",
        form=form,
        levels=LEVELS,
        time_zone=request.who.time_zone,
        zones=[(zone, zone.replace("_", " ")) for zone in periods.zone_names()],
        longest_hold_days=referral_states.LONGEST_HOLD_DAYS,
        page_host=request.services.settings.signup_page_host,
    )


async def save_campaign(services: PageServices, request: PageRequest) -> Response:
    names = link_parameters.parse(request.text("link_parameters"))
    days = request.text("hold_days") or "0"
    form, wrong = FORM.typed(request, hold_days=days, link_parameters=names), {}
    if forms.whole_number(days) is None:
        problem = Invalid("{field} must be a whole number of days.", param="hold_days")
        wrong = forms.errors_of(problem, FORM.fields)
    settings = form.valid(CampaignSettings, wrong=wrong)
    await request.apply(campaigns.configure, settings)
    await share_picture.refresh(request)
    return request.go(
        "/settings",
        "Changes saved. New referrals follow the new rules; pending ones keep their dates.",
    )


async def save_time_zone(change: Change, request: PageRequest) -> Response:
    forms.require(TIME_ZONE_FORM, request.fields)
    await accounts.set_time_zone(change, request.text("time_zone"))
    return request.go("/settings", "Time zone saved. All days are now cut in this zone.")
