"""Backups in an S3-compatible bucket, on moto's server."""

from collections.abc import Iterator
from pathlib import Path

import pyrage
import pytest

from honeyguide.kernel.errors import Missing, Unavailable
from honeyguide.operating.backups.buckets import PART
from honeyguide.operating.backups.places import place_for
from honeyguide.operating.backups.threads import Stopped
from tests.support.backups import Installation, use_client_programs
from tests.support.process import Serving, fresh
from tests.support.s3 import S3Server
from tests.support.service import ENGINES, until
from tests.support.stores import OpenStore

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with S3Server() as server:
        server.create_bucket("backups")
        yield server


@pytest.mark.parametrize("engine", ENGINES)
def test_encrypted_backups_go_to_a_bucket_and_come_back(
    engine: str, s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_client_programs(monkeypatch)
    identity = pyrage.x25519.Identity.generate()
    key = tmp_path / "key"
    key.write_text(f"# public key: {identity.to_public()}\n{identity}\n")
    (tmp_path / "secret").write_text(f"{s3.secret}\n")
    here = Installation(
        engine,
        tmp_path,
        backup_url=s3.url(f"backups/{engine}/daily"),
        backup_access_key_id=s3.key,
        backup_secret_access_key_file=tmp_path / "secret",
        backup_age_recipient=identity.to_public(),
    )
    people = f"{here.alice.v1}/subscribers"
    with Serving(here.url, **here.settings) as server:
        call = server.caller(here.alice.key)
        for name in ("ann", "bea"):
            assert call("POST", people, {"email": f"{name}@example.org"}).status == 201
        name = here.back_up()
        assert call("DELETE", f"{people}/bea@example.org").status == 200
        with OpenStore(engine, here.url) as store:
            uncopied = "SELECT count(*) FROM erasure WHERE copied_ms IS NULL"
            until(lambda: store.ask(uncopied) == [(0,)], 60)
        server.kill()
    assert name.endswith(".age") and list(here.place.iterdir()) == []
    here.url = fresh(engine)
    refused = here.run("restore", "latest")
    assert refused.returncode == 1 and "Add --identity FILE" in refused.stderr
    done = here.run("restore", "latest", "--identity", str(key))
    assert done.returncode == 0, done.stderr
    with OpenStore(engine, here.url) as store:
        found = store.ask("SELECT email FROM subscriber WHERE email IS NOT NULL")
    assert found == [("ann@example.org",)] and here.run("verify").returncode == 0


def test_large_files_go_in_parts_and_stopping_stores_nothing(s3: S3Server, tmp_path: Path) -> None:
    place = place_for(s3.url("backups/large"), key_id=s3.key, secret=s3.secret)
    source, target = tmp_path / "source", tmp_path / "target"
    with source.open("wb") as file:
        file.truncate(2 * PART + 12_345)
        file.write(b"not only zeros")
    ticks = 0

    def stop_halfway() -> None:
        nonlocal ticks
        ticks += 1
        if ticks > 20:
            raise Stopped

    with pytest.raises(Stopped):
        place.put("honeyguide-large", source, stop_halfway)
    assert place.files() == []
    place.put("honeyguide-large", source, lambda: None)
    place.put("honeyguide-small", tmp_path / "source", lambda: None)
    assert [file.name for file in place.files()] == ["honeyguide-large", "honeyguide-small"]
    assert place.files()[0].size == source.stat().st_size
    place.get("honeyguide-large", target, lambda: None)
    assert target.read_bytes() == source.read_bytes()
    place.delete("honeyguide-large")
    place.delete("honeyguide-large")
    assert [file.name for file in place.files()] == ["honeyguide-small"]
    with pytest.raises(Missing, match="There is no honeyguide-large in s3://backups/large"):
        place.get("honeyguide-large", target, lambda: None)


def test_what_goes_wrong_is_said_in_one_sentence(s3: S3Server, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"x")
    nobody = "s3://backups?endpoint=http://127.0.0.1:1&region=us-east-1"
    with S3Server(refuses_keys=True) as strict:
        place = place_for(strict.url("backups"), key_id=s3.key, secret=s3.secret)
        with pytest.raises(Unavailable, match="Access Key Id you provided does not exist"):
            place.put("honeyguide-x", source, lambda: None)
    for url, sentence in (
        (s3.url("missing-bucket"), "The specified bucket does not exist"),
        (nobody, "the service does not answer"),
    ):
        place = place_for(url, key_id=s3.key, secret=s3.secret)
        for call in (
            lambda place=place: place.put("honeyguide-x", source, lambda: None),
            lambda place=place: place.files(),
            lambda place=place: place.get("honeyguide-x", tmp_path / "y", lambda: None),
        ):
            with pytest.raises(Unavailable, match=sentence) as caught:
                call()
            assert "\n" not in caught.value.message
    here = Installation("sqlite", tmp_path, backup_url=s3.url("missing-bucket"))
    keys = {"backup_access_key_id": s3.key, "backup_secret_access_key": s3.secret}
    done = here.run("backup", **keys)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "The backup failed: Cannot write to s3://missing-bucket" in done.stderr
