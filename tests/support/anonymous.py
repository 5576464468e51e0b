"""What an anonymous visitor can see of an answer, with what is random in every answer taken out."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx

from honeyguide.kernel.ids import new_id
from tests.support.exchanges import Exchanges

# Codes, tokens and form handles. As many signs are compared as there were.
RANDOM = re.compile(
    r"(?:/r/|%2Fr%2F)\w{8}|\bref=\w{8}|(?<=for=)[\w-]+|/start/[\w-]+"
    r'|(?<=value=")[\w-]{8,}|(?<="token":")[\w-]+|(?<="request_id":")[\w-]+'
)
# The drawing of a QR code, which is longer for some codes than for others.
DRAWING = re.compile(r' d="[^"]+"')
COOKIE = re.compile(r"=[^;]*")
NOT_COMPARED = {"date", "content-length", "set-cookie", "x-request-id", "etag"}

AnonymousRoute = tuple[str, str]
"""A method, and a path as in the route table."""


class Seen(NamedTuple):
    """An answer."""

    route: str
    status: int
    headers: list[tuple[str, str]]
    cookies: list[str]
    length: int
    text: str
    effort: list[str]


class Answers:
    """Everything that a visitor gets who fills in a form, opens what it leads to, and does it
    again."""

    def __init__(self, exchanges: Exchanges, email: str) -> None:
        self._exchanges, self._email = exchanges, email
        self.seen: list[Seen] = []
        self.routes: set[AnonymousRoute] = set()

    def note(self, answer: httpx.Response) -> httpx.Response:
        exchange = self._exchanges.newest
        assert exchange.path == answer.request.url.path
        self.routes.add((exchange.method, exchange.route))
        headers = [(name, self._without_random(value)) for name, value in answer.headers.items()]
        cookies = [COOKIE.sub(_as_long, text, 1) for text in answer.headers.get_list("set-cookie")]
        text = self._without_random(answer.text)
        self.seen.append(
            Seen(
                f"{exchange.method} {exchange.route}",
                answer.status_code,
                sorted(pair for pair in headers if pair[0] not in NOT_COMPARED),
                cookies,
                len(text),
                text,
                exchange.effort,
            )
        )
        return answer

    def _without_random(self, text: str) -> str:
        for email in (self._email, quote(self._email)):
            text = text.replace(email, "<email>")
        return RANDOM.sub(_as_long, DRAWING.sub("", text))


def _as_long(match: re.Match[str]) -> str:
    return "#" * len(match[0])


def any_address() -> str:
    return f"{new_id()[-12:]}@example.org"


class Form(NamedTuple):
    """Something that a visitor does with an address."""

    fill_in: Callable[[Any, Answers, str], None]
    routes: frozenset[AnonymousRoute]
    """Those that take the address and others that the visitor comes by."""

    @property
    def name(self) -> str:
        return self.fill_in.__name__


def form(*routes: str) -> Callable[[Callable[[Any, Answers, str], None]], Form]:
    """`@form("POST /join/{slug}")`"""
    pairs = (route.split(" ") for route in routes)
    found = frozenset((method, path) for method, path in pairs)
    return lambda fill_in: Form(fill_in, found)
