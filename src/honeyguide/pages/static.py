"""Style sheets, scripts and pictures of the pages. Each URL has a hash of the content, so browsers
may cache a file forever and still see every change at once.

A style sheet is served together with the files that it imports, without comments and indentation.
Logos are pictures that we encoded ourselves, cached for long, only ever read as pictures.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache, partial
from pathlib import Path
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from honeyguide.kernel.errors import Missing
from honeyguide.pages.services import PageServices
from honeyguide.partners import logos, publications

FOLDER = Path(__file__).parent / "static"

# Set by us, because machines differ in the types they know.
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}


# As our sheets import: a file beside them, into a layer.
_IMPORT = re.compile(r'@import "([\w/]+\.css)" layer\((\w+)\);')
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# A line that ends in one of these needs no space before the next one.
_JOINT = re.compile(r"([{};,])\n\s*")


# A new picture gets a new URL, so the one at this URL never changes.
_HEADERS = {
    "cache-control": "public, max-age=31536000, immutable",
    "content-security-policy": "default-src 'none'",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "cross-origin",
}


@cache
def style_sheet(name: str) -> str:
    """A style sheet as browsers get it: one file, and about a third smaller than we write it."""
    text = _IMPORT.sub(
        lambda part: f"@layer {part[2]} {{\n{style_sheet(part[1])}}}\n",
        _COMMENT.sub("", (FOLDER / name).read_text(encoding="utf-8")),
    )
    return re.sub(r"\s+", " ", _JOINT.sub(r"\1", text)).strip()


@cache
def _hash(name: str) -> str:
    if name.endswith(".css"):
        content = style_sheet(name).encode()
    else:
        content = (FOLDER / name).read_bytes()
    return hashlib.sha256(content).hexdigest()[:12]


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
        if path.endswith(".css") and response.status_code == 200:
            response = Response(style_sheet(path), media_type=_TYPES[".css"])
            response.headers["cache-control"] = "no-cache"
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("v", [""])[0]
        # A URL with another hash comes from a page of another version, and must not be cached.
        if asked == _hash(path):
            response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


def logo_routes(services: PageServices) -> list[Route]:
    return [Route("/logos/{logo_id}", partial(_logo, services), name="logo")]


async def _logo(services: PageServices, request: Request) -> Response:
    try:
        stored = await services.store.read(publications.get_logo, request.path_params["logo_id"])
        data = await logos.load(stored, services.site.logo_folder)
    except Missing:
        raise HTTPException(404) from None
    return Response(data, media_type=stored.content_type, headers=_HEADERS)
