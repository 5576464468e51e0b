"""Who was deleted on a platform is found at night, though its webhook was lost; and nobody is
unsubscribed because a list was read badly.
"""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from honeyguide.integrations import ghost, reading
from tests.support.integrations import Synced
from tests.support.platforms.cases import WITH_LISTS
from tests.support.platforms.ghost import GhostServer
from tests.support.platforms.stand_in import status
from tests.support.service import ENGINES
from tests.support.synced_platform import BesidePlatform, OpenPlatform

pytestmark = pytest.mark.parametrize("engine", ENGINES)


async def connect(on: BesidePlatform) -> None:
    """Four people are on the list already."""
    for number in range(4):
        on.case.active(on.server, f"reader{number}@example.org")  # type: ignore[misc]
    await on.connect_quietly()
    await on.synced.sync()


async def statuses(synced: Synced) -> list[str]:
    found = [await synced.find(f"reader{number}@example.org") for number in range(4)]
    return [each.status if each else "" for each in found]


def delete(on: BesidePlatform, *numbers: int) -> None:
    """In the platform itself. No webhook comes."""
    people = on.server.members if hasattr(on.server, "members") else on.server.people
    for number in numbers:
        gone = on.case.find(on.server, f"reader{number}@example.org")
        [key] = [key for key, person in people.items() if person is gone]
        del people[key]


async def pass_a_night(synced: Synced) -> None:
    synced.pass_a_day()
    await synced.sync()


async def test_who_was_deleted_there_is_unsubscribed_here_after_the_night(
    open_platform: OpenPlatform,
) -> None:
    for key in WITH_LISTS:
        async with open_platform(key) as on:
            await connect(on)
            assert await statuses(on.synced) == ["active"] * 4
            delete(on, 1)
            await pass_a_night(on.synced)
            assert await statuses(on.synced) == ["active", "unsubscribed", "active", "active"]
            integration = await on.synced.integration()
            # Nobody else was written.
            assert (integration.last_out_count, integration.last_out_ms) == (1, on.synced.now_ms)
            await pass_a_night(on.synced)
            assert (await on.synced.integration()).last_out_ms == integration.last_out_ms


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


@pytest.fixture
async def forgetful(
    open_platform: OpenPlatform, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[BesidePlatform]:
    monkeypatch.setattr(ghost, "PER_PAGE", 2)
    async with open_platform("ghost", ForgetfulGhost()) as on:
        await connect(on)
        yield on


async def test_who_is_only_missing_from_the_list_stays(forgetful: BesidePlatform) -> None:
    forgetful.server.hidden = "reader2@example.org"
    await pass_a_night(forgetful.synced)
    assert await statuses(forgetful.synced) == ["active"] * 4
    assert forgetful.server.seen[-1].path.partition("?")[0].endswith(f"/members/{2 + 1:024x}/")


async def test_a_list_that_was_not_read_to_its_end_says_nothing(forgetful: BesidePlatform) -> None:
    delete(forgetful, 3)
    forgetful.server.fail(forgetful.server.browse, status(503))
    await pass_a_night(forgetful.synced)
    assert await statuses(forgetful.synced) == ["active"] * 4
    assert (await forgetful.synced.integration()).is_reading
    await forgetful.synced.wait_over()
    await forgetful.synced.sync()
    assert await statuses(forgetful.synced) == ["active"] * 3 + ["unsubscribed"]


async def test_if_too_many_are_missing_the_operator_decides(
    forgetful: BesidePlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_MISSING", 1)
    delete(forgetful, 0, 3)
    await pass_a_night(forgetful.synced)
    assert await statuses(forgetful.synced) == ["active"] * 4
    assert (await forgetful.synced.integration()).missing == 2
    await forgetful.synced.make(reading.believe_missing)
    await forgetful.synced.sync()
    assert await statuses(forgetful.synced) == ["unsubscribed", "active", "active", "unsubscribed"]
    assert (await forgetful.synced.integration()).missing == 0
