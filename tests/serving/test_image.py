"""The container image and compose.yaml: the image is built as `make image` does it, and its command
runs in its root file system, which is read-only, as its user without privileges.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from honeyguide import settings
from release.__main__ import save_image
from tests.laws.test_wheel import use
from tests.support.image import ROOT, Builder, Image, opened_builder
from tests.support.partner_network import publication_fields
from tests.support.postgres import OlderPostgresServer, free_port
from tests.support.process import environment
from tests.support.service import until

long = [
    pytest.mark.long,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can build a base image"),
]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
VOLUME = "/var/lib/honeyguide"
NOT_NEEDED = {"cc", "gcc", "g++", "c++", "clang", "ld", "as", "make", "pip", "pip3", "curl", "git"}


def test_secrets_are_created_once_and_are_valid(tmp_path: Path) -> None:
    (tmp_path / "deploy").mkdir()
    script = shutil.copy(ROOT / "deploy" / "create-secrets.sh", tmp_path / "deploy")
    subprocess.run([script], cwd="/", check=True)
    folder = tmp_path / "secrets"
    created = {path.name: path.read_text() for path in folder.iterdir()}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}
    names = ("database-url", "secret-key", "smtp-url")
    files = {f"HONEYGUIDE_{name.upper().replace('-', '_')}_FILE": folder / name for name in names}
    read = settings.read({name: str(path) for name, path in files.items()})
    assert len(created["postgres-password"]) == 64 != created["secret-key"]
    address = f"honeyguide:{created['postgres-password']}@postgres/honeyguide"
    assert read.database_url == f"postgresql://{address}" and read.smtp_url == ""
    (folder / "smtp-url").unlink()
    subprocess.run([script], cwd="/", check=True)
    assert {path.name: path.read_text() for path in folder.iterdir()} == created


@pytest.fixture(scope="module")
def builder() -> Iterator[Builder]:
    with opened_builder() as builder:
        yield builder


@pytest.fixture(scope="module")
def image(builder: Builder) -> Image:
    return builder.make_image()


@pytest.fixture(scope="module")
def composed(builder: Builder) -> dict[str, Any]:
    """compose.yaml as the real Docker Compose reads it."""
    found = builder.run_in_base(
        "{ apt-get update -qq; apt-get install -y -qq --no-install-recommends docker-compose; } >&2"
        "; cd /src; docker-compose --profile mail --profile tls config --format json"
    )
    read: dict[str, Any] = json.loads(found)
    return read


@contextlib.contextmanager
def serving(
    arguments: list[str], log: Path, *options: str, **given: object
) -> Iterator[tuple[subprocess.Popen[bytes], httpx.Client]]:
    port = free_port()
    with open(log, "wb") as out:
        process = subprocess.Popen(
            [*arguments, "serve", *options],
            env=environment(port=port, **given),
            stdout=out,
            stderr=out,
        )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:

            def is_ready() -> bool:
                assert process.poll() is None, log.read_text()
                try:
                    return client.get("/readyz").status_code == 200
                except httpx.TransportError:
                    return False

            until(is_ready, 120)
            yield process, client
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(60)


def output(arguments: list[str], **given: object) -> str:
    done = subprocess.run(
        arguments,
        env=environment(**given),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class TestImage:
    pytestmark = long

    def test_it_says_how_to_run_it(self, image: Image) -> None:
        config = image.config
        assert config["User"] == "10001:10001" and config["WorkingDir"] == VOLUME
        assert config["Entrypoint"] == ["honeyguide"] and config["Cmd"] == ["serve"]
        assert list(config["Volumes"]) == [VOLUME] and list(config["ExposedPorts"]) == ["8000/tcp"]
        assert config["StopSignal"] == "SIGTERM"
        assert config["Healthcheck"]["Test"][:2] == ["CMD", "python3"]
        prefix = "org.opencontainers.image."
        labels = {name.removeprefix(prefix): text for name, text in config["Labels"].items()}
        assert labels["title"] == "Honeyguide" and labels["licenses"] == "MIT"
        assert labels["version"] == VERSION and labels["source"] == "https://example.org/"
        known = {name for name, _, _ in settings.reference()}
        given = {name for name in image.environment if name.startswith("HONEYGUIDE_")}
        assert given == known & {"HONEYGUIDE_HOST", "HONEYGUIDE_PORT"} and len(given) == 2

    def test_it_is_small(self, image: Image) -> None:
        size = image.compressed_bytes()
        print(f"{size / 1e6:.0f} MB compressed")
        assert size < 200_000_000

    def test_a_release_has_it_as_an_archive(
        self, image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, text in image.builder.environment.items():
            monkeypatch.setenv(name, text)
        save_image("buildah", VERSION, tmp_path)
        (archive,) = tmp_path.iterdir()
        assert re.fullmatch(rf"honeyguide-{VERSION}-image-linux-\w+\.tar\.gz", archive.name)
        with tarfile.open(archive) as opened:
            listed = opened.extractfile("manifest.json")
            assert listed is not None
            (about,) = json.load(listed)
        assert about["RepoTags"] == [f"localhost/honeyguide:{VERSION}"]
        print(f"{archive.stat().st_size / 1e6:.0f} MB as a file of a release")

    def test_nothing_is_in_it_that_the_service_does_not_need(self, image: Image) -> None:
        programs = {path.name for folder in programs_of(image) for path in folder.iterdir()}
        assert {"python3", "pg_dump", "pg_restore", "honeyguide"} <= programs
        versioned = re.compile(r"(gcc|g\+\+|cpp|clang|pip)-?[\d.]+$")
        assert programs & NOT_NEEDED == set()
        assert [name for name in programs if versioned.search(name)] == []
        packages = {path.name for path in image.root.glob("opt/honeyguide/lib/*/site-packages/*")}
        assert "honeyguide" in packages and not packages & {"pip", "setuptools", "pytest", "tests"}
        for folder in ("var/lib/apt/lists", "var/cache", "etc/xdg/pip", "root/.cache"):
            assert [*image.root.glob(f"{folder}/*")] == []
        secrets = re.compile(rb"PRIVATE KEY-----|://[^/\s]+:[^/\s]+@")
        for folder in ("etc", "root", "run", "srv", "var/lib/honeyguide"):
            for path in (image.root / folder).rglob("*"):
                assert path.is_symlink() or path.is_dir() or not secrets.search(path.read_bytes())

    def test_the_service_can_change_no_file_of_it(self, image: Image) -> None:
        uid = int(image.config["User"].partition(":")[0])
        found = {
            f"/{path.relative_to(image.root)}"
            for path in image.root.rglob("*")
            if not path.is_symlink()
            and (path.stat().st_uid == uid or path.stat().st_gid == uid or path.stat().st_mode & 2)
            and not path.is_char_device()
        }
        assert found == {VOLUME, "/tmp", "/var/tmp", "/run/lock"}

    def test_a_newcomer_can_use_it(self, image: Image, tmp_path: Path) -> None:
        data = tmp_path / "data"
        data.mkdir()
        assert use(image.container(data).arguments, tmp_path) == VERSION
        assert (data / "var" / "honeyguide.db").stat().st_uid == 10001

    def test_the_health_check_follows_the_server_and_sigterm_stops_it(
        self, image: Image, tmp_path: Path
    ) -> None:
        data = tmp_path / "data"
        data.mkdir()
        check = image.container(data, *image.config["Healthcheck"]["Test"][1:]).arguments
        found = output(
            [*image.container(data).arguments, "account", "create", "a@example.org", "--json"]
        )
        key = {"X-Api-Key": json.loads(found)["api_key"]}
        with serving(image.container(data).arguments, tmp_path / "log") as (process, client):
            assert client.get("/healthz").status_code == 200
            made = client.post("/v2/publications", json=publication_fields(), headers=key)
            assert made.status_code == 201, made.text  # the logo is decoded in a child process
            here = environment(port=client.base_url.port)
            assert subprocess.run(check, env=here, timeout=60, check=False).returncode == 0
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0, (tmp_path / "log").read_text()
        failed = subprocess.run(check, env=here, capture_output=True, timeout=60, check=False)
        assert failed.returncode == 1

    def test_it_works_with_the_secrets_and_settings_of_compose(
        self, image: Image, composed: dict[str, Any], tmp_path: Path
    ) -> None:
        data, secrets = tmp_path / "data", tmp_path / "secrets"
        data.mkdir()
        secrets.mkdir()
        (secrets / "secret-key").write_text("ab" * 32)
        (secrets / "smtp-url").write_text("")
        given = {
            name.removeprefix("HONEYGUIDE_").lower(): text
            for name, text in composed["services"]["honeyguide"]["environment"].items()
        }
        arguments = image.container(data, secrets=secrets).arguments
        log = tmp_path / "log"
        with OlderPostgresServer() as server:
            server.create_database("honeyguide")
            (secrets / "database-url").write_text(server.url("honeyguide"))
            given["backup_url"] = f"{VOLUME}/backups"
            with serving(arguments, log, "--workers", "2", **given) as (process, client):
                page = client.get("/login", follow_redirects=True).raise_for_status()
                assert "Create" in page.text
                output([*arguments, "account", "create", "a@example.org"], **given)
                output(image.container(data, "mkdir", given["backup_url"]).arguments)
                output([*arguments, "backup"], **given)
                process.send_signal(signal.SIGTERM)
                assert process.wait(60) == 0, log.read_text()
            output([*arguments, "restore", "latest", "--replace"], **given)
            with serving(arguments, log, **given) as (_, client):
                assert client.get("/login").status_code == 200  # the account is back
        assert [path.name for path in data.iterdir()] == ["backups"]


def programs_of(image: Image) -> Iterator[Path]:
    for folder in ("usr/bin", "usr/sbin", "usr/local/bin", "opt/honeyguide/bin"):
        yield image.root / folder


class TestCompose:
    pytestmark = long

    def test_every_service_is_confined_and_checked(self, composed: dict[str, Any]) -> None:
        services = composed["services"]
        assert set(services) == {"honeyguide", "postgres", "mailpit", "caddy"}
        for name, service in services.items():
            assert service["read_only"] and service["cap_drop"] == ["ALL"]
            assert service["security_opt"] == ["no-new-privileges:true"]
            hosts = {port.get("host_ip") for port in service.get("ports", ())}
            assert hosts <= ({None} if name == "caddy" else {"127.0.0.1"})
        assert services["mailpit"]["profiles"] == ["mail"]
        assert services["caddy"]["profiles"] == ["tls"]
        wait = services["honeyguide"]["depends_on"]["postgres"]["condition"]
        assert wait == "service_healthy" and services["postgres"]["healthcheck"]["test"]

    def test_secrets_are_files_and_settings_are_known(self, composed: dict[str, Any]) -> None:
        service = composed["services"]["honeyguide"]
        known = {name for name, _, _ in settings.reference()}
        assert {name.removesuffix("_FILE") for name in service["environment"]} <= known
        mounted = {f"/run/secrets/{secret['source']}" for secret in service["secrets"]}
        files = {text for name, text in service["environment"].items() if name.endswith("_FILE")}
        assert files == mounted
        assert "password" not in json.dumps(service["environment"]).lower()

    def test_postgres_is_not_newer_than_pg_dump(
        self, image: Image, composed: dict[str, Any]
    ) -> None:
        (client,) = (image.root / "usr/lib/postgresql").iterdir()
        assert int(composed["services"]["postgres"]["image"].rpartition(":")[2]) <= int(client.name)
