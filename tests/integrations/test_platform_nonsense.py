"""Every answer of every platform is replaced by nonsense, one at a time: what comes of it is a
sentence or a result, never another error; and afterwards everything works.
"""

import itertools
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from honeyguide.integrations.checked_platform import CheckedPlatform
from honeyguide.integrations.platform import ContactStatus, Platform, PlatformAccess, WriteResult
from honeyguide.integrations.problems import PlatformError
from honeyguide.integrations.reports import IncomingHook
from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from tests.support.platforms.case import Opened, PlatformCase
from tests.support.platforms.cases import CASES, WEBHOOKS
from tests.support.platforms.stand_in import Answer, contact, pass_on
from tests.support.synced_platform import OnPlatform

HUGE = 10**300


def body(content: bytes, **headers: str) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        await pass_on(request)
        named = {"Content-Type": "application/json", **headers}
        return web.Response(body=content, headers=named)

    return answer


def changed(change: Callable[[Any], Any]) -> Answer:
    """The platform's own answer, with every value in it changed."""

    async def answer(request: web.Request) -> web.StreamResponse:
        given = await pass_on(request)
        text = given.body if isinstance(given, web.Response) else b""
        body = json.loads(text) if isinstance(text, bytes) and text else {}
        return web.json_response(_each(body, change), status=given.status)

    return answer


def _each(body: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(body, dict):
        return change({name: _each(value, change) for name, value in body.items()})
    if isinstance(body, list):
        return change([_each(value, change) for value in body])
    return change(body)


def _of(kind: type, to: Any) -> Answer:
    return changed(lambda value: to if type(value) is kind else value)


NONSENSE: dict[str, Answer] = {
    "nothing": body(b""),
    "a page": body(b"<html>We'll be right back</html>", **{"Content-Type": "text/html"}),
    "null": body(b"null"),
    "a list": body(b"[[]]"),
    "a number": body(b"7"),
    "a deep list": body(b"[" * 100_000),
    "a deep object": body(b'{"data": ' * 50_000),
    "half a zip": body(b"\x1f\x8b\x08\x00\x00\x00", **{"Content-Encoding": "gzip"}),
    "another charset": body('{"name": "Zoë"}'.encode("utf-16")),
    "not UTF-8": body(b'{"data": {"id": "\xff\xfe"}, "id": "\xff"}'),
    "half a pair": body(b'{"data": {"id": "\\ud800"}, "id": "\\ud800"}'),
    "NUL everywhere": _of(str, "a\0b"),
    "empty texts": _of(str, ""),
    "long texts": _of(str, "x" * 10_000),
    "numbers for texts": _of(str, 7),
    "texts for numbers": _of(int, "seven"),
    "huge numbers": _of(int, HUGE),
    "negative numbers": _of(int, -1),
    "nothing in it": changed(lambda value: None if not isinstance(value, dict) else value),
    "lists for objects": changed(lambda value: [value] if isinstance(value, dict) else value),
    "objects for lists": changed(lambda value: {} if isinstance(value, list) else value),
    "empty lists": changed(lambda value: [] if isinstance(value, list) else value),
    "keys missing": changed(
        lambda value: dict(list(value.items())[1:]) if isinstance(value, dict) else value
    ),
}
Act = Callable[[Any, Platform, PlatformAccess], Awaitable[Any]]
EACH = pytest.mark.parametrize("key", CASES)


def acts(key: str, case: PlatformCase) -> dict[str, Act]:
    """Everything that is asked of a platform."""

    async def write(server: Any, platform: Platform, access: PlatformAccess) -> Any:
        known = case.active(server, "known@example.org") if case.active else None
        remote_id = case.id(known) if known else None
        unsubscribed, erased = ContactStatus.UNSUBSCRIBED, ContactStatus.ERASED
        old = {"may_add": False, "remote_id": remote_id}
        for one in (
            contact(1),
            contact(2, email="known@example.org", **old),
            contact(3, email="moved@example.org", old_email="known@example.org", **old),
            contact(4, email="known@example.org", status=unsubscribed, may_add=False),
            contact(5, email="", status=erased, values={}, **old),
        ):
            [outcome] = await platform.write_many(access, [one])
            assert outcome.result in WriteResult and "@" not in outcome.reason

    async def add_hook(server: Any, platform: Platform, access: PlatformAccess) -> Any:
        return await platform.add_hook(access, "https://refer.example.org/hooks/1")

    async def hook(server: Any, platform: Platform, access: PlatformAccess) -> Any:
        person = {"email": "known@example.org"}
        if case.active:
            person = case.active(server, "known@example.org")
        hook = IncomingHook(headers={}, body=WEBHOOKS[key].body(person))
        return await platform.understand_hook(access, hook)

    return {
        "check": lambda server, platform, access: platform.check(access),
        "audiences": lambda server, platform, access: platform.audiences(access),
        "fields": lambda server, platform, access: platform.ensure_fields(access),
        "write": write,
        "read": lambda server, platform, access: platform.read_changes(
            access, since_ms=None, token=None
        ),
        "read since": lambda server, platform, access: platform.read_changes(
            access, since_ms=1_800_000_000_000, token=None
        ),
        "add hook": add_hook,
        **({"hook": hook} if key in WEBHOOKS else {}),
    }


async def reason(asked: Awaitable[Any]) -> str:
    """What went wrong, as the operator reads it."""
    try:
        await asked
    except PlatformError as error:
        return error.reason
    return "Nothing."


# A third of the answers in every run, in turn, and all in the long one.
THIRDS = 3
EVERY = pytest.mark.parametrize(
    "every",
    [THIRDS, pytest.param(1, marks=pytest.mark.long)],
    ids=["a third", "all"],
)


@EACH
@EVERY
async def test_nonsense_is_a_sentence_whatever_is_asked(
    on_platform: Opened, key: str, every: int
) -> None:
    server, module, access = on_platform
    turn = itertools.cycle(range(every))  # each answer comes at some places, each place gets some
    platform = CheckedPlatform(module)
    for act in acts(key, CASES[key]).values():
        server.seen.clear()
        await reason(act(server, platform, access))
        for place in range(len(server.seen)):
            for nonsense in list(NONSENSE.values())[next(turn) :: every]:
                server.fail(*[pass_on] * place, nonsense)
                sentence = await reason(act(server, platform, access))
                server.faults.clear()
                assert re.fullmatch(r"[A-Za-z][^@\0]+\.", sentence), sentence


# The answers are decoded alike whatever the engine: one platform stands for all on PostgreSQL.
ON_BOTH_ENGINES = [
    *(("sqlite", key) for key in CASES),
    ("postgres", "generic"),
    *(pytest.param("postgres", key, marks=pytest.mark.long) for key in CASES if key != "generic"),
]


@EVERY
@pytest.mark.parametrize(("engine", "key"), ON_BOTH_ENGINES)
async def test_both_directions_go_on_after_nonsense(on: OnPlatform, key: str, every: int) -> None:
    """In the first sync, in a nightly reading and in writing, answered with nonsense only."""
    own = list(NONSENSE.values())[list(CASES).index(key) % every :: every]
    synced = on.synced
    for number, nonsense in enumerate(own):
        await synced.join(f"here{number}@example.org")
        if on.case.active:
            on.case.active(on.server, f"there{number}@example.org")
        on.server.before = nonsense
        await synced.sync(rounds=2)
        on.server.before = None
        integration = await synced.integration()
        # A list of lists without ours says that it was deleted, and a person has to look.
        assert integration.status == "active" or "was deleted" in (integration.problem or ""), (
            integration.problem
        )
        await synced.wait_over()
        synced.now_ms += DAY_MS
        for _ in range(3):
            await synced.wait_a_bit()
            await synced.sync()
            synced.now_ms += HOUR_MS
        here = await synced.find(f"here{number}@example.org")
        assert here is not None
        if on.case.active:
            assert await synced.find(f"there{number}@example.org") is not None
            assert on.written(here.email) == await on.expected(here.email)
        else:
            assert here.id in on.server.contacts
    integration = await synced.integration()
    assert (integration.problem, integration.read_problem) == (None, None)
