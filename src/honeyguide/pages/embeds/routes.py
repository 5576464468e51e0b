"""Every public address for the operators' websites, one row each."""

from __future__ import annotations

from starlette.routing import Route

from honeyguide.pages.embeds import config, frame, hub, leaderboard, script, signup
from honeyguide.pages.embeds.endpoint import EmbedRoute, endpoint
from honeyguide.pages.handlers import Uses
from honeyguide.pages.readers.reader_services import ReaderServices
from honeyguide.pages.services import PageServices

_BASE = "/embed/{public_id}"
READS, SERVICES = Uses.READS, Uses.SERVICES

ENDPOINTS = (
    EmbedRoute("GET", f"{_BASE}/config", SERVICES, config.show, config.CACHE_CONTROL),
    EmbedRoute("GET", f"{_BASE}/token", SERVICES, signup.show_token),
    EmbedRoute("POST", f"{_BASE}/signup", SERVICES, signup.subscribe),
    EmbedRoute("POST", f"{_BASE}/hub", READS, hub.show),
    EmbedRoute("POST", f"{_BASE}/find", SERVICES, hub.find),
    EmbedRoute("GET", f"{_BASE}/leaderboard", READS, leaderboard.show, leaderboard.CACHE_CONTROL),
)


def embed_routes(services: PageServices) -> list[Route]:
    shared = ReaderServices(services)
    return [
        *script.routes(),
        *frame.routes(services),
        *(Route(each.path, endpoint(shared, each), methods=[each.method]) for each in ENDPOINTS),
    ]
