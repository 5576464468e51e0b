"""Something happens between any two steps of a sync: somebody is erased, leaves or changes, the
integration is paused, the platform has a problem. Afterwards the platform has what it should have,
and nobody who was erased has left a trace.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web

from honeyguide.integrations import integrations
from honeyguide.integrations.worker import IntegrationWorker
from honeyguide.kernel.clock import HOUR_MS, MINUTE_MS
from tests.support.integrations import KEYS, Synced
from tests.support.platforms.cases import WITH_LISTS
from tests.support.platforms.stand_in import StandIn, pass_on
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.synced_platform import OnPlatform
from tests.support.trade import SITE

Between = Callable[[str], Awaitable[web.StreamResponse | None]]


class Interrupted:
    """Counts the steps of a sync, which are what the worker does with the database and each request
    to the platform; and calls `between` before each one. That may answer instead of the platform.
    """

    def __init__(self, synced: Synced, server: StandIn, between: Between) -> None:
        self.steps: list[str] = []
        self._store: Any = synced.store
        self._between = between
        server.before = self._before_request
        synced.worker = IntegrationWorker(self, synced.outbound, lambda: synced.now_ms, SITE, KEYS)  # type: ignore[arg-type]

    def listen(self, topic: str, wake: Callable[[], None]) -> None:
        self._store.listen(topic, wake)

    async def read(self, work: Any, *args: Any, **named: Any) -> Any:
        await self._step(work.__name__)
        return await self._store.read(work, *args, **named)

    async def write(self, work: Any, *args: Any, **named: Any) -> Any:
        await self._step(work.__name__)
        return await self._store.write(work, *args, **named)

    async def _before_request(self, request: web.Request) -> web.StreamResponse:
        answer = await self._step(f"{request.method} {request.path}")
        return answer or await pass_on(request)

    async def _step(self, name: str) -> web.StreamResponse | None:
        self.steps.append(name)
        return await self._between(name)


EACH = pytest.mark.parametrize(
    ("key", "engine"), [(key, "sqlite") for key in WITH_LISTS] + [("mailchimp", "postgres")]
)
MOST_STEPS = 60


async def no_trace(on: OnPlatform, email: str) -> None:
    """The address is in nothing that integrations keep."""
    asked = statement(
        "SELECT written, reason FROM integration_subscriber WHERE written LIKE '%@example.org%'"
    )
    kept = await on.synced.store.read(lambda tx: tx.all(asked))
    assert not any(email in str(row) for row in kept), kept


Happens = Callable[["Interruption", str], Awaitable[Any]]


class Interruption:
    """Happens once, before the step with this number."""

    def __init__(self, on: OnPlatform, number: int, email: str, happens: Happens) -> None:
        self.on = on
        self.email = email
        self.happens = happens
        self.number = number
        self.happened = False
        self.erased: str | None = None
        self.steps = Interrupted(on.synced, on.server, self.between)

    async def between(self, name: str) -> web.StreamResponse | None:
        if self.erased is not None:
            await no_trace(self.on, self.erased)
        if self.happened or len(self.steps.steps) <= self.number:
            return None
        self.happened = True
        answer = await self.happens(self, self.email)
        return answer if isinstance(answer, web.StreamResponse) and "/" in name else None


async def settle(on: OnPlatform) -> None:
    """Until nothing is left to do, through waits and retries."""
    for _ in range(2):
        on.synced.now_ms += 10 * MINUTE_MS
        await on.synced.wait_a_bit()
        await on.synced.sync()


async def each_step(
    on: OnPlatform,
    happens: Happens,
    check: Callable[[str], Awaitable[None]],
) -> None:
    """For each step, somebody joins, who is written while it happens."""
    for number in range(MOST_STEPS):
        email = f"reader{number}@example.org"
        await on.synced.join(email)

        interruption = Interruption(on, number, email, happens)
        await on.synced.sync()
        was_long_enough = interruption.happened
        await settle(on)
        await check(email)
        if not was_long_enough:
            assert number > 8
            return
    raise AssertionError("the sync has too many steps")


@EACH
async def test_who_is_erased_between_any_two_steps_leaves_no_trace(on: OnPlatform) -> None:
    # Who was erased here and is still on the list there, comes back when it is read again.
    on.set_about(poll_every_s=0)

    async def erase(interruption: Interruption, email: str) -> None:
        await on.synced.erase(email)
        interruption.erased = email
        on.synced.now_ms += 1_000

    async def check(email: str) -> None:
        if await on.synced.find(email) is None:
            await no_trace(on, email)
            if on.person(email) is not None:
                assert on.written(email) == {}
        else:
            assert on.written(email) == await on.expected(email)

    await each_step(on, erase, check)


@pytest.mark.parametrize(
    ("key", "engine"),
    [(key, "sqlite") for key in ("mailchimp", "ghost", "brevo")] + [("kit", "postgres")],
)
@pytest.mark.parametrize("what", ["503", "garbage", "address", "referral", "leaves", "pause"])
async def test_whatever_happens_between_two_steps_the_platform_has_what_it_should(
    on: OnPlatform, what: str
) -> None:
    now_at: dict[str, str] = {}

    async def happens(interruption: Interruption, email: str) -> Any:
        if what == "503":
            return web.Response(status=503)
        if what == "garbage":
            return web.Response(text="<html>")
        if what == "address":
            now_at[email] = f"moved-{email}"
            await on.synced.change(email, email=now_at[email])
        elif what == "referral":
            here = await on.synced.find(email)
            assert here is not None
            await on.synced.join(f"friend-of-{email}", here.ref_code)
        elif what == "leaves":
            await on.synced.change(email, status="unsubscribed")
        elif what == "pause":
            requests = len(on.server.seen)
            await on.synced.make(integrations.set_status, integrations.PAUSED)
            now_at[email] = str(requests)
        return None

    async def check(email: str) -> None:
        if what == "pause":
            now_at.clear()
            await on.synced.wait_over()  # resumed
            await settle(on)
        current = now_at.get(email, email)
        here = await on.synced.find(current)
        assert here is not None
        if here.status == "unsubscribed":
            person = on.person(current)
            assert person is None or on.case.state(person) == on.case.unsubscribed
            return
        assert on.written(current) == await on.expected(current)
        assert here.referrals_verified == (f"friend-of-{email}" in await emails(on))

    await each_step(on, happens, check)
    emails_there = [each for each in await emails(on) if on.person(each) is None]
    assert what == "leaves" or emails_there == []


async def emails(on: OnPlatform) -> set[str]:
    asked = statement("SELECT email FROM subscriber WHERE erased_ms IS NULL")
    return {row[0] for row in await on.synced.store.read(lambda tx: tx.all(asked))}


@EACH
async def test_a_paused_integration_writes_nothing_more(on: OnPlatform) -> None:
    on.set_limits(per_batch=2)
    """Not even while its lease lasts: at most the batch that is under way is written."""
    for number in range(6):
        await on.synced.join(f"reader{number}@example.org")

    async def between(name: str) -> web.StreamResponse | None:
        is_write = name.partition(" ")[0] in ("POST", "PUT", "PATCH")
        if is_write and (await on.synced.integration()).status == integrations.ACTIVE:
            await on.synced.make(integrations.set_status, integrations.PAUSED)
        return None

    Interrupted(on.synced, on.server, between)
    await on.synced.sync()
    there = [n for n in range(6) if on.person(f"reader{n}@example.org") is not None]
    assert 1 <= len(there) <= 2, there
    await on.synced.wait_over()
    on.server.before = None
    on.synced.worker = on.synced.new_worker()
    await settle(on)
    for number in range(6):
        email = f"reader{number}@example.org"
        assert on.written(email) == await on.expected(email)


@EACH
async def test_who_is_erased_while_the_list_is_read_does_not_come_back(on: OnPlatform) -> None:
    on.set_about(poll_every_s=0)
    await on.synced.join("ada@example.org")
    await on.synced.sync()
    on.synced.pass_a_day()

    async def between(name: str) -> web.StreamResponse | None:
        if name == "unknown_changes" and await on.synced.find("ada@example.org"):
            on.synced.now_ms += 1_000
            await on.synced.erase("ada@example.org")
            on.synced.now_ms += 1_000
        return None

    Interrupted(on.synced, on.server, between)
    await on.synced.sync()
    assert await emails(on) == set()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("key", ["mailchimp", "kit", "brevo"])
async def test_what_changed_there_during_a_pause_is_read_after_it(on: OnPlatform, key: str) -> None:
    """These platforms list what changed since a time: since the last reading, however long ago."""
    await on.synced.join("ada@example.org")
    await on.synced.sync()
    on.synced.now_ms += HOUR_MS
    await on.synced.sync()
    await on.synced.make(integrations.set_status, integrations.PAUSED)
    left_ms = on.synced.now_ms + HOUR_MS
    ada = on.person("ada@example.org")
    _leaves_there(key, ada, left_ms)
    on.synced.now_ms += 5 * HOUR_MS
    await on.synced.wait_over()
    await on.synced.sync()
    here = await on.synced.find("ada@example.org")
    assert here is not None and here.status == "unsubscribed"


def _leaves_there(key: str, person: Any, at_ms: int) -> None:
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    if key == "mailchimp":
        person.status, person.changed = "unsubscribed", at.isoformat()
    elif key == "kit":
        person.update(state="cancelled", updated_at=at.strftime("%Y-%m-%dT%H:%M:%SZ"))
    else:
        person.update(emailBlacklisted=True, modifiedAt=at.strftime("%Y-%m-%dT%H:%M:%S.000Z"))
