"""A real Honeyguide on a real socket, in a thread of the test process, on either engine; and the
cast that calls it.

Alice owns, Bob partners, Mallory must see nothing. Only the clock is ours to move.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from honeyguide import settings as settings_module
from honeyguide.accounts import accounts, keys
from honeyguide.app import Application, Services
from honeyguide.http_server import Server, server_config
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.tenant import Tenant
from honeyguide.serve import listen
from honeyguide.store import Tx, migrate
from honeyguide.work.items import Job

from . import used_databases
from .changes import changing, new_change
from .http_client import local_client
from .postgres import shared_server

T = TypeVar("T")
ENGINES = ("sqlite", "postgres")
# For what is decided before the store is asked: decoding, validation, routing, the text of a page.
ONE_ENGINE = pytest.mark.parametrize("shared_service", ["sqlite"], indirect=True, scope="module")
_numbers = itertools.count(1)


def until(true: Callable[[], bool], seconds: float = 30) -> None:
    """For what happens soon, but not at once."""
    give_up = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < give_up, "it never came true"
        time.sleep(0.02)


def fresh_database_url(engine: str, folder: Path, *, migrated: bool = False) -> str:
    """A database of its own: empty, or with all tables, which are copied from a template and not
    made again. On PostgreSQL it may be one that another test gave back.
    """
    name = f"hg{next(_numbers)}_{folder.name.replace('-', '_')[-20:]}".lower()
    if engine == "sqlite":
        if migrated:
            shutil.copy(_template("sqlite").removeprefix("sqlite:///"), folder / f"{name}.db")
        return f"sqlite:///{folder / name}.db"
    server = shared_server()
    if not migrated:
        server.create_database(name)
        return server.url(name)
    template = _template("postgres").rpartition("/")[2]
    used = used_databases.take(server, _shape_of_template())
    if used is None:
        server.create_database(name, template=template)
    return server.url(used or name)


@functools.cache
def _template(engine: str) -> str:
    url = fresh_database_url(engine, Path(tempfile.mkdtemp(prefix="hgtemplate")))
    with ThreadPoolExecutor(1) as apart:  # a loop may be running in the thread that asks
        apart.submit(asyncio.run, migrate(url)).result()
    return url


@functools.cache
def _shape_of_template() -> str:
    return used_databases.shape(shared_server(), _template("postgres").rpartition("/")[2])


class Service:
    """One running service. `settings` override the environment's, by the names of
    `honeyguide.settings`.
    """

    def __init__(self, engine: str, *, work: bool = True, **settings: Any) -> None:
        self.engine = engine
        self.folder = Path(tempfile.mkdtemp(prefix="hgtest"))
        self.clock_file = self.folder / "clock"
        self.clock_file.write_text("0")
        given_url = settings.pop("database_url", None)
        self._own_url = "" if given_url else fresh_database_url(engine, self.folder, migrated=True)
        self.database_url = given_url or self._own_url
        given = {
            "host": "127.0.0.1",
            "port": 0,
            "rate_limit": 0,
            "log": "off",
            "test_clock": str(self.clock_file),
            **settings,
        }
        chosen = settings_module.read({}, database_url=self.database_url, **given)
        self._socket = listen(chosen)
        self.port = self._socket.getsockname()[1]
        given["base_url"] = settings.get("base_url", f"http://127.0.0.1:{self.port}")
        self.settings = settings_module.read({}, database_url=self.database_url, **given)
        self.url = f"http://127.0.0.1:{self.port}"
        self.application = Application(self.settings, work=work)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        config = server_config(self.application, self.settings, patience_s=2)
        self._server = Server(config, self._ready.set)
        with asyncio.Runner() as runner:
            self.loop = runner.get_loop()
            runner.run(self._server.serve(sockets=[self._socket]))
        self._ready.set()

    def __enter__(self) -> Service:
        self._thread.start()
        assert self._ready.wait(30) and self.application.services is not None, (
            "the service did not start"
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(15)
        self._socket.close()
        used_databases.give_back(self._own_url)

    @property
    def services(self) -> Services:
        assert self.application.services is not None
        return self.application.services

    @property
    def requests_served(self) -> int:
        return self._server.server_state.total_requests

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the service's own loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    def write(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        return self.run(self.services.store.write(work))

    def read(self, work: Callable[[Tx], Coroutine[Any, Any, T]]) -> T:
        return self.run(self.services.store.snapshot(work))

    def set_clock(self, ahead_s: float) -> None:
        self.clock_file.write_text(str(ahead_s))

    def now_ms(self) -> int:
        return self.services.clock()

    def run_jobs(self, left_out: Sequence[str] = ()) -> None:
        """Everything that is due by the clock, now, in the order of the table."""
        for job in self.services.loop.jobs:
            if job.name in left_out:
                continue
            self.run_job(job)

    def run_job(self, job: Job) -> None:
        # The service's own loop may be at it just now, with the clock as it was before: then it is
        # our turn next.
        while not self.run(self.services.loop.once(job)):
            time.sleep(0.01)

    def member(self, name: str = "alice") -> Member:
        """A new account with a key, ready to call."""

        async def create(tx: Tx) -> tuple[str, str, str]:
            email = f"{name}{next(_numbers)}@example.org"
            made = await accounts.create(
                tx.at(self.now_ms()), EmailAddress(email), name=name.title()
            )
            tenant = Tenant(made.account_id, made.campaign_id)
            change = new_change(tx, self.services.site, tenant, self.now_ms())
            return *tenant, await keys.create(change, name="test")

        return Member(self, *self.write(create))


class Member:
    """An account that calls the API with its key."""

    def __init__(self, service: Service, account_id: str, campaign_id: str, key: str) -> None:
        self.service = service
        self.account_id = account_id
        self.campaign_id = campaign_id
        self.key = key
        self.http = local_client(service.url, {"X-Api-Key": key})
        self.v1 = f"/v1/campaigns/{campaign_id}"
        self.v2 = f"/v2/campaigns/{campaign_id}"

    def make(self, unit: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Makes a change to this account now: `unit(change, …)`."""
        tenant, site = Tenant(self.account_id, self.campaign_id), self.service.services.site
        work = changing(unit, site, tenant, self.service.now_ms())
        return self.service.write(lambda tx: work(tx, *args, **kwargs))

    def get(self, path: str, **kwargs: Any) -> httpx.Response:
        return self.http.get(path, **kwargs)

    def post(self, path: str, json: Any = None, **kwargs: Any) -> httpx.Response:
        return self.http.post(path, json=json, **kwargs)

    def put(self, path: str, json: Any = None, **kwargs: Any) -> httpx.Response:
        return self.http.put(path, json=json, **kwargs)

    def delete(self, path: str, **kwargs: Any) -> httpx.Response:
        return self.http.delete(path, **kwargs)

    def subscribe(self, email: str, **fields: Any) -> dict[str, Any]:
        """Creates a subscriber and gives it back; fails loudly when refused."""
        answer = self.post(f"{self.v1}/subscribers", {"email": email, **fields})
        assert answer.status_code == 201, answer.text
        return answer.json()["subscriber"]  # type: ignore[no-any-return]

    def subscriber(self, id_or_email: str) -> dict[str, Any]:
        answer = self.get(f"{self.v1}/subscribers/{id_or_email}")
        assert answer.status_code == 200, answer.text
        return answer.json()["subscriber"]  # type: ignore[no-any-return]

    def total(self, kind: str = "all") -> int:
        return self.get(f"{self.v1}/subscribers", params={"type": kind}).json()["meta"][
            "total_subscribers"
        ]  # type: ignore[no-any-return]
