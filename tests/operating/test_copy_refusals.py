"""What `honeyguide copy` refuses, each in a sentence and before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import apsw
import pytest

from honeyguide.kernel.errors import Fault
from honeyguide.moving import installation_key
from honeyguide.store.server_lock import lock_for_server
from honeyguide.store.tx import Tx
from tests.support.copies import SECRET, copied, empty, is_empty
from tests.support.postgres import shared_server
from tests.support.process import command, migrated
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.upgrades import previous_database


def refusal(source: str, target: str) -> str:
    with pytest.raises(Fault) as refused:
        copied(source, target)
    return refused.value.message


@pytest.fixture(scope="module")
def used() -> str:
    """A database with an account."""
    url = migrated("sqlite")
    with OpenStore("sqlite", url) as store:
        store.account_with_key()
    return url


@pytest.mark.parametrize("engine", ENGINES)
def test_a_target_with_tables_is_left_as_it_is(engine: str, used: str) -> None:
    target = migrated(engine)
    assert "has Honeyguide's tables already." in refusal(used, target)
    other = empty(engine)
    with closing(_written(other)):
        assert "has something in it that is not Honeyguide's." in refusal(used, other)


def _written(url: str) -> apsw.Connection:
    """Somebody else's table is in this database."""
    if url.startswith("postgresql"):
        shared_server().execute("CREATE TABLE cake (id INTEGER)", url.rpartition("/")[2])
        return apsw.Connection(":memory:")
    connection = apsw.Connection(url.removeprefix("sqlite:///"))
    connection.execute("CREATE TABLE cake (id INTEGER)")
    return connection


def test_a_database_is_not_copied_to_itself(used: str) -> None:
    path = Path(used.removeprefix("sqlite:///"))
    for same in (used, f"sqlite:///{path.parent}/../{path.parent.name}/{path.name}"):
        assert "is the database that HONEYGUIDE_DATABASE_URL names" in refusal(used, same)
    server = migrated("postgres")
    other_name = server.replace("127.0.0.1", "localhost")
    assert "is the database that HONEYGUIDE_DATABASE_URL names" in refusal(server, other_name)


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("mysql://localhost/x", "--to must start with sqlite:/// or postgresql://."),
        ("sqlite:///", "--to has no file name."),
        (
            "sqlite:////tmp/new.db?mode=rw",
            "--to has a part that we do not know: what follows the ?",
        ),
        ("sqlite:////tmp/new.db#x", "--to has a part that we do not know: what follows the #."),
        ("postgresql://h/x?ssl_mode=require", "--to has a part that we do not know: ssl_mode."),
        ("postgresql://h/x?sslmode=require&dbname=y", "that we do not know: dbname."),
        ("postgresql://h/x#y", "--to has a part that we do not know: what follows the #."),
        ("postgresql://postgres@127.0.0.1:1/x?sslmode=disable", "Check --to and that the server"),
        ("sqlite:////no/such/folder/new.db", "The folder /no/such/folder does not exist."),
        ("postgresql://postgres@127.0.0.1:1/x", "Check --to and that the server is running."),
    ],
)
def test_a_target_that_cannot_be_is_refused(target: str, sentence: str, used: str) -> None:
    assert sentence in refusal(used, target)


def test_a_server_without_the_database_or_for_other_text_is_refused(used: str) -> None:
    server = shared_server()
    assert "There is no database nowhere on the server" in refusal(used, server.url("nowhere"))
    server.execute("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    assert "has the encoding LATIN1. Create it with UTF8." in refusal(used, server.url("latin"))


def test_what_is_no_database_of_ours_is_not_copied(tmp_path: Path) -> None:
    for source in (f"sqlite:///{tmp_path / 'none.db'}", empty("postgres")):
        assert "There is nothing to copy" in refusal(source, f"sqlite:///{tmp_path / 'new.db'}")
    assert list(tmp_path.iterdir()) == []


def test_another_version_is_refused(used: str, tmp_path: Path) -> None:
    target = f"sqlite:///{tmp_path / 'new.db'}"
    old = previous_database("sqlite")
    assert "Run `honeyguide migrate` first" in refusal(old, target)
    newer = migrated("sqlite")
    with OpenStore("sqlite", newer) as store:
        store.do(
            "INSERT INTO schema_migration (name, checksum, works_with) "
            "VALUES ('9999_later', 'x', '0001')"
        )
    assert "by a newer version of Honeyguide (9999_later)" in refusal(newer, target)
    assert list(tmp_path.iterdir()) == []


@contextmanager
def _server_on_file(url: str) -> Iterator[None]:
    with lock_for_server(Path(url.removeprefix("sqlite:///"))):
        yield


@contextmanager
def _server_on_postgres(url: str) -> Iterator[None]:
    with OpenStore("postgres", url) as store:
        store.ask("SELECT 1")
        yield


@pytest.mark.parametrize(
    ("source", "server", "sentence"),
    [
        pytest.param("sqlite", _server_on_file, "A Honeyguide server is using", id="file"),
        pytest.param("postgres", _server_on_postgres, "in use by: honeyguide.", id="server"),
    ],
)
def test_a_running_service_is_copied_only_for_a_rehearsal(
    source: str, server: Callable[[str], contextmanager[None]], sentence: str, tmp_path: Path
) -> None:
    url = migrated(source)
    target = f"sqlite:///{tmp_path / 'new.db'}"
    with server(url):
        message = refusal(url, target)
        assert sentence in message and "for a rehearsal, add --while-running." in message
        assert list(tmp_path.iterdir()) == []
        assert copied(url, target, is_while_running=True).tables
    assert (tmp_path / "new.db").exists()


def test_a_copy_is_not_kept_if_a_service_began_to_use_its_source_meanwhile(tmp_path: Path) -> None:
    url = migrated("postgres")
    with ThreadPoolExecutor(1) as apart, ExitStack() as stack:
        servers = ExitStack()
        stack.callback(lambda: apart.submit(servers.close).result())

        def begin(step: str, total: int) -> None:
            if step == "Comparing":
                apart.submit(servers.enter_context, _server_on_postgres(url)).result()

        target = f"sqlite:///{tmp_path / 'new.db'}"
        with pytest.raises(Fault, match="in use by: honeyguide"):
            copied(url, target, begin=begin)
    assert not (tmp_path / "new.db").exists()


@pytest.mark.long
def test_text_that_the_other_engine_cannot_have_is_named() -> None:
    """Nothing writes it, but a copy must not change it silently."""
    source, target = migrated("sqlite"), empty("postgres")
    with OpenStore("sqlite", source) as store:
        store.do("INSERT INTO instance (name, value) VALUES ('x', 'a' || char(0) || 'b')")
    assert refusal(source, target).startswith("The table instance cannot be copied: ")
    assert is_empty(target)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_that_refers_to_none_is_named(engine: str) -> None:
    source, target = migrated("sqlite"), empty(engine)
    with apsw.Connection(source.removeprefix("sqlite:///")) as connection:
        connection.execute("INSERT INTO coupon VALUES ('c', 'a', 'no reward', 'code', NULL)")
    with pytest.raises(Fault) as refused:
        copied(source, target, ignores_errors=True)
    message = refused.value.message
    assert message.startswith("The table coupon cannot be copied: ") and "\n" not in message
    assert "no reward" not in message, "the row is not quoted: it may be personal"
    assert is_empty(target)


def test_a_missing_or_wrong_secret_key_is_said_before_anything_is_written(tmp_path: Path) -> None:
    source = migrated("sqlite")
    with OpenStore("sqlite", source) as store:
        store.account_with_key()

        async def sign(tx: Tx) -> None:
            await installation_key.get_or_make(tx.at(1), [bytes.fromhex(SECRET)])

        store.run(store.store.write(sign))
    target = f"sqlite:///{tmp_path / 'new.db'}"
    missing = command("copy", "--to", target, database_url=source)
    assert missing.returncode == 1 and missing.stdout == ""
    assert missing.stderr == (
        "This database was used with a HONEYGUIDE_SECRET_KEY that is not in the settings. "
        "Add it, then try again.\n"
    )
    wrong = command("copy", "--to", target, database_url=source, secret_key="cd" * 32)
    assert wrong.returncode == 1 and wrong.stdout == ""
    assert "The signing key cannot be decrypted" in wrong.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_source_with_errors_is_copied_only_when_asked(tmp_path: Path) -> None:
    source, target = migrated("sqlite"), f"sqlite:///{tmp_path / 'new.db'}"
    with OpenStore("sqlite", source) as store:
        store.account_with_key()
        store.do("INSERT INTO transfer VALUES ('t', 'charge', 'none', 'a', 'b', 1, '2026-11', 1)")
    assert "because verify finds errors in the source:" in refusal(source, target)
    assert list(tmp_path.iterdir()) == []
    report = copied(source, target, ignores_errors=True)
    assert report.broken and (tmp_path / "new.db").exists()
