"""Following a shared link: a click is queued, and the visitor sent on. The busiest address of all, so it stands before the
router and asks the database only for links nobody followed lately.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from starlette.types import ASGIApp, Receive, Scope, Send

from honeyguide.kernel.clock import Clock
from honeyguide.kernel.site import Site
from honeyguide.pages.services import PageServices
from honeyguide.partners import links as partner_links
from honeyguide.referrals import clicks, links
from honeyguide.referrals.clicks import ClickCounter
from honeyguide.referrals.links import LinkCache

READER, PARTNER = PREFIXES = ("/r/", "/p/")

# Whoever looks at a link to show a preview, to index it or to see whether it is safe is no visitor.
_ROBOT = re.compile(
    rb"bot|crawl|spider|slurp|preview|scan|fetch|monitor|facebookexternalhit|embedly|whatsapp|telegram|curl|wget|python|httpx|headless",
    re.IGNORECASE,
).search


@lru_cache(maxsize=4096)
def _is_robot(agent: bytes) -> bool:
    """Looked at once: most visitors use one of a few hundred browsers, and reading the name costs more than the redirect."""
    return _ROBOT(agent) is not None


_SAFE = "%&=+;:@/?!$'()*,-._~[]|#"


class Way(NamedTuple):
    """Where a link leads, and what its clicks are counted for: a campaign, or a partner's place in a program."""

    target: str
    account_id: str
    target_id: str
    code: str


class LinkHandler:
    """Answers links that lead somewhere; whatever else comes is for the pages behind it, which have the kind words."""

    def __init__(self, services: PageServices, behind: ASGIApp) -> None:
        self._site: Site = services.site
        self._clock: Clock = services.clock
        self._store = services.store
        self._cache = LinkCache(services.store, services.clock)
        self._counter = ClickCounter(services.store)
        self._behind = behind

    async def run(self) -> None:
        """Writes what was queued for as long as this process lives, and what is left when it is told to stop."""
        try:
            await self._counter.run()
        except asyncio.CancelledError:
            with contextlib.suppress(Exception):
                await self._counter.flush()
            raise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        way = None
        if scope["method"] in ("GET", "HEAD"):
            way = await (self._reader_way if path.startswith(READER) else self._partner_way)(
                path[3:], scope
            )
        if way is None:
            await self._behind(scope, receive, send)
            return
        if scope["method"] == "GET":
            self._count(scope, way)
        headers = [(b"location", _header(way.target)), *_HEADERS]
        await send({"type": "http.response.start", "status": 302, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def _reader_way(self, code: str, scope: Scope) -> Way | None:
        link = await self._cache.find(code.lower())
        if link is None:
            return None
        target = links.destination(self._site, link, scope["query_string"].decode("latin-1"))
        return Way(target, link.account_id, link.campaign_id, link.code)

    async def _partner_way(self, code: str, scope: Scope) -> Way | None:
        place = await self._store.read(partner_links.lookup, code)
        if place is None:
            return None
        target = links.with_query(
            place.redirect_url, scope["query_string"].decode("latin-1"), "partner", place.ref_code
        )
        return Way(target, place.account_id, place.partner_campaign_id, place.ref_code)

    def _count(self, scope: Scope, way: Way) -> None:
        agent = b""
        for name, value in scope["headers"]:
            if name == b"user-agent":
                agent = value
            elif name in (b"sec-purpose", b"purpose") and b"prefetch" in value:
                return
        if not agent or _is_robot(agent):
            return
        address = scope["client"][0] if scope.get("client") else ""
        self._counter.add(
            clicks.click(
                self._site,
                account_id=way.account_id,
                target_id=way.target_id,
                code=way.code,
                address=address,
                user_agent=agent.decode("latin-1"),
                now_ms=self._clock(),
            )
        )


# Each click is to be counted here, so nobody on the way may answer in our place.
_HEADERS = [
    (b"content-length", b"0"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer-when-downgrade"),
]


def _header(target: str) -> bytes:
    """A stored address may hold letters that a header cannot; browsers read them spelled out, in a host name too."""
    return (target if target.isascii() else quote(target, safe=_SAFE)).encode()
