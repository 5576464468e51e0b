"""After an erasure nothing of the person is left in SQLite's files: neither in the database nor in
its write-ahead log.
"""

import asyncio
import contextlib
import itertools
import threading
import time
from collections.abc import Iterator

import apsw
import pytest

from honeyguide.store.scrubber import Scrubber
from honeyguide.store.sqlite import LOCKED_S
from honeyguide.store.tx import Tx
from tests.support.service import Member, Service, until
from tests.support.stores import OpenStore, found_in, put, statement

_numbers = itertools.count(1)
_DELETE = statement("DELETE FROM instance WHERE name = :name")


@pytest.fixture(scope="module")
def on_sqlite() -> Iterator[Service]:
    with Service("sqlite") as service:
        yield service


@pytest.fixture
def alice(on_sqlite: Service) -> Member:
    return on_sqlite.member("alice")


def everywhere(alice: Member) -> tuple[dict[str, str], str]:
    """Somebody among many, with a referral, an event and a stored answer."""
    number = next(_numbers)
    for n in range(150):
        alice.subscribe(f"reader{n}.{number}@example.org", name="x" * (n % 90))
    alice.post("/v2/webhooks", {"url": "http://127.0.0.1:9/hook", "new_referral": True})
    ann = alice.subscribe(f"zelda.quixote{number}@example.org", name=f"Zelda Quixote {number}")
    body = {"email": f"ben{number}@example.org", "referrer_code": ann["ref_code"]}
    alice.post(f"{alice.v1}/subscribers", body, headers={"Idempotency-Key": f"ben {number}"})
    for n in range(150):
        alice.subscribe(f"later{n}.{number}@example.org", name="y" * (n % 70))
    return ann, ann["email"]


def test_an_erased_address_is_in_no_file_of_the_database(on_sqlite: Service, alice: Member) -> None:
    ann, email = everywhere(alice)
    assert found_in(on_sqlite.database_url, email)
    assert alice.delete(f"{alice.v1}/subscribers/{ann['uuid']}").status_code == 200
    until(lambda: not found_in(on_sqlite.database_url, email), 10)
    assert found_in(on_sqlite.database_url, ann["name"]) == []


def test_a_reader_that_stays_delays_nobody_and_the_address_goes_once_it_has_left(
    on_sqlite: Service, alice: Member
) -> None:
    ann, email = everywhere(alice)
    path = on_sqlite.database_url.removeprefix("sqlite:///")
    with contextlib.closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM subscriber").fetchall()
        assert alice.delete(f"{alice.v1}/subscribers/{ann['uuid']}").status_code == 200
        slowest_s = 0.0
        for n in range(100):
            began_s = time.monotonic()
            alice.subscribe(f"meanwhile{n}.{next(_numbers)}@example.org")
            slowest_s = max(slowest_s, time.monotonic() - began_s)
        # Whoever empties the log gives way to writers long before they would give up.
        assert slowest_s < LOCKED_S
        assert found_in(on_sqlite.database_url, email), "what somebody still reads cannot go"
        reader.execute("COMMIT")
        until(lambda: not found_in(on_sqlite.database_url, email), 10)


def test_a_log_that_could_not_be_emptied_is_emptied_later(sqlite: OpenStore) -> None:
    """On a store alone: nobody writes any more, so nothing else empties the log."""
    name, path = "zelda@example.org", sqlite.url.removeprefix("sqlite:///")

    async def erase(tx: Tx) -> None:
        await tx.run(_DELETE, name=name)
        tx.scrub()

    async def scenario() -> None:
        await sqlite.store.write(put(name))
        with contextlib.closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT COUNT(*) FROM instance").fetchall()
            await sqlite.store.write(erase)
            await asyncio.sleep(0.3)
            assert found_in(sqlite.url, name), "what somebody still reads cannot go"
            reader.execute("COMMIT")
        async with asyncio.timeout(10):
            while found_in(sqlite.url, name):
                await asyncio.sleep(0.02)

    sqlite.run(scenario())


def test_closing_waits_until_the_scrubber_has_closed_its_connection() -> None:
    connects, may_connect, is_closed = threading.Event(), threading.Event(), False

    def connect() -> apsw.Connection:
        nonlocal is_closed
        connects.set()
        may_connect.wait(30)
        is_closed = True
        raise apsw.CantOpenError("the test is over")

    async def stop_while_it_connects() -> None:
        scrubber = Scrubber(connect)
        scrubber.start()
        while not connects.is_set():
            await asyncio.sleep(0.001)
        asyncio.get_running_loop().call_later(0.1, may_connect.set)
        await scrubber.stop()
        assert is_closed

    asyncio.run(stop_while_it_connects())
