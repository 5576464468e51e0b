"""The largest requests that an address takes, in shapes that are hard to parse."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import httpx
import pytest

from honeyguide.accounts import attempts
from honeyguide.pages.dashboard.page_request import FORM_FIELDS
from honeyguide.pages.dashboard.routes import PAGES
from honeyguide.pages.embeds import endpoint
from tests.support.hostile_world import World
from tests.support.loop_steps import LoopSteps
from tests.support.page_forms import PageForms
from tests.support.service import Service

MB = 1024 * 1024
# A head may have 64 KB.
HEAD = 60_000
SHAPES = (
    *("a", "\\", "<![", "[", "{", ",", '"', " ", "&a=", "%", ";", "@", "a@b.", "=", "\n", "é", "0"),
    *("a,", "http://[", "-", ".a", "a=1;", "q=0.1,", "::", "(", "\t", "'", "a b ", "<a ", "1e9"),
)
HEADERS = (
    *("accept-language", "user-agent", "referer", "cookie", "x-forwarded-for", "origin", "accept"),
    *("content-type", "if-none-match", "idempotency-key", "x-api-key", "x-request-id", "range"),
    *("x-forwarded-proto", "sec-purpose", "accept-encoding", "webhook-signature", "forwarded"),
)
_forms = itertools.count()
_shapes, _headers = itertools.cycle(SHAPES), itertools.cycle(HEADERS)
_queries = itertools.cycle(("a&", "%C3", "=", "&a=", "%", ";", "+", "[]="))
_bodies = itertools.cycle(("&a=", "&%", "&", "=", "&a", "%00"))
FORM = {"content-type": b"application/x-www-form-urlencoded"}


class Sent(NamedTuple):
    method: str
    path: str
    headers: dict[str, bytes]
    body: bytes = b""


@contextmanager
def large_world() -> Iterator[World]:
    """One of everything, in a service that refuses nobody for sending too much.

    The first view of a page compiles its templates, whatever was sent, so every page is seen once.
    """

    async def nothing(*args: Any, **kwargs: Any) -> None: ...

    # Undone even if a page fails here: other tests of this process count attempts.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attempts, "count", nothing)  # a refusal would hide what comes after it
        patch.setattr(endpoint, "ANSWER_AFTER_S", 0)
        with Service(
            "sqlite", log="off", trusted_proxies="127.0.0.1", secret_key="ab" * 32
        ) as service:
            made = World(service)
            scraped_forms(made)
            yield made


def next_shape() -> str:
    return next(_shapes)


def large(size: int, shape: str | None = None) -> str:
    unit = shape or next(_shapes)
    return unit * (size // len(unit.encode()))


def in_header(text: str) -> bytes:
    """As much of it as a header can carry."""
    return text.replace("\n", " ").encode()[:HEAD].strip() or b","


def send(client: httpx.Client, steps: LoopSteps, sent: Sent) -> None:
    during = f"{sent.method} {sent.path[:80]} {str(sent.headers)[:80]} {sent.body[:60]!r}"
    headers: Any = [(name, value) for name, value in sent.headers.items()]

    def status() -> int:
        try:
            answer = client.request(sent.method, sent.path, headers=headers, content=sent.body)
        except httpx.TimeoutException:
            pytest.fail(f"no answer to {during}")
        except httpx.TransportError:
            return 0  # refused before it was sent completely
        if answer.status_code >= 500:
            steps.failed.append(during)
        return answer.status_code

    steps.judge(during, status)


def headers_and_queries(method: str, path: str, names: list[str]) -> Iterator[Sent]:
    """Two headers each, in turn, and every query parameter."""
    for name in (next(_headers), next(_headers)):
        yield Sent(method, path, {name: in_header(large(HEAD))})
    mark = "&" if "?" in path else "?"
    for name in names:
        yield Sent(method, f"{path}{mark}{name}={quoted(HEAD)}", {})
    rest = next(_queries)
    yield Sent(method, f"{path}{mark}{rest * (HEAD // len(rest))}", {})


def quoted(size: int) -> str:
    """A value of this size in a form or a query. Repeating is cheap, encoding is not."""
    unit = quote(next(_shapes), safe="")
    return unit * (size // len(unit))


def in_turn(
    shapes: Sequence[Callable[[], bytes]], turns: Iterator[int], is_all: bool
) -> Iterator[bytes]:
    """All bodies of the largest size, or only the next one. Addresses share the code that reads a
    body, so it is enough that all of them together see every shape several times.
    """
    place = next(turns)
    for shape in shapes if is_all else [shapes[place % len(shapes)]]:
        yield shape()


def forms_of(
    fields: dict[str, str], limit: int, alone: int, *, is_all: bool = True
) -> Iterator[bytes]:
    """Bodies of the largest allowed size: in all fields, and something that is hardly a form. And
    each field alone, with the others as they were.
    """
    names = [name for name in fields if name != "csrf"] or ["a"]
    fixed = urlencode({"csrf": fields["csrf"]} if "csrf" in fields else {})
    room = limit - 2_000

    def in_all_fields() -> bytes:
        size = room // len(names) - 50
        return "&".join([fixed, *(f"{name}={quoted(size)}" for name in names)]).encode()

    def hardly_a_form() -> bytes:
        unit = next(_bodies)
        return (fixed + unit * ((limit - len(fixed)) // len(unit))).encode()

    def one_field_often() -> bytes:
        return (fixed + "".join(f"&{names[0]}={n}" for n in range(FORM_FIELDS - 10))).encode()

    shapes = [in_all_fields, hardly_a_form, in_all_fields, one_field_often]
    yield from in_turn(shapes, _forms, is_all)
    for name in names:
        rest = urlencode({other: value for other, value in fields.items() if other != name})
        if len(rest) < room // 2:
            yield f"{rest}&{name}={quoted(min(room - len(rest), alone))}".encode()


def dashboard_addresses(world: World, path: str) -> list[str]:
    if "{platform}" in path:
        return [path.format(platform=name) for name in ("generic", "listmonk", "mailchimp")]
    if path.startswith(("/account/keys/", "/team/")):
        return [path.format(id=world.alice.account_id)]
    if path.startswith("/notices/off/"):
        return [path.format(token="x" * 40)]
    found = world.addresses(path)
    if not found:
        pytest.fail(f"Fill in {path} in `dashboard_addresses`, so that this test can send to it.")
    return found[:1]


def scraped_forms(world: World) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for page in PAGES:
        if page.method == "GET" and not page.path.endswith((".csv", ".json")):
            for path in dashboard_addresses(world, page.path):
                answer = world.alice.web.get(path)
                for action, fields in PageForms(answer.text, path).found.items():
                    found.setdefault(action, fields)
    return found


def finish(steps: LoopSteps, capsys: pytest.CaptureFixture[str], name: str) -> None:
    with capsys.disabled():
        print(f"\n{name}: {steps.report()}")
    assert steps.slow == [] and steps.failed == [], (steps.slow, steps.failed)
