"""Faults of ours on the API: overload, a database that is away, a bug. Each is a 500 whose code
says which.
"""

import contextlib
from collections.abc import Iterator

import apsw
import pytest

from honeyguide.api import handler
from honeyguide.store import sqlite
from tests.api.test_errors import refused
from tests.support.postgres import shared_server
from tests.support.service import ENGINES, Member, Service


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_overload_is_a_500_that_says_when_to_come_back(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "MOST_AT_ONCE", 0)
    answer = alice.get("/v1/campaigns")
    assert refused(answer, 500)["code"] == "overloaded"
    assert int(answer.headers["retry-after"]) >= 1
    monkeypatch.undo()
    assert alice.get("/v1/campaigns").status_code == 200


def test_a_bug_is_a_500_that_tells_nothing_of_the_inside(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret /etc/inside")

    monkeypatch.setattr(handler.transport, "query_of", broken)
    answer = alice.get("/v1/campaigns")
    body = refused(answer, 500)
    assert body["code"] == "internal_error"
    assert "secret" not in answer.text and "Zero" not in answer.text


@contextlib.contextmanager
def away(service: Service) -> Iterator[None]:
    """The database as another process can make it: locked (SQLite), or gone and closed to newcomers
    (PostgreSQL).
    """
    if service.engine == "sqlite":
        with contextlib.closing(
            apsw.Connection(service.database_url.removeprefix("sqlite:///"))
        ) as connection:
            connection.set_busy_timeout(5000)
            connection.execute("BEGIN IMMEDIATE")
            yield
        return
    server, name = shared_server(), service.database_url.rpartition("/")[2]
    server.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
    # It waits until they are gone: one that dies only when the database is back would be an outage
    # of its own.
    server.execute(
        f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name}'"
    )
    try:
        yield
    finally:
        server.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')


def test_a_database_that_is_locked_or_away_is_a_500_and_comes_back(
    monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setattr(sqlite, "LOCKED_S", 0.2)
    with Service(engine) as service:
        alice = service.member()
        with away(service):
            answer = alice.post(f"{alice.v1}/subscribers", {"email": "ana@example.org"})
            assert refused(answer, 500)["code"] == "unavailable"
            assert int(answer.headers["retry-after"]) >= 1
        assert (
            alice.post(f"{alice.v1}/subscribers", {"email": "ana@example.org"}).status_code == 201
        )
        assert alice.total() == 1
