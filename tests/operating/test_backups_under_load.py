"""A machine is lost while people sign up: what was acknowledged before the backup is all there
afterwards, on another folder and another server, and whoever was erased stays erased.
"""

import threading
from pathlib import Path

import pytest

from tests.support.backups import Installation, use_client_programs
from tests.support.postgres import PostgresServer
from tests.support.process import Serving
from tests.support.service import ENGINES, until
from tests.support.stores import OpenStore

CLIENTS = 4
ERASED_EVERY = 10


class Signups:
    """Clients that sign people up until they are stopped, and erase every tenth of them."""

    def __init__(self, server: Serving, here: Installation) -> None:
        self.created: list[str] = []
        self.erased: list[str] = []
        self.slowest_s = 0.0
        self._stop = threading.Event()
        self._people = f"{here.alice.v1}/subscribers"
        self._callers = [server.caller(here.alice.key, timeout=120) for _ in range(CLIENTS)]
        self._threads = [
            threading.Thread(target=self._run, args=(number,), daemon=True)
            for number in range(CLIENTS)
        ]
        for thread in self._threads:
            thread.start()

    def _run(self, client: int) -> None:
        call, number = self._callers[client], 0
        while not self._stop.is_set():
            email, number = f"p{client}-{number}@example.org", number + 1
            try:
                assert call("POST", self._people, {"email": email}).status == 201
                self.created.append(email)
                if number % ERASED_EVERY == 0:
                    assert call("DELETE", f"{self._people}/{email}").status == 200
                    self.erased.append(email)
            except OSError:  # the server was killed
                return

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_acknowledged_before_the_backup_is_lost_with_the_machine(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_client_programs(monkeypatch)
    here = Installation(engine, tmp_path)
    with Serving(here.url, **here.settings) as server:
        load = Signups(server, here)
        until(lambda: len(load.created) > 500, 300)
        before, erased_before = set(load.created), set(load.erased)
        name = here.back_up()
        until(lambda: len(load.erased) > len(erased_before) + 10, 300)
        # A person of before the backup, erased after it.
        gone = sorted(before - set(load.erased))[:5]
        call = server.caller(here.alice.key)
        for email in gone:
            assert call("DELETE", f"{here.alice.v1}/subscribers/{email}").status == 200
        with OpenStore(engine, here.url) as store:
            uncopied = "SELECT count(*) FROM erasure WHERE copied_ms IS NULL AND erased_ms <= :ms"
            ((now_ms,),) = store.ask("SELECT max(erased_ms) FROM erasure")
            until(lambda: store.ask(uncopied, ms=now_ms) == [(0,)], 120)
        server.kill()
        load.stop()
    after = set(load.created)
    with PostgresServer() as other:
        if engine == "postgres":
            other.create_database("elsewhere")
            here.url = other.url("elsewhere")
        else:
            here.url = f"sqlite:///{tmp_path / 'elsewhere' / 'honeyguide.db'}"
        done = here.run("restore", name)
        assert done.returncode == 0, done.stderr
        assert here.run("verify").returncode == 0
        with OpenStore(engine, here.url) as store:
            rows = store.ask("SELECT email FROM subscriber WHERE email IS NOT NULL")
        found = {row[0] for row in rows}
        assert before - erased_before - set(gone) - set(load.erased) <= found <= after
        assert not found & {*erased_before, *gone}
        assert not found & set(load.erased[: -CLIENTS * ERASED_EVERY])
        assert here.left_behind() == []
        with Serving(here.url) as server:
            call = server.caller(here.alice.key)
            answer = call("POST", f"{here.alice.v1}/subscribers", {"email": "new@example.org"})
            assert answer.status == 201
