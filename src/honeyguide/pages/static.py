"""Style sheets, scripts and pictures of the pages. Each address carries a hash of the content, so a browser may keep the file
for good and still sees every change at once.
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

# Said by us, because what a machine believes about file endings differs from machine to machine.
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
    """Where a page finds a file. A file that does not exist fails here, when the page is rendered."""
    return f"/static/{name}?v={_hash(name)}"


class Static(StaticFiles):
    def __init__(self) -> None:
        super().__init__(directory=FOLDER)

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        kind = _TYPES.get(Path(path).suffix)
        if kind is not None and response.status_code == 200:
            response.headers["content-type"] = kind
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("v", [""])[0]
        # An address with another hash, from a page older or newer than this process, must not be kept.
        is_this = asked == _hash(path)
        response.headers["cache-control"] = (
            "public, max-age=31536000, immutable" if is_this else "no-cache"
        )
        return response
