"""Rewards: the milestones, an editor with the reader's view beside it, and what waits for the operator."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import HTMLResponse, Response

from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard import subscribers as listed
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.dashboard.previews import picture
from honeyguide.pages.forms import Field
from honeyguide.pages.readers.preview import HUB
from honeyguide.referrals import campaigns, coupons, earned_rewards, rewards, subscribers
from honeyguide.referrals.rewards import NewReward, Reward, RewardChanges
from honeyguide.store.tx import Tx

KINDS = (
    ("manual", "Manual", "You deliver it yourself: a shout-out, a call, a spot on a list."),
    ("link", "Link", "Everyone who earns it gets the same URL: a download or a private page."),
    ("coupon", "Coupon code", "One shared code, or a unique code from your list."),
    ("physical", "Physical item", "They enter a postal address when they claim it; you send it."),
)
_NAMES = {key: name for key, name, _ in KINDS}
FORM = {
    "name": Field("Reward name", "Enter a name for the reward."),
    "referrals": Field("Referrals needed", "Enter how many referrals it takes."),
    "kind": Field("Type of reward"),
    "description": Field("Description"),
    "link": Field("Link", "Enter the link to the reward."),
    "coupon_code": Field("Shared code", "Enter the code."),
    "coupon_codes": Field("Unique codes"),
}
WAITING = 30


async def show(request: PageRequest) -> Response:
    return await _page(request)


async def _page(request: PageRequest, status: int = 200, **values: Any) -> Response:
    async def look(tx: Tx) -> dict[str, Any]:
        to_do = []
        for state in (earned_rewards.AWAITING, earned_rewards.UNLOCKED):
            rows, _ = await earned_rewards.page_of_earned(
                tx, request.tenant, state, Page(1, WAITING)
            )
            to_do += [
                row
                for row in rows
                if state == earned_rewards.AWAITING or row.kind in ("manual", "physical")
            ]
        names = {
            earned.subscriber_id: await subscribers.find(tx, request.tenant, earned.subscriber_id)
            for earned in to_do
        }
        return {
            "campaign": await campaigns.get(tx, request.tenant),
            "all_rewards": await rewards.of_campaign(tx, request.tenant),
            "to_do": to_do,
            "people": names,
        }

    found = await request.read(look)
    given = values.pop("given", {"kind": "manual", "approval": "automatic"})
    html = _hub(request, found["campaign"], found["all_rewards"])
    return await request.page(
        "rewards.html",
        status,
        **found,
        kinds=KINDS,
        given=given,
        preview=html,
        shipping=_shipping,
        **{"wrong": {}, **values},
    )


def _words(text: str) -> dict[str, Any]:
    kept = json.loads(text or "{}")
    return kept if isinstance(kept, dict) else {}


def _hub(request: PageRequest, campaign: campaigns.Campaign, all_rewards: list[Reward]) -> str:
    return picture(
        HUB, campaign, _words(campaign.words), all_rewards, base_url=request.services.site.base_url
    )


def _shipping(text: str | None) -> str:
    kept = _words(text or "{}")
    return ", ".join(
        str(kept[part])
        for part in ("name", "line1", "line2", "postcode", "city", "region", "country")
        if kept.get(part)
    )


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 9):
        raise Invalid("{field} must be a whole number, 1 or more.", param="referrals")
    return int(text)


def _not_needed(request: PageRequest, kind: str) -> set[str]:
    """A link is asked for where the reward is one, and a shared code where a coupon has no unique ones."""
    needed = {"link": "link", "coupon": "coupon_code"}.get(kind)
    return {"link", "coupon_code"} - (
        {needed} if needed and not request.text("coupon_codes") else set()
    )


def _new(request: PageRequest) -> NewReward:
    kind = request.text("kind") or "manual"
    codes = request.text("coupon_codes") if kind == "coupon" else ""
    return NewReward(
        name=request.text("name"),
        referrals=_number(request.text("referrals")),
        kind=kind,
        recurring=bool(request.text("recurring")),
        approval="manual" if request.text("by_hand") else "automatic",
        description=request.text("description") or None,
        link=request.text("link") or None if kind == "link" else None,
        coupon_code=request.text("coupon_code") or None if kind == "coupon" and not codes else None,
        pool=bool(codes),
    )


async def create(request: PageRequest) -> Response:
    if wrong := forms.missing(
        FORM, request.fields, unless=_not_needed(request, request.text("kind"))
    ):
        return await _page(request, 400, given=request.fields, wrong=wrong)

    async def work(tx: Tx) -> None:
        reward = await rewards.create(tx, request.tenant, _new(request), now_ms=request.now_ms)
        if reward.is_pool:
            codes = coupons.read_codes(request.text("coupon_codes"))
            await earned_rewards.add_codes(
                tx, request.services.site, request.tenant, reward.id, codes, now_ms=request.now_ms
            )

    try:
        await request.write(work)
    except Invalid as fault:
        return await _page(request, 400, given=request.fields, wrong=forms.errors_of(fault, FORM))
    return request.go(
        "/rewards", "Reward added. Subscribers who already qualify will get it within a minute."
    )


async def edit_form(request: PageRequest) -> Response:
    reward = await request.read(lambda tx: rewards.get(tx, request.tenant, request.at("id")))
    return await _edit_page(request, reward, _as_given(reward))


async def _edit_page(
    request: PageRequest, reward: Reward, given: dict[str, Any], wrong: dict[str, str] | None = None
) -> Response:
    campaign, all_rewards = await _offered(request)
    return await request.page(
        "reward.html",
        400 if wrong else 200,
        reward=reward,
        given=given,
        wrong=wrong or {},
        kinds=_NAMES,
        preview=_hub(request, campaign, all_rewards),
    )


async def _offered(request: PageRequest) -> tuple[campaigns.Campaign, list[Reward]]:
    async def look(tx: Tx) -> tuple[campaigns.Campaign, list[Reward]]:
        return await campaigns.get(tx, request.tenant), await rewards.of_campaign(
            tx, request.tenant
        )

    found: tuple[campaigns.Campaign, list[Reward]] = await request.read(look)
    return found


def _as_given(reward: Reward) -> dict[str, Any]:
    return {
        "name": reward.name,
        "referrals": reward.referrals,
        "description": reward.description or "",
        "link": reward.link or "",
        "coupon_code": reward.coupon_code or "",
        "recurring": reward.recurring,
        "by_hand": reward.approval == "manual",
    }


async def edit(request: PageRequest) -> Response:
    wanted = request.at("id")
    reward = await request.read(lambda tx: rewards.get(tx, request.tenant, wanted))
    more: dict[str, Any] = {}
    typed = {**_as_given(reward), **dict(request.fields)}
    if wrong := forms.missing(
        FORM, request.fields, unless=_not_needed(request, "" if reward.is_pool else reward.kind)
    ):
        return await _edit_page(request, reward, typed, wrong)

    async def work(tx: Tx) -> int:
        if reward.kind == "link":
            more["link"] = request.text("link")
        if reward.kind == "coupon" and not reward.is_pool:
            more["coupon_code"] = request.text("coupon_code")
        changes = RewardChanges(
            name=request.text("name"),
            referrals=_number(request.text("referrals")),
            description=request.text("description") or None,
            approval="manual" if request.text("by_hand") else "automatic",
            **more,
        )
        await rewards.update(tx, request.tenant, wanted, changes)
        codes = (
            coupons.read_codes(request.text("coupon_codes"))
            if reward.is_pool and request.text("coupon_codes")
            else []
        )
        return (
            await earned_rewards.add_codes(
                tx, request.services.site, request.tenant, wanted, codes, now_ms=request.now_ms
            )
            if codes
            else 0
        )

    try:
        added = await request.write(work)
    except Invalid as fault:
        return await _edit_page(request, reward, typed, forms.errors_of(fault, FORM))
    return request.go(
        "/rewards",
        f"Changes saved. {formats.plural(added, 'code')} added." if added else "Changes saved.",
    )


async def delete(request: PageRequest) -> Response:
    await request.write(
        lambda tx: rewards.delete(tx, request.tenant, request.at("id"), now_ms=request.now_ms)
    )
    return request.go("/rewards", "Reward removed. Subscribers who earned it keep it.")


async def hand_over(request: PageRequest) -> Response:
    wanted = request.text("earned")
    verb = earned_rewards.approve if request.text("do") == "approve" else earned_rewards.redeem
    await request.write(
        lambda tx: verb(
            tx, request.services.site, request.tenant, wanted, by=listed.BY, now_ms=request.now_ms
        )
    )
    return request.go(
        "/rewards",
        "Reward approved." if request.text("do") == "approve" else "Reward marked as redeemed.",
    )


async def sketch(request: PageRequest) -> Response:
    """The hub as it would look with what is being typed, saved or not."""
    campaign, all_rewards = await _offered(request)
    typed = request.text("name")
    if typed:
        count = request.text("referrals")
        number = int(count) if count.isascii() and count.isdigit() and 0 < len(count) < 7 else 3
        draft = Reward(
            "draft",
            typed,
            max(1, number),
            request.text("kind") or "manual",
            int(bool(request.text("recurring"))),
            "automatic",
            request.text("description") or None,
            None,
            request.text("coupon_code") or None,
            0,
            0,
            0,
            0,
            request.now_ms,
            None,
        )
        all_rewards = sorted(
            [*(each for each in all_rewards if each.id != request.text("id")), draft],
            key=lambda each: each.referrals,
        )
    return HTMLResponse(_hub(request, campaign, all_rewards))
