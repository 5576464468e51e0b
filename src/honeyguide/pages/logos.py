"""Serves logos: pictures that we encoded ourselves, cached for long, only ever read as pictures."""

from __future__ import annotations

from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from honeyguide.kernel.errors import Missing
from honeyguide.pages.services import PageServices
from honeyguide.partners import logos, publications

# A new picture gets a new URL, so the one at this URL never changes.
_HEADERS = {
    "cache-control": "public, max-age=31536000, immutable",
    "content-security-policy": "default-src 'none'",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "cross-origin",
}


def routes(services: PageServices) -> list[Route]:
    return [Route("/logos/{logo_id}", partial(_logo, services), name="logo")]


async def _logo(services: PageServices, request: Request) -> Response:
    try:
        stored = await services.store.read(publications.get_logo, request.path_params["logo_id"])
        data = await logos.load(stored, services.site.logo_folder)
    except Missing:
        raise HTTPException(404) from None
    return Response(data, media_type=stored.content_type, headers=_HEADERS)
