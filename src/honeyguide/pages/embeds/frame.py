"""An element on a page of its own, for website builders that take a frame but no script. Only the
websites that the operator listed may frame it.
"""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from honeyguide.kernel.site import Site
from honeyguide.pages import rendering
from honeyguide.pages.services import PageServices
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx
from honeyguide.subscribers import campaigns, embeds
from honeyguide.subscribers.embeds import Embed

ELEMENTS = ("signup", "hub", "leaderboard")
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors {origins}"
)


def routes(services: PageServices) -> list[Route]:
    async def show(request: Request) -> Response:
        what, public_id = request.path_params["what"], request.path_params["public_id"]
        found = await services.store.read(_find, services.site, public_id)
        if found is None or what not in ELEMENTS:
            raise HTTPException(404)
        embed, parameters = found
        language = request.query_params.get("language", "")
        html = rendering.page(
            "embed_frame.html", embed=embed, what=what, language=language, parameters=parameters
        )
        policy = _POLICY.format(origins=" ".join(embed.origins.splitlines()))
        return HTMLResponse(
            html, headers={"content-security-policy": policy, "cache-control": "no-store"}
        )

    return [Route("/embed/{public_id}/frame/{what}", show, methods=["GET"])]


async def _find(tx: Tx, site: Site, public_id: str) -> tuple[Embed, list[str]] | None:
    """The embed, and the operator's names of parameters that hold a code."""
    embed = await embeds.find_by_public_id(tx, public_id)
    if embed is None:
        return None
    campaign = await campaigns.get(Reading(tx, site, embed.tenant, tx.now_ms))
    return embed, campaign.link_parameters
