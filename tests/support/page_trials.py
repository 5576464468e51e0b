"""Somebody who tries the ids of another account on one page of the dashboard."""

import functools
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from honeyguide.pages.dashboard import confirm
from honeyguide.pages.dashboard.page_route import PageRoute
from honeyguide.subscribers.subscriber_filters import _READERS as FILTER_NAMES
from tests.support.belongings import (
    Maker,
    api_key,
    imported,
    member,
    partner,
    partner_campaign,
    program,
    publication,
    reward,
    subscriber,
    webhook,
)
from tests.support.fetches import document_of, fetch_of
from tests.support.move_certificates import certificate_of
from tests.support.page_answers import Names, comparable, names_in, nobodys, shape_of
from tests.support.web import Operator, WebClient

# Which object's `{id}` a page's address has, by what comes before it.
OWN: dict[str, Maker] = {
    "/subscribers/import/": imported,
    "/subscribers/import/api/": fetch_of,
    "/subscribers/import/certificates/": certificate_of,
    "/subscribers/import/documents/": document_of,
    "/subscribers/": subscriber,
    "/rewards/": reward,
    "/webhooks/": webhook,
    "/publications/": publication,
    "/program/": program,
    "/network/": program,
    "/program/partners/": partner,
    "/earnings/": partner_campaign,
    "/account/keys/": api_key,
    "/team/": member,
}
OTHER_PARTS = {"{platform}": "generic", "{side}": "partner", "{month}": "2026-01"}
# What a page is asked for besides, where parameters depend on each other.
VARIANTS: dict[str, list[dict[str, str]]] = {
    "/review": [{}, {"show": "pending"}, {"by": "referrer"}],
    "/shipments": [{}, {"show": "sent"}, {"show": "unclaimed"}],
    "/shipments/export.csv": [{}, {"show": "sent"}],
}
# Parameters that are read all at once.
FILTERS = {"/subscribers": FILTER_NAMES, "/subscribers/export.csv": FILTER_NAMES}
QUESTION = (confirm.QUESTION, confirm.YES, confirm.ONLY_FOR, confirm.SURE)


def address(route: PageRoute, object_id: str) -> str:
    path = route.path.replace("{id}", object_id)
    for part, value in OTHER_PARTS.items():
        path = path.replace(part, value)
    return path


def own_id(route: PageRoute, owner: Operator) -> str:
    before, found, _ = route.path.partition("{id}")
    if not found:
        return ""
    assert before in OWN, f"say in OWN what the {{id}} of {route.path} is"
    return OWN[before](owner)


@functools.cache
def token_of(web: WebClient) -> str:
    return web.token("/settings")


def ask(who: Operator, route: PageRoute, object_id: str, given: dict[str, str]) -> Any:
    path = address(route, object_id)
    if route.method == "GET":
        return who.web.get(path, params=given)
    return who.web.http.post(path, data={"csrf": token_of(who.web), **given})


def names_of(route: PageRoute, who: Operator, object_id: str) -> Names:
    """What the page reads: as its form says, as its module says, and as is seen when it is asked;
    but for the question whether one is sure."""
    module = Path(inspect.getsourcefile(route.handler) or "")
    names = Names({*route.fields, *FILTERS.get(route.path, ()), *names_in(route.method, module)})
    for variant in VARIANTS.get(route.path, [{}]):
        with names.noted():
            comparable(ask(who, route, object_id, variant), "nothing")
    return Names(names - {"csrf", "do", *QUESTION})


class Trial:
    """A stranger who tries one page."""

    def __init__(self, stranger: Operator, route: PageRoute, base: dict[str, str]) -> None:
        """`base` is what a form must have besides ids to come as far as looking for them."""
        self.stranger, self.route, self.base = stranger, route, base
        self.own = own_id(route, stranger)
        self.names = names_of(route, stranger, self.own)
        self._missing: dict[tuple[str, ...], Any] = {}

    def address(self, value: str) -> Any:
        return comparable(ask(self.stranger, self.route, value, self.base), value)

    def parameters(self, value: str, names: Iterable[str], variant: dict[str, str]) -> Any:
        """The value in all of these."""
        given = dict(variant)
        for name in names:
            cursor = f"{2**52}." if name in ("before", "after") else ""
            given[name] = f"{cursor}{value}"
        return comparable(ask(self.stranger, self.route, self.own, given), value)

    def fields(self, value: str) -> Any:
        return comparable(
            ask(
                self.stranger,
                self.route,
                self.own,
                {**dict.fromkeys(self.names, value), **self.base},
            ),
            value,
        )

    def missing(self, like: str, answer: Callable[..., Any], *args: Any) -> Any:
        """The answer for what looks the same and is nobody's."""
        key = (answer.__name__, shape_of(like), repr(args))
        if key not in self._missing:
            self._missing[key] = answer(nobodys(like), *args)
        return self._missing[key]
