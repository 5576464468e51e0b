"""Pages for readers: shared links, hosted signup, the hub. They are the operator's pages, not ours."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from honeyguide.pages.readers.hub import HubPages
from honeyguide.pages.readers.links import PREFIXES, LinkHandler
from honeyguide.pages.readers.preview import preview
from honeyguide.pages.readers.showing import lost
from honeyguide.pages.readers.signup import MagicPages, SignupPages
from honeyguide.pages.readers.words import WORDS
from honeyguide.pages.services import PageServices

__all__ = ["PREFIXES", "WORDS", "LinkHandler", "preview", "reader_routes"]

JOIN = "/join"


async def _lost(request: Request) -> Response:
    return lost()


def reader_routes(services: PageServices) -> list[Route]:
    """Include these last: where signup pages live at the root, the last one takes any name nobody else has."""
    signup, magic, hub = SignupPages(services), MagicPages(services), HubPages(services)
    routes = [Route(f"{prefix}{{code:path}}", _lost) for prefix in PREFIXES]
    routes += [
        Route("/confirm/{token}", signup.confirm_form, methods=["GET"]),
        Route("/confirm/{token}", signup.confirm, methods=["POST"]),
        Route("/m/{code}", magic.form, methods=["GET"]),
        Route("/m/{code}", magic.subscribe, methods=["POST"]),
        Route("/m/{code}/thanks", magic.thanks, methods=["GET"]),
        Route("/hub", hub.ask_form, methods=["GET"]),
        Route("/hub", hub.ask, methods=["POST"]),
        Route("/hub/{token}", hub.show, methods=["GET"]),
        Route("/hub/{token}/claim/{earned_id}", hub.claim_form, methods=["GET"]),
        Route("/hub/{token}/claim/{earned_id}", hub.claim, methods=["POST"]),
    ]
    # Always under /join, and where the setting says that people find them.
    for prefix in dict.fromkeys((JOIN, urlsplit(services.site.signup_page_host).path.rstrip("/"))):
        routes += [
            Route(f"{prefix}/{{slug}}/thanks", signup.thanks, methods=["GET"]),
            Route(f"{prefix}/{{slug}}", signup.form, methods=["GET"]),
            Route(f"{prefix}/{{slug}}", signup.subscribe, methods=["POST"]),
        ]
    return routes
