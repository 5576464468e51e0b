"""Somebody who is on the platform's list joins here and leaves before anything was written: they
are unsubscribed there too, and nobody is added for it. On every platform that has a list.
"""

import pytest

from honeyguide.subscribers.origins import Origin
from tests.support.integrations import Synced
from tests.support.platforms import brevo
from tests.support.platforms.cases import WITH_LISTS
from tests.support.service import ENGINES
from tests.support.synced_platform import OnPlatform, OpenPlatform
from tests.support.trade import NOON_MS

pytestmark = pytest.mark.parametrize("engine", ENGINES)
# Everybody on a stand-in's list joined it between these times and noon.
BEFORE_MS, CONNECTED_MS = 1_740_000_000_000, 1_750_000_000_000
READER = "reader@example.org"


async def join_and_leave(synced: Synced) -> None:
    await synced.join(READER)
    await synced.change(READER, status="unsubscribed")


async def is_unsubscribed_here(synced: Synced) -> bool:
    found = await synced.find(READER)
    return found is not None and found.status == "unsubscribed"


async def test_who_left_here_before_the_first_write_is_unsubscribed_there(
    open_platform: OpenPlatform,
) -> None:
    for key in WITH_LISTS:
        async with open_platform(key) as on:
            await on.connect_quietly()
            person = on.case.active(on.server, READER)  # type: ignore[misc]
            await join_and_leave(on.synced)
            await on.synced.sync()
            assert on.case.state(person) == on.case.unsubscribed
            assert await is_unsubscribed_here(on.synced)
            asked = len(on.server.seen)
            await on.synced.sync()
            assert len(on.server.seen) == asked


async def test_who_left_here_and_is_not_there_is_not_added(open_platform: OpenPlatform) -> None:
    for key in WITH_LISTS:
        async with open_platform(key) as on:
            await on.connect_quietly()
            await join_and_leave(on.synced)
            await on.synced.sync()
            on.synced.pass_a_day()
            await on.synced.sync()
            assert on.case.find(on.server, READER) is None


@pytest.mark.parametrize("left_ms", [BEFORE_MS, CONNECTED_MS], ids=["before", "since"])
async def test_who_left_here_before_they_joined_there_stays_there(
    open_platform: OpenPlatform, left_ms: int
) -> None:
    """They left before it was connected, or since, but before the time at which they joined there,
    as the platform says. That was their own wish."""
    for key in WITH_LISTS:
        async with open_platform(key) as on:
            on.synced.now_ms = CONNECTED_MS
            await on.connect_quietly()
            on.synced.now_ms = left_ms
            await join_and_leave(on.synced)
            person = on.case.active(on.server, READER)  # type: ignore[misc]
            on_list = on.case.state(person)
            on.synced.now_ms = NOON_MS
            await on.synced.sync()
            assert on.case.state(person) == on_list
            assert await is_unsubscribed_here(on.synced)


@pytest.mark.parametrize("key", ["listmonk", "brevo"])
async def test_a_contact_on_another_list_stays_active_here(on: OnPlatform, key: str) -> None:
    """They came by import, so they may not be added; and they left no list of ours."""
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
