"""Embed: referrals on the operator's own website. Its origins, what to embed, the code for each
website builder, a live preview, a check of a page, and the last signups.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import HTMLResponse, Response

from honeyguide.accounts import attempts
from honeyguide.accounts.attempts import Limit
from honeyguide.events.outbound import Outbound
from honeyguide.kernel.clock import HOUR_MS
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.pages import rendering
from honeyguide.pages.dashboard.look import embed_check, embed_snippets
from honeyguide.pages.dashboard.look.embed_check import EmbedFinding
from honeyguide.pages.dashboard.look.embed_snippets import EMBEDDABLES, OWN_FORM, TOOLS
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field, require
from honeyguide.pages.services import PageServices
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx
from honeyguide.subscribers import branding, embeds
from honeyguide.subscribers.branding import Branding
from honeyguide.subscribers.embeds import Embed, EmbedFields

FORM = {
    "origins": Field(
        "Website addresses", "Enter at least one website, such as https://example.com."
    ),
    "keep_days": Field("Remember the referral"),
    "form_selector": Field("CSS selector of your form"),
}
CHECK = {"url": Field("Address of your page", "Enter the address of your page.")}
LAST_SIGNUPS = 10
MOST_READ = 2 * 1024 * 1024
CHECKS = Limit("embed checks by account", 30, HOUR_MS)
# Our own page may show the preview in a frame; nobody else may.
_PREVIEW_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
        "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
    ),
    "x-frame-options": "SAMEORIGIN",
    "cache-control": "no-store",
}


class ChosenCode(NamedTuple):
    what: str
    tool: str

    def query(self, **more: str) -> str:
        return urlencode({**self._asdict(), **more})


def _chosen(request: PageRequest) -> ChosenCode:
    what, tool = request.query.get("what", ""), request.query.get("tool", "")
    return ChosenCode(what if what in EMBEDDABLES else OWN_FORM, tool if tool in TOOLS else "html")


async def show(at: Reading, request: PageRequest) -> PageView:
    return await _view(at.tx, request, [])


async def _view(tx: Tx, request: PageRequest, findings: list[EmbedFinding]) -> PageView:
    embed = await _find(request.reading(tx), request)
    brand = await branding.of(request.reading(tx))
    chosen = _chosen(request)
    return request.view(
        "embed.html",
        embed=embed,
        chosen=chosen,
        embeddables=EMBEDDABLES.values(),
        tools=TOOLS.values(),
        code=_code(request, embed, brand, chosen) if embed else {},
        consent_text=brand.consent_text,
        has_leaderboard=brand.show_leaderboard,
        given=_given(request, embed),
        url=request.text("url") or (embed.origins.splitlines()[0] if embed else ""),
        findings=findings,
        signups=await embeds.last_signups(request.reading(tx), most=LAST_SIGNUPS),
    )


async def _find(at: Reading, request: PageRequest) -> Embed | None:
    """None while embedding is off."""
    embed = await embeds.find(at)
    return embed if embed is not None and embed.origins else None


def _given(request: PageRequest, embed: Embed | None) -> dict[str, str]:
    """The form's values: as they were typed if they were refused, else as they are kept."""
    if request.errors and "origins" in request.fields:
        return {name: request.text(name) for name in FORM}
    kept = embed or EmbedFields()
    return {name: str(getattr(kept, name)) for name in FORM}


def _code(
    request: PageRequest, embed: Embed, brand: Branding, chosen: ChosenCode
) -> dict[str, str]:
    base_url, (what, tool) = request.services.site.base_url, chosen
    script = embed_snippets.script_code(
        base_url, embed, tool, what, parameters=brand.link_parameters
    )
    return {
        "script": script,
        "pinned": embed_snippets.pinned_code(script),
        "element": embed_snippets.element_code(
            embed, tool, what, asks_consent=brand.consent_text is not None
        ),
        "frame": "" if what == OWN_FORM else embed_snippets.frame_code(base_url, embed, what),
        "script_place": TOOLS[tool].script_place,
        "element_place": "Mark your form with data-honeyguide."
        if what == OWN_FORM
        else TOOLS[tool].element_place,
        "policy": f"script-src {base_url}; connect-src {base_url}",
    }


async def save(change: Change, request: PageRequest) -> Response:
    if request.text("do") == "switch_off":
        await embeds.switch_off(change)
        return request.go("/look/embed", "Embedding is off. Your code works on no website now.")
    require(FORM, request.fields)
    fields = EmbedFields(
        origins=request.text("origins"),
        keep_days=0 if request.text("keep_days") == "0" else 30,
        form_selector=request.text("form_selector"),
    )
    before = await embeds.find(change)
    await embeds.save(change, fields)
    message = "Changes saved."
    in_the_code = (fields.keep_days, fields.form_selector)
    if before is not None and in_the_code != (before.keep_days, before.form_selector):
        message = "Changes saved. Copy the script again: these settings are part of it."
    return request.go(f"/look/embed?{_chosen(request).query()}", message)


async def preview(at: Reading, request: PageRequest) -> Response:
    """The element as it is on a website. For a frame."""
    embed, what = await _find(at, request), _chosen(request).what
    if embed is None or what == OWN_FORM:
        raise Missing("There is no such preview.")
    theme = "dark" if request.query.get("theme") == "dark" else "light"
    html = rendering.page("dashboard/embed_preview.html", embed=embed, what=what, theme=theme)
    return HTMLResponse(html, headers=_PREVIEW_HEADERS)


async def check(services: PageServices, request: PageRequest) -> PageView:
    """Fetches the operator's page as any visitor could, and says what is wrong with it."""
    require(CHECK, request.fields)
    url = request.text("url")
    found = await services.store.write(_begin_check, request)
    outbound = Outbound(services.policy)
    try:
        answer = await outbound.request("GET", url, body=None, headers={}, most_read=MOST_READ)
    finally:
        await outbound.close()
    findings = await asyncio.to_thread(
        embed_check.findings,
        answer,
        url=url,
        base_url=services.site.base_url,
        embed=found[0],
        asks_consent=found[1],
    )
    return await services.store.snapshot(_view, request, findings)


async def _begin_check(tx: Tx, request: PageRequest) -> tuple[Embed, bool]:
    embed = await _find(request.reading(tx), request)
    if embed is None:
        raise Invalid("Enter your websites first.")
    site, account_id = request.services.site, request.tenant.account_id
    await attempts.count(tx, site, CHECKS, account_id)
    brand = await branding.of(request.reading(tx))
    return embed, brand.consent_text is not None
