"""A platform that nobody has, written by the recipe in CONTRIBUTING.md, stands what every platform
has to stand. So the recipe is complete, and a module is short.
"""

import inspect
from pathlib import Path

import msgspec
import pytest

from honeyguide.integrations.platforms import PLATFORMS
from honeyguide.integrations.problems import ForgedHook
from honeyguide.integrations.reports import ChangeKind
from tests.integrations import test_platforms
from tests.support import made_up_platform
from tests.support.platforms.cases import read_all
from tests.support.platforms.pigeon import CASE
from tests.support.synced_platform import OnPlatform

PLATFORM = "pigeon"
MOST_LINES = 150
NOW_S = 1_800_000_000
SHARED = {
    name: test
    for name, test in vars(test_platforms).items()
    if name.startswith("test_") and list(inspect.signature(test).parameters) == ["case"]
}


def test_the_module_is_short() -> None:
    assert len(Path(made_up_platform.__file__).read_text().splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", SHARED)
async def test_it_stands_what_every_platform_has_to_stand(name: str) -> None:
    await SHARED[name](CASE)


async def test_its_list_is_read_and_its_webhooks_are_believed() -> None:
    async with CASE.open() as (server, platform, access):
        birds = [server.add(f"bird{number}@example.org") for number in range(5)]
        birds[1]["state"] = "off"
        kinds = [each.kind for each in await read_all(platform, access)]
        assert kinds == [ChangeKind.JOINED, ChangeKind.LEFT, *[ChangeKind.JOINED] * 3]
        kept = await platform.add_hook(access, "https://refer.example.org/hooks/1")
        connected = msgspec.structs.replace(access, credentials={**access.credentials, **kept})
        assert CASE.webhook is not None
        hook = CASE.webhook.sign(kept, CASE.webhook.body(birds[1]), NOW_S)
        platform.verify_hook(connected, hook, now_s=NOW_S)
        [change] = await platform.understand_hook(connected, hook)
        assert (change.kind, change.email) == (ChangeKind.LEFT, "bird1@example.org")
        with pytest.raises(ForgedHook):
            platform.verify_hook(access, hook, now_s=NOW_S)


async def test_a_newsletter_is_synced_with_it(on: OnPlatform) -> None:
    """Its line in the table is all that the rest of the code needs."""
    assert isinstance(PLATFORMS[PLATFORM], made_up_platform.Pigeon)
    await on.synced.join("ada@example.org")
    await on.synced.sync()
    assert on.written("ada@example.org") == await on.expected("ada@example.org")
