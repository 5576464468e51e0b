"""A subscriber's referral page as data, for whoever has its secret link. A form emails that link.

Rewards are claimed on the referral page itself, which no other website can frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.site import Site
from honeyguide.languages.language import Language, translatable
from honeyguide.pages.embeds.endpoint import EmbedRequest
from honeyguide.pages.readers import hub as reader_hub
from honeyguide.pages.readers import progress, sharing
from honeyguide.pages.readers.page_branding import PageBranding
from honeyguide.pages.readers.progress import Progress, ReferralCount, RewardStep
from honeyguide.pages.readers.reader_services import ReaderServices
from honeyguide.rewards import earned_rewards, rewards
from honeyguide.rewards.earned_states import EarnedReward, EarnedState
from honeyguide.rewards.rewards import Reward
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx
from honeyguide.subscribers import codes, hub
from honeyguide.subscribers.subscribers import Subscriber

# The dashboard's preview asks for this page, which is nobody's.
SAMPLE = "sample"
SAMPLE_CODE, SAMPLE_REFERRALS = "sample", 1
UNKNOWN = translatable("This link doesn’t work")


class HubData(NamedTuple):
    link: str
    referrals: ReferralCount
    rewards: list[Reward]
    earned: list[EarnedReward]


async def show(tx: Tx, request: EmbedRequest) -> Mapping[str, Any]:
    site, token = request.services.site, request.fields.get("token", "")
    found = await _find(tx, site, request.brand, token)
    if found is None:
        raise Missing(UNKNOWN)
    return _view(request.brand, found)


async def find(services: ReaderServices, request: EmbedRequest) -> Mapping[str, Any]:
    """Answers the same, and as fast, if the address is unknown: the lookup comes afterwards."""
    await request.count()
    email = EmailAddress.parse(request.fields.get("email", ""))
    await reader_hub.send_links_later(services, request.brand, email, request.now_ms)
    return {"ok": True}


async def _find(tx: Tx, site: Site, brand: PageBranding, token: str) -> HubData | None:
    tenant = brand.tenant
    at = Reading(tx, site, tenant, tx.now_ms)
    if token == SAMPLE:
        offered = await rewards.of_campaign(at)
        return HubData(
            site.reader_link(SAMPLE_CODE), ReferralCount(SAMPLE_REFERRALS, 1), offered, []
        )
    found = await hub.find(tx, site, token)
    if found is None or found[0] != tenant:
        return None
    person: Subscriber = found[1]
    earned, _ = await earned_rewards.some_earned_by(at, person.id)
    return HubData(
        codes.link(site, brand.campaign.slug, await codes.shared(at, person)),
        ReferralCount.of(person),
        await rewards.of_campaign(at),
        earned,
    )


def _view(brand: PageBranding, found: HubData) -> dict[str, Any]:
    language = brand.language
    gettext = language.gettext
    measured = progress.measure(language, found.rewards, found.earned, found.referrals)
    share = sharing.of(brand.texts, found.link)
    return {
        "title": _headline(language, measured),
        "counts": _counts(language, measured),
        "link": share.link,
        "link_label": gettext("Your link to share"),
        "copy": gettext("Copy"),
        "copied": gettext("Copied"),
        "share": [
            {"name": gettext("Email"), "url": share.mail},
            *({"name": each.name, "url": each.url} for each in share.social),
        ],
        "rewards_title": gettext("Rewards"),
        "rewards": [_reward(language, step) for step in measured.steps],
        "page": gettext("Open your referral page"),
    }


def _headline(language: Language, measured: Progress) -> str:
    if measured.next_name:
        return language.gettext(
            "Next reward: {reward}. Still to go: {count}",
            reward=measured.next_name,
            count=language.number(measured.left),
        )
    if measured.ready:
        return language.gettext("Ready to claim")
    if measured.steps:
        return language.gettext("You’ve earned every reward. Thank you!")
    return language.gettext("Your link")


def _counts(language: Language, measured: Progress) -> str:
    friends = language.gettext(
        "Friends referred so far: {count}", count=language.number(measured.verified)
    )
    return f"{friends} · {measured.adjusted}" if measured.adjusted else friends


def _reward(language: Language, step: RewardStep) -> dict[str, Any]:
    can_claim = step.state == EarnedState.UNLOCKED
    state = language.gettext(step.state.reader_label) if step.state else ""
    return {
        "name": step.name,
        "needs": step.needs,
        "is_reached": step.state is not None,
        "state": language.gettext("Claim") if can_claim else state,
        "can_claim": can_claim,
    }
