"""Reader pages with a sample reader, for the operator who is changing texts or rewards. They are
shown in a frame, without scripts, and nothing on them leads anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.site import Site
from honeyguide.pages.readers import page_branding, progress, sharing
from honeyguide.pages.readers.hub import HubVisitor, LeaderboardPlace, shown_values
from honeyguide.pages.readers.page_branding import PageBranding
from honeyguide.pages.readers.page_texts import PageTexts
from honeyguide.pages.readers.showing import html
from honeyguide.pages.readers.signup import LONGEST_NAME
from honeyguide.rewards.earned_rewards import REDEEMED, UNLOCKED
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.rewards.rewards import Reward
from honeyguide.subscribers.branding import Branding
from honeyguide.subscribers.hub_choices import HubChoices

SIGNUP, THANKS, HUB = PREVIEWED_PAGES = ("signup", "thanks", "hub")
SAMPLE_LINK = "/r/h0neyb1d"
SAMPLE_MS = 1_760_000_000_000
SAMPLE_LEADERBOARD = [
    LeaderboardPlace("Ben B.", 12, is_reader=False),
    LeaderboardPlace("Ana S.", 4, is_reader=True),
    LeaderboardPlace("Leila", 2, is_reader=False),
]
# What is a referral page's only for whoever has the key to it.
_NO_KEYS: dict[str, Any] = {
    "errors": {},
    "hub": "",
    "welcome": False,
    "own_code": None,
    "token": "",
    "choices_token": "",
    "has_saved": False,
    "stop_url": "",
    "active_token": "",
}
_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE)
# What a reader's browser shows once the script runs; a preview runs none.
_HIDDEN_COPY_BUTTON = re.compile(r'(<button [^>]*data-copy="[^>]*) hidden>')


def preview(
    kind: str,
    found: Branding,
    texts: dict[str, Any],
    rewards: Sequence[Reward],
    *,
    base_url: str = "https://example.org",
    theme: str = "",
) -> str:
    """A whole page as HTML: `signup`, `thanks` or `hub`. `theme` is `light`, `dark`, or empty for
    the browser's."""
    page = _page(kind, found, texts, rewards, base_url)
    return page.replace("<html ", f'<html data-theme="{theme}" ', 1) if theme else page


def _page(
    kind: str, found: Branding, texts: dict[str, Any], rewards: Sequence[Reward], base_url: str
) -> str:
    brand = page_branding.of_campaign(found)
    brand = replace(brand, texts=PageTexts(texts, found.name, brand.language))
    share = sharing.of(brand.texts, base_url + SAMPLE_LINK)
    if kind == SIGNUP:
        return _signup(brand, "ref", base_url)
    if kind == THANKS:
        return _html("thanks.html", brand, share=share, start_url="", rewards=list(rewards)[:3])
    verified = _sample_count(rewards)
    return _html(
        "hub.html",
        brand,
        **_NO_KEYS,
        first_name="Ana",
        share=share,
        progress=progress.measure(
            brand.language,
            rewards,
            _sample_earned(rewards, verified, SAMPLE_MS),
            progress.ReferralCount(verified, 1),
        ),
        choices=HubChoices(),
        public_first_name="Ana",
        public_short_name="Ana S.",
        leaderboard=SAMPLE_LEADERBOARD if brand.campaign.show_leaderboard else [],
        has_stopped_emails=False,
        is_start=False,
        asks_for_sign=False,
    )


def picture(site: Site, visitor: HubVisitor) -> str:
    """The referral page of a real subscriber, for those who may not act as them: no link or form in
    it holds a key."""
    return _html(
        "hub.html",
        visitor.brand,
        **shown_values(site, visitor),
        **_NO_KEYS,
    )


def preview_of_program(
    found: Branding,
    name: str,
    description: str,
    logo_url: str,
    *,
    base_url: str = "https://example.org",
) -> str:
    """The signup page of a program, as readers of its partners see it."""
    return _signup(
        page_branding.of_publication(found, name, description, logo_url or None),
        "partner",
        base_url,
    )


def _signup(brand: PageBranding, brought_by: str, base_url: str) -> str:
    return _html(
        "signup.html",
        brand,
        errors={},
        carried={brought_by: "sample"},
        email="",
        name="",
        has_agreed=False,
        longest_name=LONGEST_NAME,
        token="",
        trap="website",
        challenge="",
        action="",
        page_link="",
        shared_link="",
        inviter="Ana" if brand.campaign.show_inviter else "",
        base_url=base_url,
    )


def _html(template: str, brand: PageBranding, **values: Any) -> str:
    page = html(template, brand, brand.language, **values)
    return _HIDDEN_COPY_BUTTON.sub(r"\1>", _SCRIPT.sub("", page))


def _sample_count(rewards: Sequence[Reward]) -> int:
    """Past the first reward and on the way to the next, so that every state is in sight."""
    marks = sorted(reward.referrals for reward in rewards)
    if len(marks) > 1:
        return (
            max(marks[0], marks[1] - 1)
            if len(marks) == 2
            else max(marks[1], (marks[1] + marks[2]) // 2)
        )
    return marks[0] // 2 if marks else 3


def _sample_earned(rewards: Sequence[Reward], verified: int, now_ms: int) -> list[EarnedReward]:
    reached = [reward for reward in rewards if reward.referrals <= verified]
    return [
        EarnedReward(
            id=f"sample-{place}",
            reward_id=reward.id,
            subscriber_id="",
            multiple=1,
            status=REDEEMED if place < len(reached) - 1 else UNLOCKED,
            coupon_code=reward.coupon_code or "SAMPLE-CODE",
            earned_ms=now_ms,
            unlocked_ms=now_ms,
            redeemed_ms=now_ms + DAY_MS,
            redeemed_by=None,
            shipping=None,
            variant=None,
            sent_ms=None,
            tracking_note=None,
            delivered_ms=None,
            name=reward.name,
            referrals=reward.referrals,
            kind=reward.kind,
            recurring=reward.recurring,
            description=reward.description,
            link=reward.link,
            variants=reward.variants,
        )
        for place, reward in enumerate(reached)
    ]
