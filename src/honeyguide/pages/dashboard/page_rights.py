"""Which right an address of the dashboard needs, for menus and for pages with forms. The route
tables say it; `routes.py` hands them over, because the pages are known only there.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Protocol
from urllib.parse import urlsplit

from honeyguide.accounts.permissions import Right
from honeyguide.accounts.sessions import Visitor


class HasRight(Protocol):
    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def right(self) -> Right | None: ...


_patterns: list[tuple[str, re.Pattern[str], Right | None]] = []


def learn(routes: Iterable[HasRight]) -> None:
    for route in routes:
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(route.path))
        _patterns.append((route.method, re.compile(pattern), route.right))


@functools.lru_cache(maxsize=4096)
def right_for(method: str, path: str) -> Right | None:
    """None for anyone, and for what is no page of the dashboard."""
    for its_method, pattern, right in _patterns:
        if its_method == method and pattern.fullmatch(path):
            return right
    return None


def may_see(who: Visitor, path: str) -> bool:
    right = right_for("GET", path)
    return right is None or who.may(right)


_FORM = re.compile(r'<form\b[^>]*\bmethod="post"[^>]*>')
_ACTION = re.compile(r'\baction="([^"]*)"')
_ID = re.compile(r'\bid="([^"]*)"')
_BUTTON = re.compile(r'\bformaction="([^"]*)"')
_LINK = re.compile(r'(<a\b[^>]*\b)href="(/[^"]*)"')


def close_refused(html: str, who: Visitor, here: str) -> str:
    """The page with every form and link closed that the visitor's role does not allow, and all
    forms in a paused account: what is in a form can be read, and not be sent, and a link is only
    its text. Whoever sends or opens one all the same is refused by its route."""

    def is_closed(address: str) -> bool:
        right = right_for("POST", urlsplit(address).path or here)
        return right is not None and (not who.may(right) or who.is_stopped(right))

    closed_ids: list[str] = []

    def form(match: re.Match[str]) -> str:
        tag = match[0]
        action = _ACTION.search(tag)
        if not is_closed(action[1] if action else ""):
            return tag
        if its_id := _ID.search(tag):
            closed_ids.append(its_id[1])
        return f"{tag[:-1]} data-closed>"

    def button(match: re.Match[str]) -> str:
        return f"{match[0]} disabled" if is_closed(match[1]) else match[0]

    def link(match: re.Match[str]) -> str:
        return match[0] if may_see(who, urlsplit(match[2]).path) else f"{match[1]}data-closed"

    html = _LINK.sub(link, _BUTTON.sub(button, _FORM.sub(form, html)))
    for each in closed_ids:
        html = html.replace(f'form="{each}"', f'form="{each}" disabled')
    return html
