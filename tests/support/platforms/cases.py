"""The stand-ins of all platforms."""

import importlib
from collections.abc import Sequence

from honeyguide.integrations.platform import Platform, PlatformAccess, WriteOutcome, WriteResult
from honeyguide.integrations.platforms import PLATFORMS
from honeyguide.integrations.reports import PlatformChange
from tests.support.platforms.case import PlatformCase, WebhookCase


def case_of(key: str) -> PlatformCase:
    """The `CASE` in the module of the platform's stand-in."""
    return importlib.import_module(f"tests.support.platforms.{key}").CASE  # type: ignore[no-any-return]


CASES: dict[str, PlatformCase] = {key: case_of(key) for key in PLATFORMS}
# The generic tool keeps no list.
WITH_LISTS = [key for key, case in CASES.items() if case.active is not None]
WEBHOOKS: dict[str, WebhookCase] = {
    key: case.webhook for key, case in CASES.items() if case.webhook is not None
}


async def read_all(
    platform: Platform, access: PlatformAccess, since_ms: int | None = None
) -> list[PlatformChange]:
    """Every page of what changed."""
    found: list[PlatformChange] = []
    token = None
    while True:
        page = await platform.read_changes(access, since_ms=since_ms, token=token)
        found += page.changes
        token = page.next_token
        if token is None:
            return found


def results(outcomes: Sequence[WriteOutcome]) -> list[WriteResult]:
    return [each.result for each in outcomes]
