"""Rewards: the milestones, an editor with the reader's view beside it, and what waits for the operator."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import HTMLResponse, Response

from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.pages import forms
from honeyguide.pages.dashboard import figures
from honeyguide.pages.dashboard import subscribers as listed
from honeyguide.pages.dashboard.frames import picture
from honeyguide.pages.dashboard.visit import Visit
from honeyguide.pages.forms import Field
from honeyguide.pages.readers.preview import HUB
from honeyguide.referrals import campaigns, coupons, milestones, people, rewards
from honeyguide.referrals.milestones import Changes, NewReward, Reward
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


async def show(visit: Visit) -> Response:
    return await _page(visit)


async def _page(visit: Visit, status: int = 200, **values: Any) -> Response:
    async def look(tx: Tx) -> dict[str, Any]:
        to_do = []
        for state in (rewards.AWAITING, rewards.UNLOCKED):
            rows, _ = await rewards.page_of_won(tx, visit.owner, state, Page(1, WAITING))
            to_do += [row for row in rows if state == rewards.AWAITING or row.kind in ("manual", "physical")]
        names = {won.subscriber_id: await people.find(tx, visit.owner, won.subscriber_id) for won in to_do}
        return {
            "campaign": await campaigns.get(tx, visit.owner),
            "ladder": await milestones.of_campaign(tx, visit.owner),
            "to_do": to_do,
            "people": names,
        }

    found = await visit.read(look)
    given = values.pop("given", {"kind": "manual", "approval": "automatic"})
    html = _hub(visit, found["campaign"], found["ladder"])
    return await visit.page(
        "rewards.html", status, **found, kinds=KINDS, given=given, preview=html, shipping=_shipping,
        **{"wrong": {}, **values},
    )  # fmt: skip


def _words(text: str) -> dict[str, Any]:
    kept = json.loads(text or "{}")
    return kept if isinstance(kept, dict) else {}


def _hub(visit: Visit, campaign: campaigns.Campaign, ladder: list[Reward]) -> str:
    return picture(HUB, campaign, _words(campaign.words), ladder, base_url=visit.desk.site.base_url)


def _shipping(text: str | None) -> str:
    kept = _words(text or "{}")
    return ", ".join(
        str(kept[part]) for part in ("name", "line1", "line2", "postcode", "city", "region", "country") if kept.get(part)
    )


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 9):
        raise Invalid("{field} must be a whole number, 1 or more.", param="referrals")
    return int(text)


def _not_needed(visit: Visit, kind: str) -> set[str]:
    """A link is asked for where the reward is one, and a shared code where a coupon has no unique ones."""
    needed = {"link": "link", "coupon": "coupon_code"}.get(kind)
    return {"link", "coupon_code"} - ({needed} if needed and not visit.text("coupon_codes") else set())


def _new(visit: Visit) -> NewReward:
    kind = visit.text("kind") or "manual"
    codes = visit.text("coupon_codes") if kind == "coupon" else ""
    return NewReward(
        name=visit.text("name"), referrals=_number(visit.text("referrals")), kind=kind,
        recurring=bool(visit.text("recurring")), approval="manual" if visit.text("by_hand") else "automatic",
        description=visit.text("description") or None, link=visit.text("link") or None if kind == "link" else None,
        coupon_code=visit.text("coupon_code") or None if kind == "coupon" and not codes else None, pool=bool(codes),
    )  # fmt: skip


async def create(visit: Visit) -> Response:
    if wrong := forms.missing(FORM, visit.fields, unless=_not_needed(visit, visit.text("kind"))):
        return await _page(visit, 400, given=visit.fields, wrong=wrong)

    async def work(tx: Tx) -> None:
        reward = await milestones.create(tx, visit.owner, _new(visit), now_ms=visit.now_ms)
        if reward.is_pool:
            codes = coupons.read_codes(visit.text("coupon_codes"))
            await rewards.add_codes(tx, visit.desk.site, visit.owner, reward.id, codes, now_ms=visit.now_ms)

    try:
        await visit.write(work)
    except Invalid as fault:
        return await _page(visit, 400, given=visit.fields, wrong=forms.errors_of(fault, FORM))
    return visit.go("/rewards", "Reward added. Subscribers who already qualify will get it within a minute.")


async def edit_form(visit: Visit) -> Response:
    reward = await visit.read(lambda tx: milestones.get(tx, visit.owner, visit.at("id")))
    return await _edit_page(visit, reward, _as_given(reward))


async def _edit_page(visit: Visit, reward: Reward, given: dict[str, Any], wrong: dict[str, str] | None = None) -> Response:
    campaign, ladder = await _offered(visit)
    return await visit.page(
        "reward.html", 400 if wrong else 200, reward=reward, given=given, wrong=wrong or {}, kinds=_NAMES,
        preview=_hub(visit, campaign, ladder),
    )  # fmt: skip


async def _offered(visit: Visit) -> tuple[campaigns.Campaign, list[Reward]]:
    async def look(tx: Tx) -> tuple[campaigns.Campaign, list[Reward]]:
        return await campaigns.get(tx, visit.owner), await milestones.of_campaign(tx, visit.owner)

    found: tuple[campaigns.Campaign, list[Reward]] = await visit.read(look)
    return found


def _as_given(reward: Reward) -> dict[str, Any]:
    return {
        "name": reward.name, "referrals": reward.referrals, "description": reward.description or "", "link": reward.link or "",
        "coupon_code": reward.coupon_code or "", "recurring": reward.recurring, "by_hand": reward.approval == "manual",
    }  # fmt: skip


async def edit(visit: Visit) -> Response:
    wanted = visit.at("id")
    reward = await visit.read(lambda tx: milestones.get(tx, visit.owner, wanted))
    more: dict[str, Any] = {}
    typed = {**_as_given(reward), **dict(visit.fields)}
    if wrong := forms.missing(FORM, visit.fields, unless=_not_needed(visit, "" if reward.is_pool else reward.kind)):
        return await _edit_page(visit, reward, typed, wrong)

    async def work(tx: Tx) -> int:
        if reward.kind == "link":
            more["link"] = visit.text("link")
        if reward.kind == "coupon" and not reward.is_pool:
            more["coupon_code"] = visit.text("coupon_code")
        changes = Changes(
            name=visit.text("name"), referrals=_number(visit.text("referrals")), description=visit.text("description") or None,
            approval="manual" if visit.text("by_hand") else "automatic", **more,
        )  # fmt: skip
        await milestones.update(tx, visit.owner, wanted, changes)
        codes = coupons.read_codes(visit.text("coupon_codes")) if reward.is_pool and visit.text("coupon_codes") else []
        return await rewards.add_codes(tx, visit.desk.site, visit.owner, wanted, codes, now_ms=visit.now_ms) if codes else 0

    try:
        added = await visit.write(work)
    except Invalid as fault:
        return await _edit_page(visit, reward, typed, forms.errors_of(fault, FORM))
    return visit.go("/rewards", f"Changes saved. {figures.plural(added, 'code')} added." if added else "Changes saved.")


async def delete(visit: Visit) -> Response:
    await visit.write(lambda tx: milestones.delete(tx, visit.owner, visit.at("id"), now_ms=visit.now_ms))
    return visit.go("/rewards", "Reward removed. Subscribers who earned it keep it.")


async def hand_over(visit: Visit) -> Response:
    wanted = visit.text("won")
    verb = rewards.approve if visit.text("do") == "approve" else rewards.redeem
    await visit.write(lambda tx: verb(tx, visit.desk.site, visit.owner, wanted, by=listed.BY, now_ms=visit.now_ms))
    return visit.go("/rewards", "Reward approved." if visit.text("do") == "approve" else "Reward marked as redeemed.")


async def sketch(visit: Visit) -> Response:
    """The hub as it would look with what is being typed, saved or not."""
    campaign, ladder = await _offered(visit)
    typed = visit.text("name")
    if typed:
        count = visit.text("referrals")
        number = int(count) if count.isascii() and count.isdigit() and 0 < len(count) < 7 else 3
        draft = Reward(
            "draft", typed, max(1, number), visit.text("kind") or "manual", int(bool(visit.text("recurring"))), "automatic",
            visit.text("description") or None, None, visit.text("coupon_code") or None, 0, 0, 0, 0, visit.now_ms, None,
        )  # fmt: skip
        ladder = sorted([*(each for each in ladder if each.id != visit.text("id")), draft], key=lambda each: each.referrals)
    return HTMLResponse(_hub(visit, campaign, ladder))
