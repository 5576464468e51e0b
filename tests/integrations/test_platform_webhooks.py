"""Webhooks of every platform: none without a secret, each applied once, none in another's way."""

from typing import Any

import msgspec
import pytest

from honeyguide.events import signature
from honeyguide.integrations import incoming
from honeyguide.integrations.checked_platform import CheckedPlatform
from honeyguide.integrations.problems import ForgedHook
from honeyguide.integrations.reports import IncomingHook
from honeyguide.kernel.clock import MINUTE_MS
from tests.support.platforms.case import Opened
from tests.support.platforms.cases import CASES, WEBHOOKS
from tests.support.platforms.stand_in import status
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.synced_platform import OnPlatform

PLATFORM = "generic"
NOW_S = 1_800_000_000
EACH = pytest.mark.parametrize("key", WEBHOOKS)
EACH_ENGINE = pytest.mark.parametrize("engine", ENGINES)


@EACH
async def test_an_empty_secret_is_never_accepted(on_platform: Opened, key: str) -> None:
    """Where no webhook was made, or its secret was lost, anybody can sign with nothing."""
    hooks = WEBHOOKS[key]
    _, platform, access = on_platform
    others = {name: v for name, v in access.credentials.items() if name != hooks.secret}
    good = {**others, hooks.secret: signature.new_secret()}
    empty = [others, {**others, hooks.secret: ""}]
    if key == "generic":
        empty.append({**others, hooks.secret: signature.PREFIX})
    signed = hooks.sign(good, b"{}", NOW_S)
    for each in (platform, CheckedPlatform(platform)):
        each.verify_hook(msgspec.structs.replace(access, credentials=good), signed, now_s=NOW_S)
        for credentials in empty:
            with pytest.raises(ForgedHook):
                each.verify_hook(
                    msgspec.structs.replace(access, credentials=credentials),
                    hooks.sign(credentials, b"{}", NOW_S),
                    now_s=NOW_S,
                )


async def stored(on: OnPlatform) -> int:
    asked = statement("SELECT COUNT(*) FROM integration_event")
    [row] = await on.synced.store.read(lambda tx: tx.all(asked))
    return int(row[0])


@EACH_ENGINE
@EACH
async def test_who_leaves_comes_back_and_leaves_again_has_left(on: OnPlatform, key: str) -> None:
    """The second webhook may have the same words, and on most platforms the same signature."""
    hooks = WEBHOOKS[key]
    synced = on.synced
    await synced.join("ada@example.org")
    await synced.sync()
    ada = on.person("ada@example.org") if on.case.active else {"email": "ada@example.org"}
    for second in (0, 60):
        hooks.leave(on.server, ada)
        assert await on.says_left(ada, second=second)
        # The same webhook again is recognized, whatever else is in its headers.
        assert not await on.says_left(ada, second=second)
        await synced.sync()
        here = await synced.find("ada@example.org")
        assert here is not None and here.status == "unsubscribed"
        synced.pass_a_minute()
        await synced.change("ada@example.org", status="confirmed")  # their own confirmation


@EACH
async def test_what_nobody_signed_tells_no_webhooks_apart(on: OnPlatform, key: str) -> None:
    """A header that anybody can set makes no repeated webhook look new."""
    hooks = WEBHOOKS[key]
    hook = hooks.sign(on.credentials, b'{"type": "left"}', NOW_S)
    platform = CASES[key].platform(on.server)
    async with CASES[key].open() as (_, _, access):
        access = msgspec.structs.replace(access, credentials=on.credentials)
        for headers in (
            {},
            {"x-signature": "other"},
            {"date": "today", "user-agent": "other", "signature-input": "x"},
        ):
            same = IncomingHook(
                headers={**headers, **hook.headers}, body=hook.body, query=hook.query
            )
            signed_at = platform.verify_hook(access, same, now_s=NOW_S)
            assert await on.synced.receive(same, signed_at) == (headers == {})
    assert await stored(on) == 1


DEEP = b'{"events": ' * 50_000
NUL = "a\0b@example.org"
BODIES: dict[str, Any] = {
    "deep": DEEP,
    "nothing": b"",
    "not text": b"\xff\xfe\x00",
    "a list": b"[[]]",
    "a number": b"1" * 400,
    "half a pair": b'{"event_type": "\\ud800", "event": "\\ud800", "type": "\\ud800"}',
    "a form": b"data[email]=a&data[email]=b&data[email]=c",
    "a long form": b"a=b&" * 100_000,
}


def with_name(body: Any, name: str) -> Any:
    """The same, with another text wherever there was one that is not a kind of event."""
    match body:
        case dict():
            kinds = ("event", "event_type", "type")
            return {k: v if k in kinds else with_name(v, name) for k, v in body.items()}
        case list():
            return [with_name(each, name) for each in body]
        case str():
            return name
        case _:
            return body


@EACH_ENGINE
@EACH
async def test_no_webhook_is_in_the_way_and_each_is_given_up_in_the_end(
    on: OnPlatform, key: str
) -> None:
    """Whatever it says: the next webhook is applied, and subscribers are written meanwhile."""
    hooks = WEBHOOKS[key]
    synced = on.synced
    for name in ("ada", "eve"):
        await synced.join(f"{name}@example.org")
    await synced.sync()
    eve = on.person("eve@example.org") if on.case.active else {"email": "eve@example.org"}
    left = msgspec.to_builtins(hooks.left(eve))
    bodies = [
        *BODIES.values(),
        *(hooks.encode(with_name(left, each)) for each in (NUL, "", "x" * 100_000)),
    ]
    for number, body in enumerate(bodies):
        hook = hooks.sign({**on.credentials, "secret": ""}, body, NOW_S)
        await synced.receive(hook, f"nonsense {number}")
    hooks.leave(on.server, eve)
    synced.now_ms += MINUTE_MS
    assert await on.says_left(eve)
    bob = await synced.join("bob@example.org")
    await synced.sync()
    here = await synced.find("eve@example.org")
    assert here is not None and here.status == "unsubscribed"
    if on.case.active:
        assert on.written("bob@example.org") == await on.expected("bob@example.org")
    else:
        assert bob.id in on.server.contacts
    waiting = "SELECT COUNT(*) FROM integration_event WHERE due_ms IS NOT NULL"
    tries = 0
    while await count(on, waiting):
        tries += 1
        synced.now_ms += 2**tries * MINUTE_MS
        await synced.sync()
    assert tries == incoming.EVENT_TRIES - 1
    integration = await synced.integration()
    assert (integration.status, integration.problem) == ("active", None)
    assert "10 times" in (integration.refused_hook or ""), integration.refused_hook
    assert await count(on, "SELECT COUNT(*) FROM integration_event WHERE content <> ''") == 0


async def count(on: OnPlatform, sql: str) -> int:
    [row] = await on.synced.store.read(lambda tx: tx.all(statement(sql)))
    return int(row[0])


@EACH_ENGINE
async def test_one_change_that_fails_costs_the_other_changes_nothing(
    on: OnPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of ours, in the middle of a delivery of three."""
    apply = incoming.apply

    async def applied(leased: Any, reported: Any, **times: Any) -> None:
        if reported.email == "poison@example.org":
            raise ZeroDivisionError
        await apply(leased, reported, **times)

    monkeypatch.setattr(incoming, "apply", applied)
    events = [
        {"type": "joined", "email": f"{name}@example.org"} for name in ("ada", "poison", "eve")
    ]
    body = msgspec.json.encode({"events": events})
    await on.synced.receive(IncomingHook(headers={}, body=body), "1")
    await on.synced.sync()
    assert await on.synced.find("ada@example.org") and await on.synced.find("eve@example.org")
    waiting = "SELECT COUNT(*) FROM integration_event WHERE due_ms IS NOT NULL AND tries = 1"
    assert await count(on, waiting) == 1
    monkeypatch.setattr(incoming, "apply", apply)
    on.synced.now_ms += MINUTE_MS
    await on.synced.sync()
    assert await on.synced.find("poison@example.org")


@EACH_ENGINE
@pytest.mark.parametrize("key", ["mailchimp", "beehiiv", "buttondown", "brevo"])
async def test_a_webhook_that_came_while_the_platform_was_busy_is_applied_later(
    on: OnPlatform, key: str
) -> None:
    """These platforms are asked what happened."""
    hooks = WEBHOOKS[key]
    synced = on.synced
    await synced.join("ada@example.org")
    await synced.sync()
    ada = on.person("ada@example.org")
    hooks.leave(on.server, ada)
    assert await on.says_left(ada)
    for fault in (status(503), status(429), status(200, "<html>")):
        on.server.fail(fault)
        await synced.sync()
        here = await synced.find("ada@example.org")
        assert here is not None and here.status == "active" and not on.server.faults
        synced.now_ms += 10 * MINUTE_MS
    await synced.sync()
    here = await synced.find("ada@example.org")
    assert here is not None and here.status == "unsubscribed"
