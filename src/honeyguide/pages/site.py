"""The pages as one application: their routes, the security headers, and the pages for errors."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from honeyguide.accounts.permissions import Right
from honeyguide.kernel import log_context
from honeyguide.moving.import_files import MOST_BYTES
from honeyguide.pages import guide, redirects, reference, rendering, static
from honeyguide.pages.dashboard import routes as dashboard
from honeyguide.pages.dashboard.login import second_factor
from honeyguide.pages.dashboard.page_request import PageRequest, recognize
from honeyguide.pages.embeds.routes import embed_routes
from honeyguide.pages.readers import accents
from honeyguide.pages.readers.reader_services import language_of
from honeyguide.pages.readers.routes import is_reader_path, reader_routes
from honeyguide.pages.readers.showing import failure
from honeyguide.pages.services import PageServices
from honeyguide.pages.static import Static
from honeyguide.store.reading import reads

HEADERS = {
    "content-security-policy": (
        "default-src 'self'; style-src 'self'; img-src 'self' data:; script-src 'self'; "
        "object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "referrer-policy": "strict-origin-when-cross-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": (
        "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), usb=()"
    ),
    "x-permitted-cross-domain-policies": "none",
}
# What websites of others and emails may show: they ask for it without CORS.
_SHOWN_ELSEWHERE = ("image/", "font/", "text/css", "text/javascript")

_PROBLEMS = {
    404: ("Page not found", "The link may be wrong, or the page no longer exists."),
    405: (
        "Method not allowed",
        "This page does not accept that kind of request. Go back and try again.",
    ),
    500: (
        "Something went wrong",
        "The problem is on our side, and it has been logged. Try again in a moment.",
    ),
}


# What the API calls them.
_CODES = {403: "forbidden", 404: "not_found", 405: "method_not_allowed", 500: "internal_error"}


class Guarded:
    """Adds the headers above to every response that does not set them itself. Links on a page whose
    address has a token, which is a key, do not pass that address on.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if "token" in scope.get("path_params", {}):
                    headers["referrer-policy"] = "no-referrer"
                _guard(headers)
            await send(message)

        await self._app(scope, receive, guarded if scope["type"] == "http" else send)


# The largest file that we accept, and the form around it.
UPLOAD_LIMIT = MOST_BYTES + 1024 * 1024
# A form may take this long; a file longer, as long as it keeps this pace.
PATIENCE_S = 20.0
BYTES_A_SECOND = 20_000
_CLOSE = {"connection": "close"}


class Bounded:
    """Limits what is sent to a page: its size, and how slowly it may come in."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        began_s, size = asyncio.get_running_loop().time(), 0
        declared = Headers(scope=scope).get("content-length", "")
        too_large = declared.isdigit() and int(declared[:20]) > UPLOAD_LIMIT

        async def bounded() -> Message:
            nonlocal size
            if too_large or size > UPLOAD_LIMIT:
                raise HTTPException(413, "The upload is too large.", _CLOSE)
            try:
                async with asyncio.timeout_at(began_s + PATIENCE_S + size / BYTES_A_SECOND):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "The upload took too long. Try again.", _CLOSE) from None
            size += len(message.get("body", b""))
            return message

        await self._app(scope, bounded, send)


def _guard(headers: MutableHeaders) -> None:
    policy = headers.setdefault("content-security-policy", HEADERS["content-security-policy"])
    for name, value in HEADERS.items():
        # An older browser would obey this one where the policy lets somebody frame the page.
        if name != "x-frame-options" or "frame-ancestors 'none'" in policy:
            headers.setdefault(name, value)
    if not headers.get("content-type", "").startswith(_SHOWN_ELSEWHERE):
        headers.setdefault("cross-origin-resource-policy", "same-origin")


class Nowhere(BaseRoute):
    """Matches every path with a NUL, before any other route: no database can store one, so nothing
    is there."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.FULL if "\x00" in scope["path"] else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise HTTPException(404)


class Reference:
    """The API reference, which does not change while the process lives; browsers may keep its pages
    and ask again. Somebody who is logged in sees samples with their own UUIDs.

    It is rendered in a thread when it is first asked for: that takes longer than the event loop
    may wait, and most processes are never asked.
    """

    def __init__(self, render: Callable[[], dict[str, str]], services: PageServices) -> None:
        self._render = render
        self._services = services
        self._pages: dict[str, str] = {}

    async def __call__(self, request: Request) -> Response:
        if not self._pages:
            self._pages = await asyncio.to_thread(self._render)
        html = self._pages.get(request.path_params.get("resource", ""))
        if html is None:
            raise HTTPException(404)
        visit = PageRequest(request, self._services, self._services.clock(), dashboard.PAGE_RIGHTS)
        if visit.cookie("session"):
            await recognize(visit)
        if visit.visitor is None or second_factor.is_missing(visit):
            return _kept(html, request)
        ids = await self._services.store.read(
            reads(reference.own_ids, self._services.site, visit.tenant, visit.now_ms)
        )
        html = reference.with_ids(html, ids)
        if visit.who.may(Right.ACCOUNT):
            html = reference.with_link_to_keys(html)
        return HTMLResponse(html, headers={"cache-control": "private, no-store"})


def _kept(html: str, request: Request) -> Response:
    """As everybody gets it, or that it is still the same."""
    tag = f'W/"{hashlib.sha256(html.encode()).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": "no-cache", "vary": "Cookie"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return HTMLResponse(html, headers=headers)


def _problem(status: int, sentence: str = "") -> HTMLResponse:
    title, text = _PROBLEMS.get(status, ("That didn’t work", sentence or "Go back and try again."))
    # The headers are set here too: the page for a bug is made outside of `Guarded`.
    html = rendering.page("problem.html", status=status, title=title, text=text)
    response = HTMLResponse(html, status, {"cache-control": "no-store"})
    _guard(response.headers)
    return response


def _is_program(request: Request) -> bool:
    """Whether it asks for JSON, and no page: a mistyped address of the API, for example."""
    accepted = request.headers.get("accept", "").lower()
    return "application/json" in accepted and "text/html" not in accepted


def _json_problem(status: int, sentence: str) -> Response:
    """As the API would say it."""
    title, text = _PROBLEMS.get(status, ("That didn’t work", sentence))
    request_id, _, _ = log_context.current()
    code = _CODES.get(status, "invalid")
    body = {"error": f"{title}. {text}", "code": code, "request_id": request_id}
    response = JSONResponse(body, status, {"cache-control": "no-store"})
    _guard(response.headers)
    return response


async def _refused(request: Request, error: Exception) -> Response:
    refused = error if isinstance(error, HTTPException) else HTTPException(500)
    if _is_program(request):
        response: Response = _json_problem(refused.status_code, refused.detail)
    elif is_reader_path(request.url.path):
        response = failure(language_of(request), refused.status_code)
        _guard(response.headers)
    else:
        response = _problem(refused.status_code, refused.detail)
    response.headers.update(refused.headers or {})
    if refused.status_code == 405 and (methods := _methods(request)):
        response.headers["allow"] = ", ".join(methods)
    return response


def _methods(request: Request) -> list[str]:
    """The methods that the path accepts. Starlette names only those of the first matching route,
    but GET and POST have a route each."""
    routes = (route for route in request.app.routes if isinstance(route, Route))
    matching = (
        route.methods or () for route in routes if route.matches(request.scope)[0] is not Match.NONE
    )
    return sorted(set().union(*matching))


async def _without_slash(request: Request) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    return redirects.to_page(f"/{request.path_params['path']}{query}", 307)


def pages_app(describe: Callable[[], dict[str, Any]], services: PageServices) -> Starlette:
    """`describe` makes the OpenAPI document, which the reference shows."""
    docs = Reference(lambda: reference.render(describe()), services)
    app = Starlette(
        routes=[
            Nowhere(),
            *dashboard.routes(services),
            Route("/docs", docs.__call__, name="reference"),
            *guide.routes(),
            Route("/docs/{resource}", docs.__call__),
            Mount("/static", Static(), name="static"),
            *accents.routes(),
            *embed_routes(services),
            *reader_routes(services),
            *static.logo_routes(services),
            Route("/{path:path}/", _without_slash, methods=["GET", "POST"]),
        ],
        middleware=[
            Middleware(Guarded),
            Middleware(Bounded),
            Middleware(GZipMiddleware, minimum_size=1024),
        ],
        exception_handlers={HTTPException: _refused, Exception: _refused},
    )
    app.router.redirect_slashes = False  # which would send to the host that a request names
    return app
