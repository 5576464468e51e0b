"""A reader's page as a picture of itself: shown in a frame, without its scripts, leading nowhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from honeyguide.pages.readers.preview import preview
from honeyguide.referrals.campaigns import Campaign
from honeyguide.referrals.milestones import Reward

_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE)


def picture(kind: str, campaign: Campaign, words: dict[str, Any], ladder: Sequence[Reward], *, base_url: str) -> str:
    return _SCRIPT.sub("", preview(kind, campaign, words, ladder, base_url=base_url))
