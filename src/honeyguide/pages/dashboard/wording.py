"""Pages: what readers see, signup, thank-you and hub, in the operator's own words."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import HTMLResponse, Response

from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard.frames import picture
from honeyguide.pages.dashboard.visit import Visit
from honeyguide.pages.forms import Field
from honeyguide.pages.readers.preview import KINDS, SIGNUP
from honeyguide.pages.readers.words import OFF, POWERED_BY, WORDS
from honeyguide.referrals import campaigns, milestones
from honeyguide.referrals.campaigns import Campaign, Settings
from honeyguide.referrals.milestones import Reward
from honeyguide.store.tx import Tx

# Which texts are changed beside which page.
ON_PAGE = {
    "signup": ("tagline", "promise", "details", "button", "small_print"),
    "thanks": ("thanks", "invite", "check_inbox"),
    "hub": ("hub_note", "share_subject", "share_message"),
}
NAMES = {"signup": "Signup", "thanks": "Thank you", "hub": "Referral page"}
FORM = {"words": Field("Text"), **{word.key: Field(word.label) for word in WORDS}}


def _kind(visit: Visit) -> str:
    kind = visit.query.get("page", SIGNUP)
    return kind if kind in KINDS else SIGNUP


async def _look(visit: Visit) -> tuple[Campaign, list[Reward]]:
    async def look(tx: Tx) -> tuple[Campaign, list[Reward]]:
        return await campaigns.get(tx, visit.owner), await milestones.of_campaign(tx, visit.owner)

    found: tuple[Campaign, list[Reward]] = await visit.read(look)
    return found


async def show(visit: Visit) -> Response:
    return await _page(visit)


async def _page(
    visit: Visit, status: int = 200, typed: dict[str, str] | None = None, wrong: dict[str, str] | None = None
) -> Response:
    campaign, ladder = await _look(visit)
    given: dict[str, Any] = typed if typed is not None else json.loads(campaign.words or "{}")
    kind = _kind(visit)
    words = [word for word in WORDS if word.key in ON_PAGE[kind]]
    return await visit.page(
        "pages.html", status, campaign=campaign, words=words, given=given, kind=kind, names=NAMES, wrong=wrong or {},
        shows_us=given.get(POWERED_BY) != OFF,
        preview=picture(kind, campaign, given, ladder, base_url=visit.desk.site.base_url),
        address=visit.desk.site.page_link(campaign.slug),
    )  # fmt: skip


def _typed(visit: Visit, campaign: Campaign) -> dict[str, str]:
    """What is kept already, under what this form says. A default is not kept: a better one reaches everybody who left it."""
    kept: dict[str, str] = json.loads(campaign.words or "{}")
    for word in WORDS:
        if word.key in visit.fields:
            kept.pop(word.key, None)
            if visit.text(word.key) not in ("", word.default):
                kept[word.key] = visit.text(word.key)
    kept.pop(POWERED_BY, None)
    return kept if visit.text(POWERED_BY) else {**kept, POWERED_BY: OFF}


async def save(visit: Visit) -> Response:
    campaign, _ = await _look(visit)
    typed = _typed(visit, campaign)
    wrong = {
        word.key: f"{word.label} must be at most {word.limit} characters long."
        for word in WORDS
        if len(typed.get(word.key, "")) > word.limit
    }
    if wrong:
        return await _page(visit, 400, typed, wrong)
    try:
        await visit.write(lambda tx: campaigns.configure(tx, visit.owner, Settings(words=typed)))
    except Invalid as fault:
        return await _page(visit, 400, typed, forms.errors_of(fault, FORM))
    return visit.go(f"/pages?page={_kind(visit)}", "Changes saved. Your pages show them now.")


async def sketch(visit: Visit) -> Response:
    """A page with what is being typed, saved or not."""
    campaign, ladder = await _look(visit)
    return HTMLResponse(picture(_kind(visit), campaign, _typed(visit, campaign), ladder, base_url=visit.desk.site.base_url))
