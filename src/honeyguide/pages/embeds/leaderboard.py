"""The leaderboard as data: those who agreed to be named, by first name and initial. It is the same
for every visitor, so browsers and proxies may keep it for a minute.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from honeyguide.kernel.errors import Missing
from honeyguide.pages.embeds.endpoint import EmbedRequest
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx
from honeyguide.subscribers import hub_choices
from honeyguide.subscribers.hub_choices import Leader

CACHE_CONTROL = "public, max-age=60"
OFF = "This campaign shows no leaderboard."
# For the dashboard's preview.
SAMPLE = (Leader("", "Ada Berg", 24), Leader("", "Ben Okafor", 17), Leader("", "Chloé Dupont", 9))


async def show(tx: Tx, request: EmbedRequest) -> Mapping[str, Any]:
    language = request.brand.language
    if request.http.query_params.get("sample"):
        leaders = list(SAMPLE)
    elif request.brand.campaign.show_leaderboard:
        leaders = await hub_choices.leaders(
            Reading(tx, request.services.site, request.embed.tenant, request.now_ms)
        )
    else:
        raise Missing(OFF)
    return {
        "title": language.gettext("Leaderboard"),
        "people": [
            {
                "place": language.number(place),
                "name": leader.short_name,
                "friends": language.ngettext("{count} friend", "{count} friends", leader.verified),
            }
            for place, leader in enumerate(leaders, start=1)
        ],
    }
