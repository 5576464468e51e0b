"""Where email platforms send their webhooks. One is verified, stored as it came and answered; the
worker applies it later.
"""

from __future__ import annotations

from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from honeyguide.integrations import incoming, integrations
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.integrations import Integration
from honeyguide.integrations.platform import IncomingHook
from honeyguide.integrations.problems import ForgedHook
from honeyguide.kernel.clock import MINUTE_MS, system_clock
from honeyguide.kernel.errors import Fault, Unavailable
from honeyguide.pages.services import PageServices

MOST_BYTES = 1024 * 1024


def routes(services: PageServices) -> list[Route]:
    return [
        # Some platforms ask with a GET whether the address works before they take it.
        Route("/hooks/{key}", _answer_probe, methods=["GET"]),
        Route("/hooks/{key}", partial(_receive, services), methods=["POST"]),
    ]


async def _answer_probe(request: Request) -> Response:
    return _said(200, "Post webhooks to this address.")


async def _receive(services: PageServices, request: Request) -> Response:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            return _said(413, "The webhook is too large.")
    try:
        return await _store(services, request, body)
    except Unavailable as error:
        return _said(503, error.message)


async def _store(services: PageServices, request: Request, body: bytes) -> Response:
    integration = await services.store.read(
        integrations.find_by_hook_key, request.path_params["key"]
    )
    if integration is None:
        return _said(404, "Nothing is connected at this address.")
    hook = IncomingHook(
        headers={name.lower(): value for name, value in request.headers.items()},
        body=body,
        query=dict(request.query_params),
    )
    try:
        access = integrations.access_to(
            integration,
            EncryptionKeys(services.settings.secret_keys),
            services.outbound,
            now_ms=system_clock(),
        )
        platform = integrations.platform_of(integration.platform)
        signed_at = platform.verify_hook(access, hook, now_s=system_clock() // 1000)
    except ForgedHook as error:
        await _note_refused(services, integration, error.reason)
        return _said(401, error.reason)
    except Fault:  # our own key is missing; the platform will send it again
        return _said(503, "The service is not set up completely.")
    await services.store.write(
        incoming.store_hook, integration, hook, signed_at=signed_at, now_ms=services.clock()
    )
    return _said(200, "Received.")


async def _note_refused(services: PageServices, integration: Integration, reason: str) -> None:
    """At most once a minute, so that a flood of forgeries writes next to nothing."""
    now_ms = services.clock()
    if now_ms - (integration.refused_hook_ms or 0) < MINUTE_MS:
        return
    await services.store.write(incoming.note_refused, integration, reason, now_ms=now_ms)


def _said(status: int, message: str) -> Response:
    return JSONResponse({"message": message}, status, headers={"cache-control": "no-store"})
