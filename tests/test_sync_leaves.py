"""Somebody who is on the platform's list joins here and leaves before anything was written: they
are unsubscribed there too, and nobody is added for it. On every platform that has a list.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from honeyguide.referrals.origins import Origin
from honeyguide.store import Store
from tests.support.integrations import Synced, connect_case, newsletter
from tests.support.platforms import brevo
from tests.support.platforms.case import PlatformCase
from tests.support.platforms.cases import CASES
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.support.synced_platform import OnPlatform, with_platform
from tests.support.trade import NOON_MS

pytestmark = pytest.mark.parametrize("engine", ENGINES)
# Everybody on a stand-in's list joined it between these times and noon.
BEFORE_MS, CONNECTED_MS = 1_740_000_000_000, 1_750_000_000_000
READER = "reader@example.org"
Test = Callable[[Synced, str, PlatformCase, Any], Awaitable[None]]


def on_every_platform(
    engine: str, monkeypatch: pytest.MonkeyPatch, test: Test, *, now_ms: int = NOON_MS
) -> None:
    async def run(store: Store) -> None:
        for key, case in CASES.items():
            if case.active is not None:
                server = case.server()
                async with server.serving(), newsletter(store, f"{key}@example.org") as synced:
                    synced.now_ms = now_ms
                    await connect_case(monkeypatch, synced, key, case, server)
                    await test(synced, key, case, server)

    with OpenStore(engine) as opened:
        opened.run(run(opened.store))


async def join_and_leave(synced: Synced) -> None:
    await synced.join(READER)
    await synced.change(READER, status="unsubscribed")


async def is_unsubscribed_here(synced: Synced) -> bool:
    found = await synced.find(READER)
    return found is not None and found.status == "unsubscribed"


def test_who_left_here_before_the_first_write_is_unsubscribed_there(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(synced: Synced, key: str, case: PlatformCase, server: Any) -> None:
        person = case.active(server, READER)  # type: ignore[misc]
        await join_and_leave(synced)
        await synced.sync()
        assert case.state(person) == case.unsubscribed, key
        assert await is_unsubscribed_here(synced), key
        asked = len(server.seen)
        await synced.sync()
        assert len(server.seen) == asked, key

    on_every_platform(engine, monkeypatch, test)


def test_who_left_here_and_is_not_there_is_not_added(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(synced: Synced, key: str, case: PlatformCase, server: Any) -> None:
        await join_and_leave(synced)
        await synced.sync()
        synced.pass_a_day()
        await synced.sync()
        assert case.find(server, READER) is None, key

    on_every_platform(engine, monkeypatch, test)


@pytest.mark.parametrize("left_ms", [BEFORE_MS, CONNECTED_MS], ids=["before", "since"])
def test_who_left_here_before_they_joined_there_stays_there(
    engine: str, left_ms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They left before it was connected, or since, but before the time at which they joined there,
    as the platform says. That was their own wish."""

    async def test(synced: Synced, key: str, case: PlatformCase, server: Any) -> None:
        synced.now_ms = left_ms
        await join_and_leave(synced)
        person = case.active(server, READER)  # type: ignore[misc]
        on_list = case.state(person)
        synced.now_ms = NOON_MS
        await synced.sync()
        assert case.state(person) == on_list, key
        assert await is_unsubscribed_here(synced), key

    on_every_platform(engine, monkeypatch, test, now_ms=CONNECTED_MS)


@pytest.mark.parametrize("key", ["listmonk", "brevo"])
def test_a_contact_on_another_list_stays_active_here(
    engine: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They came by import, so they may not be added; and they left no list of ours."""

    async def test(on: OnPlatform) -> None:
        elsewhere = {"listmonk": {"on": ""}, "brevo": {"lists": (brevo.OTHER_LIST,)}}[key]
        on.server.add("ada@example.org", **elsewhere)
        ada = await on.synced.join("ada@example.org", origin=Origin.IMPORT)
        for code in (None, ada.ref_code):  # the second one changes what is written about Ada
            await on.synced.join(f"{code}@example.org", code)
            await on.synced.sync()
            on.synced.pass_a_day()
            await on.synced.sync()
            here = await on.synced.find("ada@example.org")
            assert here is not None and here.status == "active"

    with_platform(engine, key, monkeypatch, test)
