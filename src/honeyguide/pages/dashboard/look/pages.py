"""The texts of the pages that readers see: signup, thank you and the referral page."""

from __future__ import annotations

from starlette.responses import HTMLResponse, Response

from honeyguide.languages.language import NAMES as LANGUAGES
from honeyguide.languages.language import Language, get_language
from honeyguide.pages.dashboard.look import share_picture
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field, FormErrors
from honeyguide.pages.readers.page_texts import OFF, PAGE_TEXTS, POWERED_BY, key_in, text_of
from honeyguide.pages.readers.preview import HUB, PREVIEWED_PAGES, SIGNUP, preview
from honeyguide.pages.services import PageServices
from honeyguide.rewards import newsletter_links, rewards
from honeyguide.rewards.rewards import Reward
from honeyguide.store.reading import Reading, reads
from honeyguide.subscribers import branding, campaigns
from honeyguide.subscribers.branding import Branding
from honeyguide.subscribers.campaigns import CampaignSettings

# Which texts are edited beside which page.
ON_PAGE = {
    "signup": ("tagline", "promise", "details", "button", "small_print"),
    "thanks": ("thanks", "invite", "check_inbox"),
    "hub": ("hub_note", "share_subject", "share_message"),
}
NAMES = {"signup": "Signup", "thanks": "Thank you", "hub": "Referral page"}
FORM = {"words": Field("Text"), **{each.key: Field(each.label) for each in PAGE_TEXTS}}


def _kind(request: PageRequest) -> str:
    kind = request.query.get("page", SIGNUP)
    return kind if kind in PREVIEWED_PAGES else SIGNUP


def _language(request: PageRequest, campaign: Branding) -> Language:
    """The language whose texts are edited. Where pages do not follow the reader's browser, there
    is only the campaign's."""
    asked = request.query.get("language", "")
    return get_language(asked if campaign.follow_browser_language and asked else campaign.language)


def _typed(request: PageRequest, campaign: Branding) -> dict[str, str]:
    """What is saved already, replaced by what this form says.

    A default text is not saved, so that a better default reaches everyone who left it alone.
    """
    texts, language = dict(campaign.words), _language(request, campaign)
    for each in PAGE_TEXTS:
        if each.key in request.fields:
            keep_text(
                texts,
                each.key,
                request.text(each.key),
                campaign.language,
                language,
                default=language.gettext(each.default),
            )
    texts.pop(POWERED_BY, None)
    return texts if request.text(POWERED_BY) else {**texts, POWERED_BY: OFF}


def keep_text(
    texts: dict[str, str],
    key: str,
    typed: str,
    campaign_language: str,
    language: Language,
    *,
    default: str,
) -> None:
    """Changes the kept texts to what was typed for this language. What would be shown anyway is not
    kept."""
    in_language = key_in(key, language)
    target = key if language.code == campaign_language else in_language
    texts.pop(target, None)
    texts.pop(in_language, None)
    if typed not in ("", language.own_text(texts, key) or default):
        texts[target] = typed


async def _load(at: Reading, request: PageRequest) -> tuple[Branding, list[Reward]]:
    return await at.fact(branding.of), await at.fact(rewards.of_campaign)


async def show(at: Reading, request: PageRequest) -> PageView:
    campaign, all_rewards = await _load(at, request)
    texts = _typed(request, campaign) if request.errors else campaign.words
    kind, site, language = _kind(request), request.services.site, _language(request, campaign)
    shown = campaign._replace(language=language.code)
    return request.view(
        "pages.html",
        campaign=campaign,
        page_texts=[each for each in PAGE_TEXTS if each.key in ON_PAGE[kind]],
        given={each.key: text_of(each, texts, language) for each in PAGE_TEXTS},
        language=language,
        languages=LANGUAGES if campaign.follow_browser_language else {},
        kind=kind,
        names=NAMES,
        shows_us=texts.get(POWERED_BY) != OFF,
        preview=preview(kind, shown, texts, all_rewards, base_url=site.base_url),
        address=(
            newsletter_links.everyone_url(site, campaign.slug)
            if kind == HUB
            else site.page_link(campaign.slug)
        ),
    )


async def save(services: PageServices, request: PageRequest) -> Response:
    campaign = await services.store.read(
        reads(branding.of, request.services.site, request.tenant, request.now_ms)
    )
    texts = _typed(request, campaign)
    too_long = {
        each.key: f"{each.label} must be at most {each.limit} characters long."
        for each in PAGE_TEXTS
        if len(request.text(each.key)) > each.limit
    }
    if too_long:
        raise FormErrors(too_long)
    settings = CampaignSettings(words=texts)
    await request.apply(campaigns.configure, settings)
    await share_picture.refresh(request)
    back = f"/look/pages?page={_kind(request)}"
    if campaign.follow_browser_language:
        back += f"&language={_language(request, campaign).code}"
    return request.go(back, "Changes saved. Your pages show them now.")


async def show_preview(at: Reading, request: PageRequest) -> Response:
    """A page with the texts as they are being typed, saved or not."""
    campaign, all_rewards = await _load(at, request)
    texts, base_url = _typed(request, campaign), request.services.site.base_url
    shown = campaign._replace(language=_language(request, campaign).code)
    return HTMLResponse(preview(_kind(request), shown, texts, all_rewards, base_url=base_url))
