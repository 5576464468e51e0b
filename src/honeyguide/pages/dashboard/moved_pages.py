"""Addresses that pages had before. Bookmarks and emails still have them, and pages that were open
then still post there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from honeyguide.pages import redirects
from honeyguide.pages.dashboard.page_route import PageRoute

LOOK = "/look"

# Where the parts of the account page were.
FORMS = {
    "/api/keys": "/account/keys",
    "/api/keys/{id}/revoke": "/account/keys/{id}/revoke",
    "/settings/profile": "/account/profile",
    "/settings/password": "/account/password",
    "/settings/sessions": "/account/sessions",
    "/settings/invitations": "/account/invitations",
    "/settings/invitations/withdraw": "/account/invitations/withdraw",
}


def routes(pages: Iterable[PageRoute]) -> list[Route]:
    """`pages` are those that moved to /look; each is still found where it was."""
    return [
        Route("/api", _to("/account/keys", 302), methods=["GET"]),
        Route(LOOK, _to("/look/branding", 302), methods=["GET"]),
        *(Route(old, _to(new), methods=["POST"]) for old, new in FORMS.items()),
        *(
            Route(page.path.removeprefix(LOOK), _to(page.path), methods=[page.method])
            for page in pages
        ),
    ]


def to_new(path: str, request: Request, status: int) -> Response:
    """To where the page is now, with what was asked of it."""
    query = request.url.query
    return redirects.to_page(f"{path}?{query}" if query else path, status)


def _to(address: str, status: int = 308) -> Callable[[Request], Awaitable[Response]]:
    """308 makes the browser send the same form again; the new address checks it like any other."""

    async def redirect(request: Request) -> Response:
        return to_new(address.format(**request.path_params), request, status)

    return redirect
