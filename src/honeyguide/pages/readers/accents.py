"""Style sheets with an operator's accent color: one per color, at a URL that contains the color.

So pages need no inline style, which their policy forbids, and a preview can show a color that is
not saved yet. Browsers may cache a style sheet forever: its URL also has a hash of its content.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from honeyguide.kernel import colors

# As `colors.parse` returns it, without the #.
_COLOR = re.compile(r"[0-9a-f]{6}").fullmatch
_HEADERS = {
    "cache-control": "public, max-age=31536000, immutable",
    "x-content-type-options": "nosniff",
}


@lru_cache(maxsize=1024)
def style_sheet(color: str) -> str:
    """The custom properties of honeyguide.css in readable shades of the color."""
    made = colors.palette(color)
    names = {
        "accent": "accent",
        "on-accent": "on_accent",
        "main": "main",
        "main-edge": "main_edge",
        "on-main": "on_main",
        "accent-soft": "soft",
        "honey": "shape",
        "on-honey": "on_shape",
    }
    pairs = (
        f"--{name}:light-dark({getattr(made.light, field)},{getattr(made.dark, field)})"
        for name, field in names.items()
    )
    return f":root{{{';'.join(pairs)}}}"


def address(color: str) -> str:
    version = hashlib.sha256(style_sheet(color).encode()).hexdigest()[:8]
    return f"/accents/{color[1:]}.css?v={version}"


async def _show(request: Request) -> Response:
    color = request.path_params["color"]
    if not _COLOR(color):
        raise HTTPException(404)
    return Response(style_sheet(f"#{color}"), media_type="text/css", headers=_HEADERS)


def routes() -> list[Route]:
    return [Route("/accents/{color}.css", _show, name="accent")]
