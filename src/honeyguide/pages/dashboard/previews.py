"""A reader's page as a picture of itself: shown in a frame, without its scripts, leading nowhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from honeyguide.pages.readers.preview import preview, preview_of_program
from honeyguide.referrals.campaigns import Campaign
from honeyguide.referrals.rewards import Reward

_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE)


def picture(
    kind: str,
    campaign: Campaign,
    words: dict[str, Any],
    all_rewards: Sequence[Reward],
    *,
    base_url: str,
) -> str:
    return _SCRIPT.sub("", preview(kind, campaign, words, all_rewards, base_url=base_url))


def picture_of_program(
    campaign: Campaign, name: str, description: str, logo_url: str, *, base_url: str
) -> str:
    return _SCRIPT.sub(
        "", preview_of_program(campaign, name, description, logo_url, base_url=base_url)
    )
