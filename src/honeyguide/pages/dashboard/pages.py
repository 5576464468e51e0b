"""Pages: what readers see, signup, thank-you and hub, in the operator's own words."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import HTMLResponse, Response

from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.forms import Field
from honeyguide.pages.readers.preview import KINDS, SIGNUP, preview
from honeyguide.pages.readers.words import OFF, POWERED_BY, WORDS
from honeyguide.referrals import campaigns, rewards
from honeyguide.referrals.campaigns import Campaign, CampaignSettings
from honeyguide.referrals.rewards import Reward
from honeyguide.store.tx import Tx

# Which texts are changed beside which page.
ON_PAGE = {
    "signup": ("tagline", "promise", "details", "button", "small_print"),
    "thanks": ("thanks", "invite", "check_inbox"),
    "hub": ("hub_note", "share_subject", "share_message"),
}
NAMES = {"signup": "Signup", "thanks": "Thank you", "hub": "Referral page"}
FORM = {"words": Field("Text"), **{word.key: Field(word.label) for word in WORDS}}


def _kind(request: PageRequest) -> str:
    kind = request.query.get("page", SIGNUP)
    return kind if kind in KINDS else SIGNUP


async def _look(request: PageRequest) -> tuple[Campaign, list[Reward]]:
    async def look(tx: Tx) -> tuple[Campaign, list[Reward]]:
        return await campaigns.get(tx, request.tenant), await rewards.of_campaign(
            tx, request.tenant
        )

    found: tuple[Campaign, list[Reward]] = await request.read(look)
    return found


async def show(request: PageRequest) -> Response:
    return await _page(request)


async def _page(
    request: PageRequest,
    status: int = 200,
    typed: dict[str, str] | None = None,
    wrong: dict[str, str] | None = None,
) -> Response:
    campaign, all_rewards = await _look(request)
    given: dict[str, Any] = typed if typed is not None else json.loads(campaign.words or "{}")
    kind = _kind(request)
    words = [word for word in WORDS if word.key in ON_PAGE[kind]]
    return await request.page(
        "pages.html",
        status,
        campaign=campaign,
        words=words,
        given=given,
        kind=kind,
        names=NAMES,
        wrong=wrong or {},
        shows_us=given.get(POWERED_BY) != OFF,
        preview=preview(
            kind, campaign, given, all_rewards, base_url=request.services.site.base_url
        ),
        address=request.services.site.page_link(campaign.slug),
    )


def _typed(request: PageRequest, campaign: Campaign) -> dict[str, str]:
    """What is kept already, under what this form says. A default is not kept: a better one reaches everybody who left it."""
    kept: dict[str, str] = json.loads(campaign.words or "{}")
    for word in WORDS:
        if word.key in request.fields:
            kept.pop(word.key, None)
            if request.text(word.key) not in ("", word.default):
                kept[word.key] = request.text(word.key)
    kept.pop(POWERED_BY, None)
    return kept if request.text(POWERED_BY) else {**kept, POWERED_BY: OFF}


async def save(request: PageRequest) -> Response:
    campaign, _ = await _look(request)
    typed = _typed(request, campaign)
    wrong = {
        word.key: f"{word.label} must be at most {word.limit} characters long."
        for word in WORDS
        if len(typed.get(word.key, "")) > word.limit
    }
    if wrong:
        return await _page(request, 400, typed, wrong)
    try:
        await request.write(
            lambda tx: campaigns.configure(tx, request.tenant, CampaignSettings(words=typed))
        )
    except Invalid as fault:
        return await _page(request, 400, typed, forms.errors_of(fault, FORM))
    return request.go(f"/pages?page={_kind(request)}", "Changes saved. Your pages show them now.")


async def sketch(request: PageRequest) -> Response:
    """A page with what is being typed, saved or not."""
    campaign, all_rewards = await _look(request)
    return HTMLResponse(
        preview(
            _kind(request),
            campaign,
            _typed(request, campaign),
            all_rewards,
            base_url=request.services.site.base_url,
        )
    )
