"""Several PostgreSQL servers behind one URL: which of them is used, and how the store moves to
another one without a restart.
"""

import asyncio
import contextlib
import socket
import time

import pytest

from honeyguide.kernel.errors import Unavailable
from honeyguide.store import connections, listener, open_store
from honeyguide.store.backup import backup_postgres
from honeyguide.store.connections import Servers
from honeyguide.store.pool import ConnectionPool
from honeyguide.store.scratch import is_dump
from honeyguide.store.watch import StoreWatch
from tests.support.backups import use_client_programs
from tests.support.postgres import shared_server
from tests.support.process import migrated
from tests.support.stores import names, outcome, put
from tests.support.tcp_proxy import TcpProxy


def url_of(database: str, *ports: int) -> str:
    hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
    return f"postgresql://postgres@{hosts}/{database}"


@pytest.fixture
def database() -> str:
    return migrated("postgres").rpartition("/")[2]


def connections_to(server: socket.socket) -> int:
    """Those since the last call."""
    server.setblocking(False)
    count = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            server.accept()[0].close()
            count += 1
    return count


def test_servers_that_refuse_or_never_answer_are_passed_over(database):
    async def scene(url: str) -> None:
        store = await open_store(url, pool_size=2)
        tried = connections_to(silent)
        await asyncio.gather(store.write(put("a")), store.write(put("b")))
        # The server that answered is tried first: only the first connection waited.
        assert (tried, connections_to(silent)) == (1, 0)
        assert await names(store) == ["a", "b"]
        await store.close()

    with socket.socket() as silent, socket.socket() as refusing:
        for each in (silent, refusing):
            each.bind(("127.0.0.1", 0))
        silent.listen(100)
        ports = (refusing.getsockname()[1], silent.getsockname()[1], shared_server().port)
        asyncio.run(scene(url_of(database, *ports)))


def test_a_backup_of_a_cluster_passes_over_servers_that_are_away(database, tmp_path, monkeypatch):
    use_client_programs(monkeypatch)
    with socket.socket() as refusing:
        refusing.bind(("127.0.0.1", 0))
        url = url_of(database, refusing.getsockname()[1], shared_server().port)
        backup_postgres(url, tmp_path / "copy.dump")
    assert is_dump(tmp_path / "copy.dump")


def test_an_error_names_every_server_that_was_tried(database):
    with socket.socket() as first, socket.socket() as second:
        for each in (first, second):
            each.bind(("127.0.0.1", 0))
        ports = (first.getsockname()[1], second.getsockname()[1])
        with pytest.raises(Unavailable) as failed:
            asyncio.run(open_store(url_of(database, *ports)))
    for port in ports:
        assert f"127.0.0.1:{port}: " in failed.value.message


def test_a_connection_lost_while_it_is_given_back_is_no_error(database):
    """What was done on it is done; an error would say that it failed."""

    async def scene() -> None:
        servers = Servers(url_of(database, shared_server().port))
        pool = ConnectionPool("test", servers, 1, {}, StoreWatch())
        await pool.open()
        connection = await pool.acquire()
        giving_back = asyncio.create_task(pool.release(connection))
        await asyncio.sleep(0)  # it is on its way
        pool.drop()
        await giving_back
        await pool.try_to_connect()
        await pool.close()

    asyncio.run(scene())


def test_a_server_that_hangs_is_left_for_another_without_a_restart(database, monkeypatch):
    """Both proxies lead to the same server; it is the way through the first one that is lost."""
    monkeypatch.setattr(connections, "CONNECT_S", 2.0)
    monkeypatch.setattr(listener, "ANSWER_S", 1.0)
    monkeypatch.setattr(listener, "CHECK_EVERY_S", 0.1)

    async def scene() -> None:
        port = shared_server().port
        async with TcpProxy(port) as first, TcpProxy(port) as second:
            store = await open_store(url_of(database, first.port, second.port))
            heard = asyncio.Event()
            store.listen("news", heard.set)
            await asyncio.wait_for(heard.wait(), 30)
            await store.write(put("a"))
            heard.clear()
            first.cut()
            began = time.monotonic()
            lost = await asyncio.gather(*(outcome(store.write(put(f"b{n}"))) for n in range(20)))
            # Not each statement's own limit of 30 seconds; what waited for a connection may go on.
            assert time.monotonic() - began < 25
            assert any(isinstance(each, Unavailable) for each in lost)
            assert [each for each in lost if not isinstance(each, str | Unavailable)] == []
            await store.write(put("c"))
            await asyncio.wait_for(heard.wait(), 30)  # it listens again too
            acknowledged = {each for each in lost if isinstance(each, str)}
            assert {"a", "c", *acknowledged} <= {*await names(store)}
            await store.close()

    asyncio.run(scene())
