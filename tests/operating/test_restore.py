"""The way back: one command, which changes nothing before the backup is proved, and leaves erased
people erased.
"""

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import apsw
import pyrage
import pytest

from honeyguide.kernel.errors import Fault
from honeyguide.store import sqlite_path
from honeyguide.store.replacing import Contains
from tests.support import starter
from tests.support.backups import Installation, use_client_programs
from tests.support.postgres import shared_server
from tests.support.process import Serving, command, environment, fresh
from tests.support.service import ENGINES, until
from tests.support.stores import OpenStore
from tests.upgrades import previous_database


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> None:
    use_client_programs(monkeypatch)


def emails_in(url: str) -> list[str]:
    with OpenStore("", url) as store:
        rows = store.ask("SELECT email FROM subscriber WHERE email IS NOT NULL ORDER BY email")
    return [row[0] for row in rows]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_lost_machine_comes_back_without_those_who_were_erased(
    engine: str, tmp_path: Path
) -> None:
    here = Installation(engine, tmp_path)
    with Serving(here.url, **here.settings) as server:
        call = server.caller(here.alice.key)
        people = f"{here.alice.v1}/subscribers"
        for name in ("ann", "bea", "cid"):
            assert call("POST", people, {"email": f"{name}@example.org"}).status == 201
        assert call("DELETE", f"{people}/cid@example.org").status == 200
        # The server makes one of its own when it starts; the newest must be ours.
        until(lambda: any(each["result"] for each in here.listed()), 90)
        name = here.back_up()
        assert call("POST", people, {"email": "dora@example.org"}).status == 201
        # An address that the backup does not know: the id finds her, not the address.
        changed = call("PUT", f"{people}/bea@example.org", {"email": "beatrix@example.org"})
        assert changed.status == 200
        assert call("DELETE", f"{people}/beatrix@example.org").status == 200
        erased = "SELECT count(*) FROM erasure WHERE copied_ms IS NULL"
        with OpenStore(engine, here.url) as store:
            until(lambda: store.ask(erased) == [(0,)], 90)
        server.kill()
    lost, here.url = here.url, fresh(engine)
    assert emails_in(lost) == ["ann@example.org", "dora@example.org"]
    tried = here.run("restore", name, "--dry-run")
    assert tried.returncode == 0, tried.stderr
    assert f"{name} can be restored. Accounts: 1, subscribers: 1" in tried.stdout
    assert here.contains() is Contains.NOTHING and here.left_behind() == []
    done = here.run("restore", "latest")
    assert done.returncode == 0, done.stderr
    assert "People erased after the backup, and now erased again: 1." in done.stdout
    assert emails_in(here.url) == ["ann@example.org"]
    assert here.run("verify").returncode == 0 and here.left_behind() == []
    with Serving(here.url) as server:
        body = server.caller(here.alice.key)("GET", people).json()
        assert [each["email"] for each in body["subscribers"]] == ["ann@example.org"]
    assert here.listed()[0] == {**here.listed()[0], "name": name, "result": None}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_database_in_use_is_replaced_only_when_asked_and_kept(
    engine: str, tmp_path: Path
) -> None:
    here = Installation(engine, tmp_path)
    name = here.back_up()
    with Serving(here.url) as server:
        call = server.caller(here.alice.key)
        assert (
            call("POST", f"{here.alice.v1}/subscribers", {"email": "new@example.org"}).status == 201
        )
        refused = here.run("restore", name)
        assert refused.returncode == 1 and "add --replace" in refused.stderr
        busy = here.run("restore", name, "--replace")
        word = "A Honeyguide server is using" if engine == "sqlite" else "is in use by: honeyguide"
        assert busy.returncode == 1 and word in busy.stderr, busy.stderr
        assert call("GET", f"{here.alice.v1}/subscribers/new@example.org").status == 200
    assert emails_in(here.url) == ["new@example.org"] and here.left_behind() == []
    done = here.run("restore", name, "--replace")
    assert done.returncode == 0, done.stderr
    found = re.search(r"The old database is kept as (\S+)\. ", done.stdout)
    assert found is not None and emails_in(here.url) == []
    old = f"sqlite:///{found[1]}" if engine == "sqlite" else shared_server().url(found[1])
    assert emails_in(old) == ["new@example.org"]


def test_any_process_that_has_the_file_open_is_in_the_way(tmp_path: Path) -> None:
    here = Installation("sqlite", tmp_path)
    name = here.back_up()
    path = str(sqlite_path(here.url))
    other = apsw.Connection(path)
    other.execute("SELECT count(*) FROM account").fetchall()
    busy = here.run("restore", name, "--replace")
    assert busy.returncode == 1 and f"Another process has {path} open." in busy.stderr
    other.close()
    assert here.run("restore", name, "--replace").returncode == 0


def test_a_journal_left_by_a_killed_process_is_not_replayed(tmp_path: Path) -> None:
    here = Installation("sqlite", tmp_path)
    name = here.back_up()
    with Serving(here.url) as server:
        call = server.caller(here.alice.key)
        call("POST", f"{here.alice.v1}/subscribers", {"email": "new@example.org"})
        server.kill()
    path = sqlite_path(here.url)
    assert path is not None and Path(f"{path}-wal").stat().st_size
    path.write_bytes(b"no longer a database" * 1000)
    assert here.contains() is Contains.SOMETHING_ELSE
    done = here.run("restore", name, "--replace")
    assert done.returncode == 0, done.stderr
    assert emails_in(here.url) == [] and here.run("verify").returncode == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_the_log_of_the_old_database_counts_where_no_place_has_one(
    engine: str, tmp_path: Path
) -> None:
    here = Installation(engine, tmp_path)
    people = f"{here.alice.v1}/subscribers"
    with Serving(here.url) as server:
        call = server.caller(here.alice.key)
        assert call("POST", people, {"email": "ann@example.org"}).status == 201
        assert here.run("backup", str(tmp_path / "copy")).returncode == 0
        assert call("DELETE", f"{people}/ann@example.org").status == 200
    arguments = ("restore", "--replace", str(tmp_path / "copy"))
    done = command(*arguments, database_url=here.url)
    assert done.returncode == 0 and "now erased again: 1." in done.stdout
    assert emails_in(here.url) == []
    elsewhere = command("restore", str(tmp_path / "copy"), database_url=fresh(engine))
    assert "No log of erasures was found" in elsewhere.stdout


@pytest.mark.parametrize("engine", ENGINES)
def test_a_backup_of_an_older_version_is_upgraded(engine: str, tmp_path: Path) -> None:
    old = previous_database(engine)
    copy = tmp_path / "copy"
    if engine == "sqlite":
        shutil.copy(str(sqlite_path(old)), copy)
    else:
        dumping = ["pg_dump", "-Fc", f"--file={copy}", old]
        subprocess.run(dumping, check=True)
    url = fresh(engine)
    done = command("restore", str(copy), database_url=url)
    assert done.returncode == 0, done.stderr
    assert "It was made by an older version and has been upgraded." in done.stdout
    assert command("migrate", "--plan", database_url=url).stdout == "The schema is up to date.\n"


def newer_schema(here: Installation) -> None:
    with OpenStore(here.engine, here.url) as store:
        store.do("INSERT INTO schema_migration (name) VALUES ('9999_of_tomorrow')")


def test_what_is_no_backup_is_refused_in_one_sentence(tmp_path: Path) -> None:
    here = Installation("sqlite", tmp_path)
    good = here.place / here.back_up()
    before = sqlite_path(here.url).read_bytes()  # type: ignore[union-attr]
    identity = pyrage.x25519.Identity.generate()
    other = pyrage.x25519.Identity.generate()
    sealed = pyrage.encrypt(good.read_bytes(), [identity.to_public()])
    database = gzip.decompress(good.read_bytes())
    foreign = tmp_path / "foreign.db"
    apsw.Connection(str(foreign)).execute("CREATE TABLE t (x)")
    key, wrong_key, no_key = (tmp_path / name for name in ("key", "other", "no key"))
    key.write_text(f"# made by age-keygen\n{identity}\n")
    wrong_key.write_text(str(other))
    no_key.write_text("hello")
    damaged = "The backup is damaged or incomplete"
    cases: list[tuple[bytes, Path | None, str]] = [
        (b"hello" * 100, None, "not a Honeyguide backup"),
        (b"", None, "not a Honeyguide backup"),
        (gzip.compress(b"hello"), None, "not a Honeyguide backup"),
        (good.read_bytes()[:-100], None, damaged),
        (good.read_bytes()[:5_000] + b"x" + good.read_bytes()[5_001:], None, damaged),
        (database[: len(database) // 2], None, "integrity check"),
        (foreign.read_bytes(), None, "not of Honeyguide's"),
        (b"PGDMP...", None, "This is a backup of a PostgreSQL database, but"),
        (sealed, None, "Add --identity FILE"),
        (sealed, wrong_key, "was encrypted for another key"),
        (sealed, no_key, "has no valid age key"),
        (sealed, tmp_path / "none", "cannot be read"),
        (sealed[:-100], key, damaged),
        (sealed[:150], key, damaged),
    ]
    file = tmp_path / "file"
    for number, (content, identity_file, sentence) in enumerate(cases):
        file.write_bytes(content)
        with pytest.raises(Fault, match=re.escape(sentence)):
            here.restore(file, identity_file)
        assert here.left_behind() == [], number
        assert sqlite_path(here.url).read_bytes() == before, number  # type: ignore[union-attr]
    done = here.run("restore", "--replace", str(file), "--identity", str(wrong_key))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    file.write_bytes(sealed)
    assert here.run("restore", "--replace", str(file), "--identity", str(key)).returncode == 0
    for name, sentence in (("honeyguide-x", "There is no honeyguide-x in"), ("x", "no file x.")):
        with pytest.raises(Fault, match=sentence):
            here.restore(name)


def test_a_truncated_dump_of_postgres_is_refused(tmp_path: Path) -> None:
    here = Installation("postgres", tmp_path)
    good = here.place / here.back_up()
    for kept in (5, 100, 5_000, good.stat().st_size - 50):
        (tmp_path / "cut").write_bytes(good.read_bytes()[:kept])
        with pytest.raises(Fault, match="damaged or incomplete"):
            here.restore(tmp_path / "cut")
        assert here.contains() is Contains.ACCOUNTS and here.left_behind() == []


@pytest.mark.parametrize("engine", ENGINES)
def test_a_backup_of_a_newer_version_is_refused(engine: str, tmp_path: Path) -> None:
    here = Installation(engine, tmp_path)
    other = Installation(engine, tmp_path)
    newer_schema(other)
    assert other.run("backup", str(tmp_path / "copy")).returncode == 1, "it cannot be opened"
    with pytest.raises(Fault, match="by a newer version of Honeyguide"):
        here.restore(tmp_path / "copy")
    assert here.contains() is Contains.ACCOUNTS and here.left_behind() == []


def limited(size: int, *arguments: str, **settings: object) -> subprocess.CompletedProcess[str]:
    """Files larger than this cannot be written, as if the disk were full."""
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"
    return starter.run(list(arguments), env=environment(**settings), before=limit)


def test_a_full_disk_is_said_and_damages_nothing(tmp_path: Path) -> None:
    here = Installation("sqlite", tmp_path)
    with OpenStore("sqlite", here.url) as store:
        for number in range(40):
            store.do(
                "INSERT INTO instance (name, value) VALUES (:name, hex(randomblob(50000)))",
                name=str(number),
            )
    name = here.back_up()
    given = {"database_url": here.url, **here.settings}
    size = (here.place / name).stat().st_size
    whole = sqlite_path(here.url).stat().st_size  # type: ignore[union-attr]
    assert size * 1.5 < whole
    for limit in (whole // 2, size // 2):
        done = limited(limit, "backup", **given)
        assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
        assert "The backup failed: " in done.stderr
        done = limited(limit, "restore", name, "--replace", **given)
        assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
        assert here.left_behind() == []
    assert [each.name for each in here.place.iterdir()] == [name]
    assert here.run("verify").returncode == 0
    assert [row["name"] for row in here.listed()] == [name]
