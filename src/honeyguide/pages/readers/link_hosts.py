"""What a link host serves: its account's links, and nothing else of this service. Who follows a
link that leads nowhere gets a page in the newsletter's branding, whose parts are at our own host.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from honeyguide.kernel.errors import Unavailable
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.readers import lost_links
from honeyguide.pages.readers.links import LinkHandler
from honeyguide.pages.services import PageServices
from honeyguide.subscribers.link_host_map import LinkHostMap
from honeyguide.subscribers.link_host_rules import ROBOTS

WELL_KNOWN = "/.well-known/"
TENANT = "honeyguide.tenant"
_LATER = b"The database cannot be reached. Try again in a moment.\n"
_NOTHING = b"There is nothing here. The link may be wrong or incomplete.\n"


class LinkHostHandler:
    """Stands before everything else: a request that came to a link host gets no further, so no
    page, API or cookie of ours is found there."""

    def __init__(
        self, services: PageServices, hosts: LinkHostMap, links: LinkHandler, well_known: ASGIApp
    ) -> None:
        self._services = services
        self._hosts = hosts
        self._links = links
        self._well_known = well_known

    async def tenant_of(self, scope: Scope) -> Tenant | None:
        """Whose link host a request came to, if to one."""
        for name, value in scope["headers"]:
            if name == b"host":
                return await self._hosts.find(value.decode("latin-1").partition(":")[0])
        return None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request of which `tenant_of` told whose host it came to, in `scope`."""
        try:
            await self._answer(scope[TENANT], scope, receive, send)
        except Unavailable:
            await _send(scope, send, 503, _LATER)

    async def _answer(self, tenant: Tenant, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if scope["method"] not in ("GET", "HEAD") or "\x00" in path:
            await _send(scope, send, 404, _NOTHING)
        elif path == "/robots.txt":
            await _send(scope, send, 200, ROBOTS)
        elif path.startswith(WELL_KNOWN):
            await self._answer_well_known(scope, receive, send)
        elif not await self._links.follow_at_host(tenant, scope, send):
            request = Request(scope)
            if "text/html" in request.headers.get("accept", ""):
                page = await lost_links.at_link_host(self._services, tenant, request)
                await page(scope, receive, send)
            else:
                await _send(scope, send, 404, _NOTHING)

    async def _answer_well_known(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As at our own host if it is there; otherwise not with a page that links to others."""
        is_there = False

        async def send_if_there(message: Message) -> None:
            nonlocal is_there
            if message["type"] == "http.response.start":
                is_there = message["status"] == 200
                message["headers"] = [
                    (name, value) for name, value in message["headers"] if name != b"set-cookie"
                ]
            if is_there:
                await send(message)

        await self._well_known(scope, receive, send_if_there)
        if not is_there:
            await _send(scope, send, 404, _NOTHING)


async def _send(scope: Scope, send: Send, status: int, text: bytes) -> None:
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", b"%d" % len(text)),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"content-security-policy", b"default-src 'none'"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    body = b"" if scope["method"] == "HEAD" else text
    await send({"type": "http.response.body", "body": body})
