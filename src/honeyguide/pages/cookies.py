"""Cookies: parses the header of a request, and writes that of a response.

Python's own parser took quadratic time for a value of backslashes (CVE-2024-7592), and a machine
may have such a Python. Our values need no quoting, so splitting is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Ours are a few hundred bytes. Others on the same host may have cookies too.
LIMIT = 8 * 1024
_PLAIN = re.compile(r"[\w%.~/!*'()-]*", re.ASCII)


class TooManyCookies(Exception):
    """The Cookie header is larger than the limit."""


def parse(headers: Iterable[str]) -> dict[str, str]:
    """The cookies of a request. The last of a name counts."""
    text = "; ".join(headers)
    if len(text) > LIMIT:
        raise TooManyCookies
    found: dict[str, str] = {}
    for part in text.split(";"):
        name, equals, value = part.partition("=")
        if equals and name.strip():
            found[name.strip()] = value.strip().strip('"')
    return found


def set_cookie_header(name: str, value: str, *, max_age_s: int, is_secure: bool) -> str:
    """For the whole host, and for no script."""
    if not _PLAIN.fullmatch(value):
        raise ValueError("the value of a cookie must not need quoting")
    secure = "; Secure" if is_secure else ""
    return f"{name}={value}; Max-Age={max_age_s}; Path=/; HttpOnly; SameSite=lax{secure}"
