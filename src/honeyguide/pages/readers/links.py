"""Following a shared link: counts the click and redirects. These are the busiest URLs, so they are
answered before the router, and reader links come from a cache.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from honeyguide.kernel.clock import Clock
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.services import PageServices
from honeyguide.partners import links as partner_links
from honeyguide.subscribers import clicks, links
from honeyguide.subscribers.clicks import ClickCounter
from honeyguide.subscribers.links import Link, LinkCache

READER, PARTNER = PREFIXES = ("/r/", "/p/")


def is_link(path: str) -> bool:
    """Whether a path may be a shared link. One with a NUL is nowhere, as on every other page."""
    return path.startswith(PREFIXES) and "\x00" not in path


# Programs that preview, index or scan links are not visitors.
_ROBOT = re.compile(
    rb"bot|crawl|spider|slurp|preview|scan|fetch|monitor|facebookexternalhit|embedly|whatsapp|telegram|"
    rb"curl|wget|python|httpx|headless",
    re.IGNORECASE,
).search


@lru_cache(maxsize=4096)
def _is_robot(agent: bytes) -> bool:
    """Cached: most visitors use one of a few hundred browsers, and the search costs more than the
    redirect."""
    return _ROBOT(agent) is not None


def is_person(http: Request) -> bool:
    """Whether somebody looks at the page, as far as can be told."""
    agent = http.headers.get("user-agent", "").encode("latin-1")
    purpose = http.headers.get("sec-purpose", "") + http.headers.get("purpose", "")
    is_read = http.method == "GET" and "prefetch" not in purpose
    return is_read and bool(agent) and not _is_robot(agent)


_SAFE = "%&=+;:@/?!$'()*,-._~[]|#"


class LinkTarget(NamedTuple):
    """Where a link leads, and what its clicks count for: a campaign, or a partner campaign."""

    target: str
    account_id: str
    target_id: str
    code: str


class LinkHandler:
    """Answers links that lead somewhere; the pages behind it answer all other requests."""

    def __init__(self, services: PageServices, behind: ASGIApp) -> None:
        self._site: Site = services.site
        self._clock: Clock = services.clock
        self._store = services.store
        self._cache = LinkCache(services.store, services.site, services.clock)
        self.counter = ClickCounter(services.store)
        self._behind = behind

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        found = None
        if scope["method"] in ("GET", "HEAD"):
            found = await (
                self._find_reader_link if path.startswith(READER) else self._find_partner_link
            )(path[3:], scope)
        if found is None:
            await self._behind(scope, receive, send)
        else:
            await self._redirect(found, scope, send)

    async def follow_at_host(self, tenant: Tenant, scope: Scope, send: Send) -> bool:
        """Answers a link at a link host, if it leads somewhere: `/<code>` or `/p/<code>`, of this
        account alone. Returns whether it did."""
        path: str = scope["path"]
        if path.startswith(PARTNER):
            found = await self._find_partner_link(path[3:], scope)
        else:
            link = await self._cache.find_in(tenant, path[1:])
            found = None if link is None else self._target_of(link, scope)
        if found is None or found.account_id != tenant.account_id:
            return False
        await self._redirect(found, scope, send)
        return True

    async def _redirect(self, found: LinkTarget, scope: Scope, send: Send) -> None:
        if scope["method"] == "GET":
            self._count(scope, found)
        headers = [(b"location", _header(found.target)), *_HEADERS]
        await send({"type": "http.response.start", "status": 302, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def _find_reader_link(self, path: str, scope: Scope) -> LinkTarget | None:
        link = await self._cache.find(path)
        return None if link is None else self._target_of(link, scope)

    def _target_of(self, link: Link, scope: Scope) -> LinkTarget:
        target = links.destination(self._site, link, scope["query_string"].decode("latin-1"))
        return LinkTarget(target, link.account_id, link.campaign_id, link.code)

    async def _find_partner_link(self, code: str, scope: Scope) -> LinkTarget | None:
        link = await self._store.read(partner_links.lookup, code)
        if link is None:
            return None
        target = links.with_query(
            link.redirect_url, scope["query_string"].decode("latin-1"), "partner", link.ref_code
        )
        return LinkTarget(target, link.account_id, link.partner_campaign_id, link.ref_code)

    def _count(self, scope: Scope, found: LinkTarget) -> None:
        agent = referrer = b""
        for name, value in scope["headers"]:
            if name == b"user-agent":
                agent = value
            elif name == b"referer":
                referrer = value
            elif name in (b"sec-purpose", b"purpose") and b"prefetch" in value:
                return
        if not agent or _is_robot(agent):
            return
        address = scope["client"][0] if scope.get("client") else ""
        self.counter.add(
            clicks.click(
                self._site,
                account_id=found.account_id,
                target_id=found.target_id,
                code=found.code,
                address=address,
                user_agent=agent.decode("latin-1"),
                now_ms=self._clock(),
                referrer=referrer.decode("latin-1"),
            )
        )


# Every click is counted here, so no cache may answer instead.
_HEADERS = [
    (b"content-length", b"0"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer-when-downgrade"),
]


def _header(target: str) -> bytes:
    """A URL may hold characters that a header cannot; browsers accept them percent-encoded, in host
    names too."""
    return (target if target.isascii() else quote(target, safe=_SAFE)).encode()
