"""Each background loop of a real service fails in turn, a few times, in the midst of things. Within
ten seconds everything goes on: emails, webhooks, jobs, clicks, integrations. Nothing is sent twice,
and nothing is lost.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from honeyguide.events import outbox, signature, webhooks
from honeyguide.events.webhooks import Flags
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.mail import email_kinds, emails
from honeyguide.mail.content import email
from honeyguide.mail.emails import EmailToSend
from honeyguide.store.tx import Tx
from tests.support.dispatcher import HOME, Receiver, receiving
from tests.support.failing_loops import Faults
from tests.support.integrations import Synced, connect_tool, newsletter
from tests.support.mailbox import Mailbox
from tests.support.platforms.generic import GenericTool
from tests.support.process import Serving, command, environment
from tests.support.starter import Command
from tests.support.stores import OpenStore, statement

WITHIN_S = 10.0
SECRET = "ab" * 32
LOOPS = (
    "deliver webhooks",
    "sync integrations",
    "count clicks",
    "measure the process",
    "record the health of background work",
    "listen to the database",
    "update the page index",
    "send emails",
    "*",  # all of them at once
)
# Each failure in a row doubles the wait. All of them at once always fail this often.
ALL_AT_ONCE = 3
# What does not run there.
ABSENT = {
    "sqlite Serving": ("listen to the database",),
    "sqlite Working": ("listen to the database", "count clicks", "measure the process"),
    "postgres Working": ("count clicks", "measure the process"),
}


class Life:
    """One newsletter that uses everything, round by round."""

    def __init__(
        self, synced: Synced, tool: GenericTool, receiver: Receiver, mailbox: Mailbox
    ) -> None:
        self.synced, self.tool, self.receiver, self.mailbox = synced, tool, receiver, mailbox
        self.rounds = 0
        self.port: int | None = None
        self.webhook_id = ""

    async def begin(self) -> None:
        made = await self.synced.make(
            webhooks.create, "", self.receiver.url, Flags(new_referral=True), policy=HOME
        )
        self.webhook_id = made.id

    async def live(self) -> None:
        self.synced.now_ms = system_clock()
        self.rounds += 1
        person = await self.synced.join(f"reader{self.rounds}@example.org")
        await self.synced.store.write(self._emit_and_write)
        if self.port is not None:
            await self._click(person.ref_code)

    async def _emit_and_write(self, tx: Tx) -> None:
        account_id, now_ms = self.synced.tenant.account_id, system_clock()
        event = outbox.Event(
            account_id, outbox.NEW_REFERRAL, {"round": self.rounds}, [self.webhook_id], None
        )
        await outbox.emit(tx.at(now_ms), [event])
        to, message = EmailAddress("owner@example.org"), email(f"Round {self.rounds}", "Hello")
        sent = EmailToSend(account_id, to, email_kinds.TEST_EMAIL, message)
        await emails.send(tx.at(now_ms), sent)

    async def _click(self, code: str) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = (
            f"GET /r/{code} HTTP/1.1\r\nhost: x\r\nuser-agent: Firefox\r\nconnection: close\r\n\r\n"
        )
        writer.write(head.encode())
        assert b" 302 " in await reader.readline()
        writer.close()

    async def ask(self, sql: str) -> list[tuple[Any, ...]]:
        async def find(tx: Tx) -> list[tuple[Any, ...]]:
            return await tx.all(statement(sql))

        return await self.synced.store.read(find)

    async def missing(self) -> dict[str, object]:
        """What did not arrive yet."""
        clicks = await self.ask("SELECT COALESCE(SUM(n), 0) FROM click_day WHERE code <> ''")
        found = {
            "webhooks": len(self.receiver.requests),
            "emails": len(self.mailbox.received),
            "contacts": len(self.tool.contacts),
            "clicks": int(clicks[0][0]) if self.port is not None else self.rounds,
        }
        late: dict[str, object] = {
            name: count for name, count in found.items() if count < self.rounds
        }
        if await self.ask("SELECT 1 FROM count_note LIMIT 1"):
            late["jobs"] = "the page index is not up to date"
        return late

    async def all_arrives(self, loop: str) -> None:
        give_up = time.monotonic() + WITHIN_S
        while late := await self.missing():
            assert time.monotonic() < give_up, (loop, self.rounds, late)
            await asyncio.sleep(0.05)

    def nothing_came_twice(self) -> None:
        events = Counter(request.id for request in self.receiver.requests)
        assert set(events.values()) == {1} and len(events) == self.rounds
        emails = Counter(received.subject for received in self.mailbox.received)
        assert emails == {f"Round {number + 1}": 1 for number in range(self.rounds)}


async def fail_in_turn(
    opened: OpenStore, times: int, start: Callable[[Faults, Mailbox], Awaitable[Any]]
) -> None:
    faults = Faults()
    tool = GenericTool(signature.new_secret())
    with Mailbox() as mailbox:
        async with tool.serving(), receiving() as receiver, newsletter(opened.store) as synced:
            life = Life(synced, tool, receiver, mailbox)
            await life.begin()
            await connect_tool(synced, tool, adds_existing=True)
            process = await start(faults, mailbox)
            life.port = getattr(process, "port", None)
            try:
                await life.live()
                await life.all_arrives("none")
                for place, loop in enumerate(LOOPS):
                    moment = ("before", "after")[place % 2]
                    faults.fail(loop, times=ALL_AT_ONCE if loop == "*" else times, moment=moment)
                    await life.live()
                    await life.all_arrives(loop)
                    if loop in ABSENT.get(f"{opened.engine} {type(process).__name__}", ()):
                        continue
                    give_up = time.monotonic() + WITHIN_S
                    while not faults.is_over():
                        assert time.monotonic() < give_up, loop
                        await asyncio.sleep(0.05)
                faults.stop()
                life.nothing_came_twice()
            finally:
                await asyncio.to_thread(process.__exit__, None, None, None)


class Working:
    """`honeyguide work`; it must not end before it is told to."""

    def __init__(self, url: str, faults: Faults, **settings: object) -> None:
        self._out = open("/dev/null", "wb")  # noqa: SIM115 - as long as the process
        self.process = Command(
            ["work"],
            env=environment(database_url=url, log="off", **settings),
            stdout=self._out,
            stderr=self._out,
            before=faults.before,
        )

    def __exit__(self, *_: object) -> None:
        assert self.process.poll() is None
        self.process.terminate()
        assert self.process.wait(30) == 0
        self._out.close()


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("engine", "how"),
    [
        ("sqlite", "serve"),
        pytest.param("postgres", "serve", marks=pytest.mark.long),
        pytest.param("postgres", "serve --workers 2", marks=pytest.mark.long),
        pytest.param("sqlite", "work", marks=pytest.mark.long),
        pytest.param("postgres", "work", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize(
    "times",
    [1, pytest.param(3, marks=pytest.mark.long)],
    ids=["once", "three times"],
)
def test_every_loop_may_fail(engine: str, how: str, times: int) -> None:
    with OpenStore(engine) as opened:

        async def start(faults: Faults, mailbox: Mailbox) -> Any:
            given = {"smtp_url": mailbox.url, "secret_key": SECRET, "webhook_allow": "127.0.0.0/8"}
            if how == "work":
                return await asyncio.to_thread(Working, opened.url, faults, **given)
            server = Serving(opened.url, *how.split()[1:], **given)
            server.before = faults.before
            return await asyncio.to_thread(server.start)

        opened.run(fail_in_turn(opened, times, start))


def test_a_loop_that_keeps_failing_is_named_everywhere(tmp_path: Any) -> None:
    with OpenStore("sqlite") as opened:
        faults, server = Faults(), Serving(opened.url)
        server.before = (
            faults.before + "\nbackground.FIRST_DELAY_S = background.LONGEST_DELAY_S = 0.05\n"
        )
        with server:
            faults.fail("deliver webhooks", times=10**9, moment="before")
            body = server.wait_for("/readyz", status=503, seconds=30).json()
            assert body["code"] == "background_work" and "deliver webhooks" in body["error"]
            give_up = time.monotonic() + 30
            while True:
                done = command("doctor", "--json", database_url=opened.url)
                checks = json.loads(done.stdout)["checks"]
                (jobs,) = [each for each in checks if each["name"] == "jobs"]
                if "deliver webhooks (RuntimeError)" in jobs["message"]:
                    break
                assert time.monotonic() < give_up, jobs
            assert jobs["level"] == "problem" and done.returncode == 1
            metrics = server.caller()("GET", "/metrics").body.decode()
            (line,) = [
                each
                for each in metrics.splitlines()
                if each.startswith('honeyguide_loop_failures_total{loop="deliver webhooks"}')
            ]
            assert float(line.rpartition(" ")[2]) >= 10
            assert 'honeyguide_loop_failures_total{loop="send emails"} 0.0' in metrics
            faults.stop()
            server.wait_for("/readyz", seconds=30)
            give_up = time.monotonic() + 30
            while opened.ask("SELECT name FROM failing_loop"):
                assert time.monotonic() < give_up
                time.sleep(0.1)
