"""Any tool: signed JSON out, signed JSON in. The pace, which every platform keeps, is tested here
too.
"""

import time
from typing import Any

import pytest
from aiohttp import ClientTimeout

from honeyguide.events import outbound, signature
from honeyguide.integrations.about import Limits
from honeyguide.integrations.platform import ContactStatus, WriteResult
from honeyguide.integrations.problems import ForgedHook, TryLater, Unexpected
from honeyguide.integrations.reports import ChangeKind, IncomingHook
from tests.support.platforms.case import Opened
from tests.support.platforms.cases import CASES
from tests.support.platforms.stand_in import contact, garbage, pass_on, slow

NOW_S = 1_800_000_000

PLATFORM = "generic"


async def test_contacts_are_written_with_the_operators_field_names(on_platform: Opened) -> None:
    tool, generic, access = on_platform
    assert await generic.check(access) == ""
    tool.refuses = {"reader2@example.org": {"result": "refused", "reason": "Typo?"}}
    left = contact(3, status=ContactStatus.UNSUBSCRIBED, may_add=False)
    outcomes = await generic.write_many(access, [contact(1), contact(2), left])
    assert [each.result for each in outcomes] == [
        WriteResult.WRITTEN,
        WriteResult.REFUSED,
        WriteResult.WRITTEN,
    ]
    assert outcomes[1].reason == "Typo?"
    written = tool.contacts[contact(1).subscriber_id]
    assert written["fields"] == {"RH_CODE": "code1", "RH_TOTREF": "3"}
    assert tool.contacts[left.subscriber_id]["status"] == "unsubscribed"


async def test_an_answer_that_is_no_json_object_says_nothing_about_anybody(
    on_platform: Opened,
) -> None:
    tool, generic, access = on_platform
    tool.fail(garbage)
    assert (await generic.write_many(access, [contact()]))[0].result == WriteResult.WRITTEN


async def test_requests_keep_the_pace() -> None:
    assert Limits(requests_per_minute=120, per_batch=1, requests_per_batch=1).interval_s == 0.5
    both = Limits(requests_per_second=4, requests_per_minute=60, per_batch=1, requests_per_batch=1)
    assert both.interval_s == 1
    async with CASES["generic"].open(interval_s=0.1) as (_, generic, access):
        began = time.perf_counter()
        for _ in range(4):
            await generic.check(access)
        assert time.perf_counter() - began >= 0.3
        assert access.http.requests == 4 and 0 < access.http.wait_s <= 0.1


async def test_an_answer_that_takes_too_long_is_none(
    on_platform: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool, generic, access = on_platform
    monkeypatch.setattr(outbound, "_REQUEST_TIMEOUT", ClientTimeout(total=0.05))
    tool.fail(slow(0.2, pass_on))
    with pytest.raises(TryLater, match="in time"):
        await generic.check(access)


async def test_a_webhook_is_verified_and_understood(on_platform: Opened) -> None:
    tool, generic, access = on_platform
    content = {"type": "joined", "email": "a@example.org", "name": "Ada", "code": "k3x9"}

    def hook(**options: Any) -> IncomingHook:
        sent = tool.signed(options.pop("content", content), **{"at_s": NOW_S, **options})
        return IncomingHook(headers=sent["headers"], body=sent["content"])

    generic.verify_hook(access, hook(), now_s=NOW_S + 299)
    for wrong in (
        hook(secret=signature.new_secret()),
        hook(at_s=NOW_S - 301),
        IncomingHook(headers={}, body=b"{}"),
        IncomingHook(headers=hook().headers, body=b"{}"),
    ):
        with pytest.raises(ForgedHook):
            generic.verify_hook(access, wrong, now_s=NOW_S)
    [change] = await generic.understand_hook(access, hook())
    assert (change.kind, change.email, change.name, change.code) == (
        ChangeKind.JOINED,
        "a@example.org",
        "Ada",
        "k3x9",
    )
    many = {"events": [{"type": "left", "email": "a@example.org"}, {"type": "deleted"}]}
    kinds = [each.kind for each in await generic.understand_hook(access, hook(content=many))]
    assert kinds == [ChangeKind.LEFT, ChangeKind.DELETED]
    for nonsense in ([], {"type": "sneezed"}, {"events": 7}, "x"):
        with pytest.raises(Unexpected):
            await generic.understand_hook(access, hook(content=nonsense))
