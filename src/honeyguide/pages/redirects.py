"""Where a browser is sent next: the only file that makes a redirect, besides the links of
subscribers and partners. Whatever a request chose of an address, it stays a page of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from starlette.responses import RedirectResponse

_HOME = "/"


def local_path(path: str, otherwise: str = _HOME) -> str:
    """The path if it is one of ours, however a browser or a proxy may read it."""
    is_plain = path.startswith("/") and path.isprintable() and "\\" not in path
    return path if is_plain and _leads_nowhere_else(path) else otherwise


def _leads_nowhere_else(path: str) -> bool:
    """A query may have anything, such as an email address. What is before it is looked at as it
    is, decoded, and decoded twice.
    """
    place = path.partition("?")[0].partition("#")[0]
    for _ in range(3):
        if not place.isprintable() or any(part in place for part in ("//", "\\", "@")):
            return False
        place = unquote(place)
    return True


def to_page(
    path: str, status: int = 303, headers: Mapping[str, str] | None = None
) -> RedirectResponse:
    if path != local_path(path, ""):
        return RedirectResponse(_HOME, 303, headers)
    return RedirectResponse(path, status, headers)


def to_website(
    url: str, status: int = 303, headers: Mapping[str, str] | None = None
) -> RedirectResponse:
    """An address that is stored or constant. No part of it may be from the request."""
    return RedirectResponse(url, status, headers)
