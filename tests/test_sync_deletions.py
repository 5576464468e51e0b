"""Who was deleted on a platform is found at night, though its webhook was lost; and nobody is
unsubscribed because a list was read badly.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from honeyguide.integrations import ghost, reading
from honeyguide.store import Store
from tests.support.integrations import Synced, connect_case, newsletter
from tests.support.platforms.case import PlatformCase
from tests.support.platforms.cases import CASES
from tests.support.platforms.ghost import GhostServer
from tests.support.platforms.stand_in import status
from tests.support.service import ENGINES
from tests.support.stores import OpenStore

pytestmark = pytest.mark.parametrize("engine", ENGINES)


async def connect(
    monkeypatch: pytest.MonkeyPatch, synced: Synced, key: str, case: PlatformCase, server: Any
) -> None:
    """Four people are on the list already."""
    for number in range(4):
        case.active(server, f"reader{number}@example.org")  # type: ignore[misc]
    await connect_case(monkeypatch, synced, key, case, server)
    await synced.sync()


async def statuses(synced: Synced) -> list[str]:
    found = [await synced.find(f"reader{number}@example.org") for number in range(4)]
    return [each.status if each else "" for each in found]


def delete(case: PlatformCase, server: Any, *numbers: int) -> None:
    """In the platform itself. No webhook comes."""
    people = server.members if hasattr(server, "members") else server.people
    for number in numbers:
        gone = case.find(server, f"reader{number}@example.org")
        [key] = [key for key, person in people.items() if person is gone]
        del people[key]


async def pass_a_night(synced: Synced) -> None:
    synced.pass_a_day()
    await synced.sync()


def test_who_was_deleted_there_is_unsubscribed_here_after_the_night(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(store: Store, key: str, case: PlatformCase) -> None:
        server = case.server()
        async with server.serving(), newsletter(store, f"{key}@example.org") as synced:
            await connect(monkeypatch, synced, key, case, server)
            assert await statuses(synced) == ["active"] * 4, key
            delete(case, server, 1)
            await pass_a_night(synced)
            assert await statuses(synced) == ["active", "unsubscribed", "active", "active"], key
            integration = await synced.integration()
            # Nobody else was written.
            assert (integration.last_out_count, integration.last_out_ms) == (1, synced.now_ms), key
            await pass_a_night(synced)
            assert (await synced.integration()).last_out_ms == integration.last_out_ms, key

    async def run(store: Store) -> None:
        for key, case in CASES.items():
            if case.active is not None:
                await check(store, key, case)

    with OpenStore(engine) as opened:
        opened.run(run(opened.store))


class ForgetfulGhost(GhostServer):
    """Hides somebody from the list."""

    hidden = ""

    async def browse(self, request: web.Request) -> web.StreamResponse:
        everybody = self.members
        self.members = {i: each for i, each in everybody.items() if each["email"] != self.hidden}
        try:
            return await super().browse(request)
        finally:
            self.members = everybody


def with_ghost(
    engine: str,
    monkeypatch: pytest.MonkeyPatch,
    test: Callable[[Synced, ForgetfulGhost], Awaitable[None]],
) -> None:
    async def run(store: Store) -> None:
        server = ForgetfulGhost()
        monkeypatch.setattr(ghost, "PER_PAGE", 2)
        async with server.serving(), newsletter(store) as synced:
            await connect(monkeypatch, synced, "ghost", CASES["ghost"], server)
            await test(synced, server)

    with OpenStore(engine) as opened:
        opened.run(run(opened.store))


def test_who_is_only_missing_from_the_list_stays(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(synced: Synced, server: ForgetfulGhost) -> None:
        server.hidden = "reader2@example.org"
        await pass_a_night(synced)
        assert await statuses(synced) == ["active"] * 4
        assert server.seen[-1].path.partition("?")[0].endswith(f"/members/{2 + 1:024x}/")

    with_ghost(engine, monkeypatch, test)


def test_a_list_that_was_not_read_to_its_end_says_nothing(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(synced: Synced, server: ForgetfulGhost) -> None:
        delete(CASES["ghost"], server, 3)
        server.fail(server.browse, status(503))
        await pass_a_night(synced)
        assert await statuses(synced) == ["active"] * 4
        assert (await synced.integration()).is_reading
        await synced.wait_over()
        await synced.sync()
        assert await statuses(synced) == ["active"] * 3 + ["unsubscribed"]

    with_ghost(engine, monkeypatch, test)


def test_if_too_many_are_missing_the_operator_decides(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_MISSING", 1)

    async def test(synced: Synced, server: ForgetfulGhost) -> None:
        delete(CASES["ghost"], server, 0, 3)
        await pass_a_night(synced)
        assert await statuses(synced) == ["active"] * 4
        assert (await synced.integration()).missing == 2
        await synced.make(reading.believe_missing)
        await synced.sync()
        assert await statuses(synced) == ["unsubscribed", "active", "active", "unsubscribed"]
        assert (await synced.integration()).missing == 0

    with_ghost(engine, monkeypatch, test)
