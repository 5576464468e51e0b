"""The script that operators put on their websites, under a stable name and under a versioned one.

A released version never changes, because websites name its hash; the stable name is the newest.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from functools import cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from honeyguide.pages.static import FOLDER

STABLE = "honeyguide.js"
NEWEST = "honeyguide-5.js"
# The worker of others that it runs where a flooded link asks for work.
WORKER = "altcha-pbkdf2-3.2.2.js"
_HEADERS = {
    "content-type": "text/javascript; charset=utf-8",
    # Websites of any origin load it, and check its hash.
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
    "vary": "accept-encoding",
}


@cache
def _content(name: str) -> bytes:
    return (FOLDER / "embed" / name).read_bytes()


@cache
def _compressed(name: str) -> bytes:
    return gzip.compress(_content(name), mtime=0)


@cache
def integrity(name: str = NEWEST) -> str:
    """For the `integrity` attribute of a script element."""
    return "sha384-" + base64.b64encode(hashlib.sha384(_content(name)).digest()).decode()


def versions() -> list[str]:
    return sorted(path.name for path in (FOLDER / "embed").glob("honeyguide-*.js"))


async def _stable(request: Request) -> Response:
    return _response(request, NEWEST, "public, max-age=3600")


async def _versioned(request: Request) -> Response:
    return _response(
        request, request.url.path.rpartition("/")[2], "public, max-age=31536000, immutable"
    )


def _response(request: Request, name: str, cache_control: str) -> Response:
    headers = {**_HEADERS, "cache-control": cache_control}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(_content(name), headers=headers)
    return Response(_compressed(name), headers={**headers, "content-encoding": "gzip"})


def routes() -> list[Route]:
    return [
        Route(f"/embed/{STABLE}", _stable, methods=["GET"]),
        *(Route(f"/embed/{name}", _versioned, methods=["GET"]) for name in (*versions(), WORKER)),
    ]
