"""Style sheets, scripts and pictures of the pages. Each URL has a hash of the content, so browsers
may cache a file forever and still see every change at once.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).parent / "static"

# Set by us, because machines differ in the types they know.
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}


@cache
def _hash(name: str) -> str:
    return hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()[:12]


def address(name: str) -> str:
    """The URL of a file. If the file does not exist, rendering the page fails here."""
    return f"/static/{name}?v={_hash(name)}"


class TypedFiles(StaticFiles):
    """The files of a folder."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        kind = _TYPES.get(Path(path).suffix)
        if kind is not None and response.status_code == 200:
            response.headers["content-type"] = kind
        response.headers["cache-control"] = "no-cache"
        return response


class Static(TypedFiles):
    def __init__(self) -> None:
        super().__init__(directory=FOLDER)

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("v", [""])[0]
        # A URL with another hash comes from a page of another version, and must not be cached.
        if asked == _hash(path):
            response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response
