"""The key that an installation signs with: made once, encrypted, kept through backups and through
changes of the secret key, shown to everybody by its public half.
"""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from honeyguide.accounts import accounts
from honeyguide.moving import installation_key, signed_documents
from honeyguide.moving.installation_key import InstallationKey, LostKey
from tests.support.backups import Installation, use_client_programs
from tests.support.process import command, fresh
from tests.support.service import ENGINES, Service
from tests.support.stores import OpenStore

OLD, NEW = b"\xab" * 32, b"\xcd" * 32


def key(opened: OpenStore, *secret_keys: bytes) -> Ed25519PrivateKey:
    return opened.run(
        opened.store.write(lambda tx: installation_key.get_or_make(tx.at(1), secret_keys))
    )


def replace(opened: OpenStore, *secret_keys: bytes) -> None:
    opened.run(opened.store.write(lambda tx: installation_key.replace(tx.at(2), secret_keys)))


def keys(opened: OpenStore) -> list[InstallationKey]:
    return opened.run(opened.store.read(installation_key.list_all))


def public(key: Ed25519PrivateKey) -> str:
    return signed_documents.encode_key(key.public_key().public_bytes_raw())


def test_it_is_made_once_and_stored_encrypted(opened: OpenStore) -> None:
    assert keys(opened) == []
    first = key(opened, OLD)
    assert public(key(opened, OLD)) == public(first)
    (row,) = keys(opened)
    assert row.public_key == public(first)
    rows = str(opened.ask("SELECT * FROM installation_key"))
    assert first.private_bytes_raw().hex() not in rows
    assert signed_documents.encode_key(first.private_bytes_raw()) not in rows


def test_several_processes_that_need_it_at_once_get_the_same(opened: OpenStore) -> None:
    async def at_once() -> list[Ed25519PrivateKey]:
        return await asyncio.gather(
            *(
                opened.store.write(lambda tx: installation_key.get_or_make(tx.at(1), [OLD]))
                for _ in range(8)
            )
        )

    assert len({public(each) for each in opened.run(at_once())}) == 1
    assert len(keys(opened)) == 1


def test_it_outlives_a_change_of_the_secret_key(opened: OpenStore) -> None:
    first = public(key(opened, OLD))
    assert public(key(opened, NEW, OLD)) == first
    with pytest.raises(LostKey, match="HONEYGUIDE_SECRET_KEY has changed"):
        key(opened, NEW)
    replace(opened, NEW)
    assert public(key(opened, NEW)) != first
    assert [(each.public_key == first, each.is_current) for each in keys(opened)] == [
        (False, 1),
        (True, None),
    ]


def test_the_secret_in_the_database_serves_until_there_is_another(opened: OpenStore) -> None:
    first = public(key(opened))
    stored = opened.run(opened.store.read(accounts.find_stored_secret))
    assert stored is not None
    # `honeyguide init` writes that one to the settings; somebody may also choose another.
    assert public(key(opened, stored)) == public(key(opened, NEW)) == first


@pytest.mark.parametrize("engine", ENGINES)
def test_it_comes_back_with_a_backup(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_client_programs(monkeypatch)
    here = Installation(engine, tmp_path, secret_key=OLD.hex())
    first = here.run("key", "--json")
    assert first.returncode == 0, first.stderr
    name = here.back_up()
    here.url = fresh(engine)
    assert here.run("restore", name).returncode == 0
    assert here.run("key", "--json").stdout == first.stdout
    with OpenStore(engine, here.url) as store:
        assert public(key(store, OLD)) == json.loads(first.stdout)[0]["public_key"]


@pytest.fixture(params=ENGINES)
def new_service(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param) as service:
        yield service


def test_anybody_reads_the_public_keys(new_service: Service) -> None:
    service = new_service
    secret_keys = service.services.settings.secret_keys
    address = f"{service.url}/.well-known/honeyguide"
    service.write(lambda tx: installation_key.get_or_make(tx.at(1), secret_keys))
    service.write(lambda tx: installation_key.replace(tx.at(2), secret_keys))
    made = service.write(lambda tx: installation_key.get_or_make(tx.at(3), secret_keys))
    answer = httpx.get(address, verify=False)
    assert (answer.status_code, answer.headers["content-type"]) == (
        200,
        "application/json; charset=utf-8",
    )
    body = answer.json()
    assert (body["name"], body["url"]) == ("Honeyguide", service.services.site.base_url)
    newest, oldest = body["keys"]
    assert newest == {
        "kty": "OKP",
        "crv": "Ed25519",
        "x": public(made),
        "kid": signed_documents.fingerprint(made.public_key().public_bytes_raw()),
        "use": "sig",
        "created_at": "1970-01-01T00:00:00.002Z",
        "retired_at": None,
    }
    assert oldest["retired_at"] == "1970-01-01T00:00:00.002Z"
    assert httpx.head(address, verify=False).content == b""


def signed_file(folder: Path, private_key: Ed25519PrivateKey, text: str = "fine") -> Path:
    file = folder / "certificate.json"
    file.write_bytes(
        signed_documents.sign(
            private_key,
            kind="move_certificate",
            issuer="https://refer.example.org",
            issued_ms=1_800_000_000_000,
            content={"findings": {"duplicate_code": 3, "loop": 0}, "text": text},
        )
    )
    return file


def test_the_commands_show_the_key_and_check_a_document(tmp_path: Path) -> None:
    url = fresh("sqlite")
    made = json.loads(command("key", "--json", database_url=url).stdout)
    shown = command("key", database_url=url)
    assert made[0]["fingerprint"] in shown.stdout and made[0]["public_key"] in shown.stdout
    replaced = json.loads(command("key", "--replace", "--json", database_url=url).stdout)
    assert [each["fingerprint"] for each in replaced][1:] == [made[0]["fingerprint"]]
    assert replaced[1]["retired_at"] is not None
    private_key = Ed25519PrivateKey.generate()
    fingerprint = signed_documents.fingerprint(private_key.public_key().public_bytes_raw())
    file = signed_file(tmp_path, private_key, "\x1b[31mred")
    # Nothing of an installation is needed: neither settings nor a database.
    done = command("check", str(file), "--key", fingerprint, database_url="nonsense://")
    assert done.returncode == 0, done.stderr
    for line in (
        "This document is as it was signed.",
        "Issuer: https://refer.example.org",
        "Date: 2027-01-15T08:00:00.000Z",
        f"Key: {fingerprint}",
        "duplicate_code: 3",
        '"\\u001b[31mred"',
    ):
        assert line in done.stdout
    assert "\x1b" not in done.stdout and "Anybody can sign" not in done.stdout
    assert "Anybody can sign" in command("check", str(file)).stdout
    as_json = json.loads(command("check", str(file), "--json").stdout)
    assert as_json["content"]["findings"] == {"duplicate_code": 3, "loop": 0}


def test_a_document_that_is_not_right_is_refused_in_a_sentence(tmp_path: Path) -> None:
    file = signed_file(tmp_path, Ed25519PrivateKey.generate())
    other = tmp_path / "other.json"
    other.write_bytes(file.read_bytes().replace(b'"loop": 0', b'"loop": 1'))
    nothing = tmp_path / "nothing.json"
    for arguments, sentence in (
        ([str(other)], "This document was changed after it was signed."),
        ([str(file), "--key", "abc"], "signed with another key, whose fingerprint is"),
        ([str(nothing)], f"{nothing} cannot be read: No such file or directory."),
        ([str(tmp_path)], f"{tmp_path} cannot be read: Is a directory."),
        (["/dev/zero"], "This is no signed document of Honeyguide: it is larger than 16 MB."),
    ):
        done = command("check", *arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert sentence in done.stderr and len(done.stderr.splitlines()) == 1
