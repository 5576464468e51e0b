"""Which right an address of the dashboard needs, for menus, links and forms: the route table says
it."""

from __future__ import annotations

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


class PageRights:
    def __init__(self, routes: Iterable[HasRight]) -> None:
        self._plain: dict[tuple[str, str], Right | None] = {}
        self._patterns: list[tuple[str, re.Pattern[str], Right | None]] = []
        for route in routes:
            if "{" in route.path:
                pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(route.path))
                self._patterns.append((route.method, re.compile(pattern), route.right))
            else:
                self._plain[route.method, route.path] = route.right

    def right_for(self, method: str, address: str) -> Right | None:
        """None for anyone, and for what is no page of the dashboard."""
        path = urlsplit(address).path
        if (method, path) in self._plain:
            return self._plain[method, path]
        for its_method, pattern, right in self._patterns:
            if its_method == method and pattern.fullmatch(path):
                return right
        return None

    def may_see(self, visitor: Visitor | None, address: str) -> bool:
        right = self.right_for("GET", address)
        return visitor is None or right is None or visitor.may(right)

    def may_send(self, visitor: Visitor | None, address: str) -> bool:
        """In a paused account nobody may send what changes it."""
        right = self.right_for("POST", address)
        if visitor is None or right is None:
            return True
        return visitor.may(right) and not visitor.is_stopped(right)
