"""Every public address for the operators' websites, one row each."""

from __future__ import annotations

from starlette.routing import Route

from honeyguide.pages.embeds import config, frame, hub, leaderboard, script, signup
from honeyguide.pages.embeds.endpoint import EmbedRoute, endpoint
from honeyguide.pages.readers.page_route import ReaderServices
from honeyguide.pages.services import PageServices

ENDPOINTS = (
    EmbedRoute("GET", "config", config.show, config.CACHE_CONTROL),
    EmbedRoute("GET", "token", signup.show_token),
    EmbedRoute("POST", "signup", signup.subscribe),
    EmbedRoute("POST", "hub", hub.show),
    EmbedRoute("POST", "find", hub.find),
    EmbedRoute("GET", "leaderboard", leaderboard.show, leaderboard.CACHE_CONTROL),
)


def embed_routes(services: PageServices) -> list[Route]:
    shared = ReaderServices(services)
    return [
        *script.routes(),
        *frame.routes(services),
        *(
            Route(
                f"/embed/{{public_id}}/{each.name}",
                endpoint(shared, each),
                methods=[each.method],
            )
            for each in ENDPOINTS
        ),
    ]
