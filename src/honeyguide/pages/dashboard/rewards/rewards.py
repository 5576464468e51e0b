"""Rewards: the milestones, a form with a preview of the referral page, and what is to do."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, TypeVar

from msgspec import UNSET, structs
from starlette.responses import HTMLResponse, Response

from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats, undo
from honeyguide.pages.dashboard.bound_form import BoundForm, StructForm
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.pages.readers.preview import HUB, preview
from honeyguide.rewards import coupons, earned_rewards, fulfillment, rewards
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.rewards.rewards import NewReward, Reward, RewardFields
from honeyguide.signups import delayed_actions, delayed_kinds, open_work
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import branding
from honeyguide.subscribers.branding import Branding

KIND_CHOICES = (
    ("manual", "Manual", "You deliver it yourself: a shout-out, a call, a spot on a list."),
    ("link", "Link", "Everyone who earns it gets the same URL: a download or a private page."),
    ("coupon", "Coupon code", "One shared code, or a unique code from your list."),
    ("physical", "Physical item", "They enter a postal address when they claim it; you send it."),
)
_NAMES = {key: name for key, name, _ in KIND_CHOICES}
FORM = StructForm(
    RewardFields,
    ask={
        "name": "Enter a name for the reward.",
        "referrals": "Enter how many referrals it takes.",
        "link": "Enter the link to the reward.",
        "coupon_code": "Enter the code.",
    },
    start={"referrals": "3", "variants": ""},
    more={"coupon_codes": Field("Unique codes")},
)
MOST_TO_FULFILL = 100
F = TypeVar("F", bound=RewardFields)


async def show(at: Reading, request: PageRequest) -> PageView:
    """The milestones and the form for another one, with what was typed if it was refused."""
    to_do = await fulfillment.to_fulfill(at, most=MOST_TO_FULFILL + 1)
    all_rewards = await at.fact(rewards.of_campaign)
    campaign = await at.fact(branding.of)
    return request.view(
        "rewards.html",
        campaign=campaign,
        all_rewards=all_rewards,
        to_do=to_do[:MOST_TO_FULFILL],
        waiting=await delayed_actions.of_subjects(at, [each.id for each in to_do]),
        has_more_to_do=len(to_do) > MOST_TO_FULFILL,
        earlier=await fulfillment.claimed_before(at, most=MOST_TO_FULFILL),
        kinds=KIND_CHOICES,
        form=_typed(request) if request.errors else FORM.new(),
        preview=_hub(request, campaign, all_rewards),
        to_send=formats.up_to(open_work.MOST, (await at.fact(open_work.counts)).to_send),
    )


def _hub(request: PageRequest, campaign: Branding, all_rewards: list[Reward]) -> str:
    return preview(
        HUB, campaign, campaign.words, all_rewards, base_url=request.services.site.base_url
    )


def _typed(request: PageRequest) -> BoundForm:
    """The page asks for variants line by line, and for the approval by a box."""
    return FORM.typed(
        request,
        approval="manual" if request.text("by_hand") else "automatic",
        variants=request.text("variants"),
        coupon_codes=request.text("coupon_codes"),
    )


def _valid(form: BoundForm, struct: type[F], of_kind: str, *, pool: bool, **instead: Any) -> F:
    """Everything that is wrong at once. A link reward needs its link, and a coupon its shared code
    unless it has unique ones."""
    needs = {"link": "link", "coupon": "" if pool else "coupon_code"}.get(of_kind)
    unused = {"link", "coupon_code"} - {needs}
    wrong = {}
    if forms.whole_number(form.values["referrals"]) is None:
        problem = Invalid("{field} must be a whole number, 1 or more.", param="referrals")
        wrong = forms.errors_of(problem, FORM.fields)
    return form.valid(
        struct,
        unless=unused,
        wrong=wrong,
        variants=_variants(form) if of_kind == "physical" else UNSET,
        **dict.fromkeys(unused, UNSET),
        **instead,
    )


def _variants(form: BoundForm) -> list[str]:
    """One per line; empty lines do not count."""
    return [line.strip() for line in form.values["variants"].splitlines() if line.strip()]


async def create(change: Change, request: PageRequest) -> Response:
    form = _typed(request)
    kind = form.values["kind"]
    pool = kind == "coupon" and bool(form.values["coupon_codes"])
    new = _valid(form, NewReward, kind, pool=pool)
    reward = await rewards.create(change, structs.replace(new, pool=pool))
    if reward.is_pool:
        await _add_codes(change, request, reward)
    return request.go(
        "/rewards", "Reward added. Subscribers who already qualify will get it within a minute."
    )


async def _add_codes(change: Change, request: PageRequest, reward: Reward) -> int:
    codes = coupons.read_codes(request.text("coupon_codes"))
    return await earned_rewards.add_codes(change, reward.id, codes)


async def edit_form(at: Reading, request: PageRequest) -> PageView:
    reward = await rewards.get(at, request.at("id"))
    saved = FORM.saved(reward, variants="\n".join(reward.variants or []))
    return request.view(
        "reward.html",
        reward=reward,
        form=_typed(request) if request.errors else saved,
        kinds=_NAMES,
        preview=_hub(
            request,
            await at.fact(branding.of),
            await at.fact(rewards.of_campaign),
        ),
    )


async def edit(change: Change, request: PageRequest) -> Response:
    reward = await rewards.get(change, request.at("id"))
    pool = reward.is_pool
    changes = _valid(
        _typed(request), RewardFields, reward.kind, pool=pool, kind=UNSET, recurring=UNSET
    )
    await rewards.update(change, reward.id, changes)
    added = 0
    if reward.is_pool and request.text("coupon_codes"):
        added = await _add_codes(change, request, reward)
    return request.go(
        "/rewards",
        f"Changes saved. {formats.plural(added, 'code')} added." if added else "Changes saved.",
    )


async def delete(change: Change, request: PageRequest) -> Response:
    await rewards.delete(change, request.at("id"))
    return request.go("/rewards", "Reward removed. Subscribers who earned it keep it.")


async def hand_over(change: Change, request: PageRequest) -> Response:
    return await approve_or_redeem(change, request, "/rewards")


async def forget_earlier(change: Change, request: PageRequest) -> Response:
    await fulfillment.forget_earlier_claims(change)
    return request.go("/rewards", "They are no longer listed here.")


async def approve_or_redeem(
    change: Change, request: PageRequest, where: str, *, of: str | None = None
) -> Response:
    """Approve the earned reward of the form in a minute, mark it as redeemed, or decline the
    claim."""
    approves = request.text("do") == "approve"
    earned = await earned_rewards.get(change, request.text("earned"), of=of)
    if request.text("do") == delayed_kinds.DECLINE.name:
        return await _decline(change, request, earned, where)
    if not approves and earned.kind == rewards.PHYSICAL:
        raise Invalid(
            "A physical reward is sent, not redeemed by hand. It appears under Shipments once the "
            "subscriber has claimed it and entered an address."
        )
    kind = delayed_kinds.APPROVE if approves else delayed_kinds.REDEEM
    return await undo.delay(change, request, kind, [earned.id], where)


async def _decline(
    change: Change, request: PageRequest, earned: EarnedReward, where: str
) -> Response:
    try:
        reason = fulfillment.checked_reason(request.text("reason"))
    except Invalid as fault:
        return request.go(where, fault.message_for("The sentence for the subscriber"))
    kind = delayed_kinds.DECLINE
    return await undo.delay(change, request, kind, [earned.id], where, reason=reason)


async def show_preview(at: Reading, request: PageRequest) -> Response:
    """The referral page as it would look with what is being typed, saved or not."""
    campaign = await at.fact(branding.of)
    all_rewards = await at.fact(rewards.of_campaign)
    if request.text("name"):
        others = [each for each in all_rewards if each.id != request.text("id")]
        all_rewards = sorted([*others, _draft(request)], key=attrgetter("referrals"))
    return HTMLResponse(_hub(request, campaign, all_rewards))


def _draft(request: PageRequest) -> Reward:
    number = forms.whole_number(request.text("referrals"))
    return Reward(
        id="draft",
        name=request.text("name"),
        referrals=3 if number is None else max(1, number),
        kind=request.text("kind") or "manual",
        recurring=bool(request.text("recurring")),
        approval="automatic",
        description=request.text("description") or None,
        link=None,
        coupon_code=request.text("coupon_code") or None,
        is_pool=False,
        codes_total=0,
        codes_left=0,
        waiting=0,
        created_ms=request.now_ms,
        deleted_ms=None,
    )
