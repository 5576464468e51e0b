"""Backups that Honeyguide makes by itself: checked by restoring them, recorded, and told about when
they fail.
"""

import asyncio
import dataclasses
import gzip
from pathlib import Path

import pytest

from honeyguide import settings
from honeyguide.app import backup_plan_of
from honeyguide.kernel.clock import HOUR_MS
from honeyguide.operating.backups import checking, records, threads
from honeyguide.operating.backups.making import BackupPlan, make
from honeyguide.partners.ledger_check import Finding, Sums
from honeyguide.store import job_runs, scratch
from tests.support.backups import Installation, scratch_databases, use_client_programs
from tests.support.postgres import OlderPostgresServer, shared_server
from tests.support.process import command, new_account
from tests.support.service import ENGINES, Service, until
from tests.support.stores import OpenStore
from tests.support.web import operator, text_of


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> None:
    use_client_programs(monkeypatch)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_backup_is_restored_and_verified_before_it_is_kept(engine: str, tmp_path: Path) -> None:
    here = Installation(engine, tmp_path)
    name = here.back_up()
    file = here.place / name
    (row,) = here.listed()
    assert row["result"] == "ok" and row["bytes"] == file.stat().st_size
    assert row["message"] == "Restored and verified, with 0 subscribers."
    assert name.endswith(".db.gz" if engine == "sqlite" else ".dump")
    assert file.stat().st_mode & 0o777 == 0o600
    assert here.left_behind() == [] and [each.name for each in here.place.iterdir()] == [name]
    if engine == "sqlite":
        assert gzip.decompress(file.read_bytes()).startswith(b"SQLite format 3\0")


@pytest.mark.parametrize("engine", ENGINES)
def test_the_job_makes_one_when_it_is_due_or_asked_for(engine: str, tmp_path: Path) -> None:
    with Service(engine, backup_url=str(tmp_path)) as service:
        alice = operator(service, "alice")

        def made() -> list[records.BackupRecord]:
            return [row for row in service.read(lambda tx: records.newest(tx, 9)) if row.result]

        until(lambda: len(made()) == 1)
        assert made()[0].result == records.OK
        until(lambda: "Back up now" in text_of(alice.web.get("/administration").text))
        answer = alice.web.post("/administration/backups", page="/administration")
        assert answer.status_code == 303
        until(lambda: len(made()) == 2)
        page = text_of(alice.web.get("/administration").text)
        assert page.count("Restored and verified") == 2 and str(tmp_path) in page


@pytest.mark.parametrize("engine", ENGINES)
def test_a_failure_is_recorded_shown_and_tried_again(engine: str, tmp_path: Path) -> None:
    gone = tmp_path / "not mounted"
    with Service(engine, backup_url=str(gone)) as service:
        until(lambda: bool(service.read(job_runs.all_runs)))
        alice = operator(service, "alice")

        def last() -> records.BackupRecord | None:
            return service.read(records.last_backup)

        until(lambda: (found := last()) is not None and found.result == records.FAILED)
        sentence = f"The folder {gone} does not exist. Create it, or check HONEYGUIDE_BACKUP_URL."
        assert (record := last()) is not None and record.message == sentence
        assert sentence in text_of(alice.web.get("/administration").text)
        runs = {run.name: run.result for run in service.read(job_runs.all_runs)}
        assert runs["back up the database when due"] == "failed: Unavailable"

        async def is_due(tx: object) -> bool:
            return await records.is_due(tx.at(0), every_ms=24 * HOUR_MS)  # type: ignore[arg-type]

        assert not service.read(is_due), "not at once"
        hour_ago = "UPDATE backup SET started_ms = started_ms - 3600000"
        with OpenStore(engine, service.database_url) as store:
            store.do(hour_ago)
        assert service.read(is_due)


def test_a_bad_verify_is_no_good_backup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Installation("sqlite", tmp_path)

    async def verify(tx: object) -> tuple[list[Finding], Sums]:
        return [Finding("Entries sum to zero.", 2)], Sums(0, 0, 0)

    monkeypatch.setattr(checking.ledger_check, "verify", verify)
    made = asyncio.run(make(plan_of(here), "honeyguide-20261116T090000000Z.db.gz"))
    assert made.result == records.BROKEN and "verify found wrong rows: 2" in made.message
    assert (here.place / "honeyguide-20261116T090000000Z.db.gz").exists()


def plan_of(here: Installation) -> BackupPlan:
    given = {name: str(value) for name, value in here.settings.items()}
    plan = backup_plan_of(settings.read({}, database_url=here.url, **given))
    assert plan is not None
    return plan


def test_without_the_right_to_create_databases_it_is_made_but_not_checked(tmp_path: Path) -> None:
    here = Installation("postgres", tmp_path)
    server, role = shared_server(), f"weak-{here.url.rpartition('/')[2]}"
    server.execute(f'CREATE ROLE "{role}" LOGIN IN ROLE pg_read_all_data, pg_write_all_data')
    weak = here.url.replace("//postgres@", f"//{role}@")
    done = here.run("backup", database_url=weak)
    assert done.returncode == 1, "whoever reads only the exit code must not think it is proved"
    sentence = "Not checked. The database user may not create a scratch database. To allow it, run:"
    assert f'{sentence} ALTER ROLE "{role}" CREATEDB' in done.stdout
    assert here.listed()[0]["result"] == "unchecked"


@pytest.mark.long
def test_the_server_may_be_older_than_the_client_programs(tmp_path: Path) -> None:
    with OlderPostgresServer() as server:
        server.create_database("older")
        url = server.url("older")
        new_account(url)
        done = command("backup", database_url=url, backup_url=tmp_path)
        assert done.returncode == 0, done.stderr
        done = command("restore", "latest", "--replace", database_url=url, backup_url=tmp_path)
        assert done.returncode == 0, done.stderr


def test_scratch_databases_of_killed_processes_are_dropped(tmp_path: Path) -> None:
    server = shared_server()
    old, young, used = (
        f"{scratch.SCRATCH}{ms}_0000abcd"
        for ms in ("1700000000000", "9700000000000", "1700000000001")
    )
    for name in (old, young, used):
        server.create_database(name)
    with OpenStore("postgres", server.url(used), pool_size=1):
        here = Installation("postgres", tmp_path)
        here.back_up()
        assert scratch_databases() == [used, young]
    for name in (young, used):
        server.drop_database(name)


@pytest.mark.parametrize("engine", ENGINES)
def test_stopping_the_service_stops_a_backup_and_leaves_nothing(
    engine: str, tmp_path: Path
) -> None:
    here = Installation(engine, tmp_path)
    plan = plan_of(here)

    class Slow(type(plan.place)):  # type: ignore[misc]
        def put(self, name: str, source: Path, tick: threads.Tick) -> None:
            loop.call_soon_threadsafe(making.cancel)
            while True:
                tick()

    plan.place.__class__ = Slow

    async def cancel_it() -> None:
        nonlocal making, loop
        loop = asyncio.get_running_loop()
        making = asyncio.ensure_future(make(dataclasses.replace(plan), "honeyguide-x"))
        with pytest.raises(asyncio.CancelledError):
            await making

    making: asyncio.Future[object]
    loop: asyncio.AbstractEventLoop
    asyncio.run(cancel_it())
    assert here.left_behind() == [] and list(here.place.iterdir()) == []
