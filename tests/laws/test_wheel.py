"""The wheel and the sdist work without the checkout: built, installed into a clean environment, and
used from an empty folder.
"""

import contextlib
import email
import email.message
import importlib.metadata
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from tests.support.postgres import free_port
from tests.support.process import environment
from tests.support.service import until

ROOT = Path(__file__).parents[2]
VERSION = "9.8.7"  # not the version of the checkout, so that a copy of it elsewhere is found
HOOK = "import sys; from setuptools import build_meta; build_meta.{}(sys.argv[1])"


class Built(NamedTuple):
    sdist: Path
    wheel: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """As `make dist` does it, the wheel from the sdist, but with the setuptools that is here."""
    folder = tmp_path_factory.mktemp("dist")
    checkout = folder / "checkout"
    shutil.copytree(ROOT / "src", checkout / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    shutil.copytree(ROOT / "tests" / "upgrades", checkout / "tests" / "upgrades")
    (checkout / "tests" / "laws").mkdir()
    shutil.copy(__file__, checkout / "tests" / "laws")
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, checkout)
    project = checkout / "pyproject.toml"
    text, count = re.subn(r'(?m)^version = ".*"$', f'version = "{VERSION}"', project.read_text())
    assert count == 1
    project.write_text(text)
    for package in ("honeyguide", "honeyguide/pages/templates"):
        cache = checkout / "src" / package / "__pycache__"
        cache.mkdir(exist_ok=True)
        (cache / "stale.cpython-311.pyc").write_bytes(b"stale")
    run([sys.executable, "-c", HOOK.format("build_sdist"), str(folder)], checkout)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    run([sys.executable, "-c", HOOK.format("build_wheel"), str(folder)], unpacked)
    (wheel,) = folder.glob("*.whl")
    return Built(sdist, wheel)


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command in an environment with the wheel and the dependencies it declares, and nothing
    else. The dependencies are links to the ones installed here, so this needs no package index.
    """
    home = tmp_path_factory.mktemp("clean")
    venv.create(home, symlinks=True)
    python = home / "bin" / "python"
    (packages,) = home.glob("lib/python*/site-packages")
    link_dependencies(packages)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    run([*pip, "--no-deps", "--no-index", str(built.wheel)], home)
    where = run([str(python), "-c", "import honeyguide; print(honeyguide.__file__)"], home).strip()
    assert Path(where) == packages / "honeyguide" / "__init__.py"
    return home / "bin" / "honeyguide"


def link_dependencies(packages: Path) -> None:
    locked = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text(), re.M)
    assert len(locked) > 20
    for name in locked:
        if name == "setuptools":
            continue
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # needed on other systems only
        for top in {path.parts[0] for path in found.files or ()} - {"..", "__pycache__"}:
            (packages / top).symlink_to(str(found.locate_file(top)))


def run(arguments: list[str], folder: Path, timeout: float = 250, **settings: object) -> str:
    env = environment(**settings)
    env.pop("PYTHONPATH", None)
    done = subprocess.run(
        arguments, cwd=folder, env=env, capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def test_the_wheel_has_every_file_of_the_package_and_no_other(built: Built) -> None:
    expected = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "honeyguide").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(built.wheel) as archive:
        names = set(archive.namelist())
    about = f"honeyguide-{VERSION}.dist-info/"
    assert {name for name in names if not name.startswith(about)} == expected
    assert about + "licenses/LICENSE" in names


def test_the_sdist_has_no_tests_and_no_caches(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert {"pyproject.toml", "README.md", "LICENSE"} <= set(names)
    assert [name for name in names if name.startswith("tests") or name.endswith(".pyc")] == []


def test_the_metadata_is_complete(built: Built) -> None:
    about = metadata(built.wheel)
    assert (about["Name"], about["Version"]) == ("honeyguide", VERSION)
    assert about["License-Expression"] == "MIT" and about.get_all("License-File") == [
        "LICENSE",
        "src/honeyguide/pages/static/embed/altcha.LICENSE",
    ]
    assert about["Requires-Python"] == ">=3.11" and about["Summary"] and about["Keywords"]
    assert len(about.get_all("Classifier")) > 5
    urls = dict(url.split(", ") for url in about.get_all("Project-URL"))
    assert set(urls) == {"Documentation", "Source", "Changelog", "Issues"}
    assert urls["Changelog"].rpartition("/")[2] in os.listdir(ROOT)
    assert about["Description-Content-Type"] == "text/markdown"
    assert str(about.get_payload()).lstrip().startswith("# Honeyguide")


def test_everything_browsers_get_is_ours() -> None:
    """A library or font of others needs its license next to it, and in `license-files`."""
    static = [path for path in (ROOT / "src/honeyguide/pages/static").rglob("*") if path.is_file()]
    assert {path.suffix for path in static} == {".css", ".js", ".svg", ".LICENSE"}
    foreign = re.compile(r"copyright|licen[sc]e|\(c\)|@font-face", re.I)
    found = {path.name for path in static if foreign.search(path.read_text())}
    assert found == {"altcha.LICENSE", "altcha-pbkdf2-3.2.2.js"}


@pytest.mark.long
def test_the_wheel_works_in_a_clean_environment(installed: Path, tmp_path: Path) -> None:
    assert use([str(installed)], tmp_path) == VERSION


@pytest.mark.long
def test_init_writes_a_unit_for_the_wheel(installed: Path, tmp_path: Path) -> None:
    user = ["--user", "root"] if os.geteuid() == 0 else []
    arguments = [
        "init",
        "--yes",
        "--email",
        "ana@example.org",
        "--unit-folder",
        str(tmp_path),
        *user,
    ]
    command = [str(installed), "--settings", "honeyguide.env", *arguments]
    found = run(command, tmp_path, database_url=f"sqlite:///{tmp_path}/x.db")
    assert "Log in at http://127.0.0.1:8000/login as ana@example.org" in found
    assert f"ExecStart={installed} serve" in (tmp_path / "honeyguide.service").read_text()


def use(command: list[str], folder: Path) -> str:
    """Does what a newcomer does, in an empty folder with no settings but the port: migrates, makes
    the demo, serves, logs in and looks around. Returns the version.
    """
    port = free_port()
    assert "Applied 0093_baseline." in run([*command, "migrate"], folder, port=port)
    assert "up to date" in run([*command, "migrate"], folder, port=port)
    found = run([*command, "demo"], folder, port=port)
    login = re.search(r"Login +(\S+) / (\S+)", found)
    assert login is not None, found
    with serving(command, folder, port) as http:
        page = http.get("/login").raise_for_status().text
        csrf = re.search(r'name="csrf" value="([0-9a-f]+)"', page)
        assert csrf is not None
        form = {"csrf": csrf[1], "email": login[1], "password": login[2]}
        assert http.post("/login", data=form).status_code == 303
        dashboard = http.get("/").raise_for_status().text
        assert "Log out" in dashboard
        reference = http.get("/docs").raise_for_status().text
        for text in (page, dashboard, reference):
            links = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', text))
            assert len(links) >= 3
            for link in links:
                assert http.get(link).raise_for_status().content, link
        return str(http.get("/openapi.json").raise_for_status().json()["info"]["version"])


@contextlib.contextmanager
def serving(command: list[str], folder: Path, port: int) -> Iterator[httpx.Client]:
    url = f"http://127.0.0.1:{port}"
    log = folder / "log"
    with open(log, "wb") as out:
        process = subprocess.Popen(
            [*command, "serve"],
            cwd=folder,
            env=environment(port=port),
            stdout=out,
            stderr=out,
            start_new_session=True,  # uvx starts a process of its own, and all are stopped
        )
    try:
        with httpx.Client(base_url=url, headers={"origin": url}, timeout=60) as http:

            def is_ready() -> bool:
                assert process.poll() is None, log.read_text()
                try:
                    return http.get("/readyz").status_code == 200
                except httpx.TransportError:
                    return False

            until(is_ready, 120)
            yield http
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


@pytest.mark.long
@pytest.mark.parametrize("way", ["sdist with pip", "wheel with uvx"])
def test_what_make_dist_builds_installs_from_the_package_index(way: str, tmp_path: Path) -> None:
    run(["make", "-C", str(ROOT), "dist", f"DIST={tmp_path}/dist"], tmp_path, 900)
    (sdist,) = tmp_path.glob("dist/*.tar.gz")
    (wheel,) = tmp_path.glob("dist/*.whl")
    home, empty = tmp_path / "home", tmp_path / "empty"
    empty.mkdir()
    if way == "sdist with pip":
        run([sys.executable, "-m", "venv", str(home)], tmp_path)
        run([str(home / "bin" / "pip"), "install", "--quiet", str(sdist)], tmp_path, 1800)
        command = [str(home / "bin" / "honeyguide")]
    else:
        (uv,) = ROOT.glob(".venv/uv-*/bin/uv")
        cache = f"--cache-dir={home}"
        command = [str(uv), "tool", "run", cache, "--from", str(wheel), "honeyguide"]
        run([*command, "version"], empty, 1800)
    assert use(command, empty) == metadata(wheel)["Version"]
