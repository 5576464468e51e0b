"""The files of a release: what is in them, that a commit gives the same ones everywhere, and that
they are all that the guide needs on an empty machine or for an upgrade.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from honeyguide import __version__
from honeyguide.demo.newsletters import OWNER
from release import files
from tests.laws.test_wheel import HOOK, run
from tests.support.image import Builder, opened_builder
from tests.support.postgres import free_port
from tests.upgrades import FOLDER
from tests.upgrades.make import has_commit, worktree

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements.lock").read_text()
GUIDE = ROOT / "docs" / "self-hosting.md"
SECTION = "## From the files of a release"
AS_SERVICE = "runuser -u honeyguide --"


def test_the_constraints_are_the_pinned_versions_and_nothing_else() -> None:
    lines = files.constraints_of(LOCK, "1.2.3").splitlines()
    assert lines[0] == "# What Honeyguide 1.2.3 was tested with."
    pinned = dict(re.findall(r"(?m)^([\w.-]+)==([^\s;]+)", LOCK))
    assert dict(line.partition(" ;")[0].split("==") for line in lines[1:]) == {
        name: version for name, version in pinned.items() if name != "setuptools"
    }
    assert "--hash" not in "".join(lines) and "\\" not in "".join(lines)
    assert next(line for line in lines if line.startswith("uvloop")).endswith(
        "; sys_platform != 'win32'"
    )


def test_what_only_builds_is_no_component() -> None:
    left = files.runtime_lock(LOCK)
    assert "setuptools==" in LOCK and "setuptools==" not in left
    assert left.count("==") == LOCK.count("==") - 1 and "--hash=sha256:" in left


def test_an_sdist_keeps_nothing_of_the_machine_that_packed_it(tmp_path: Path) -> None:
    packed = []
    for number, mode in enumerate((0o600, 0o664)):
        archive = tmp_path / f"{number}.tar.gz"
        (tmp_path / "a").write_text("one")
        (tmp_path / "b").write_text("two")
        (tmp_path / "a").chmod(mode)
        os.utime(tmp_path / "b", (number * 1000, number * 1000))
        with tarfile.open(archive, "w:gz") as made:
            for name in ("a", "b") if number else ("b", "a"):
                made.add(tmp_path / name, f"x/{name}")
        packed.append(files.normal_sdist(archive.read_bytes(), 1_000_000))
    assert packed[0] == packed[1]
    (tmp_path / "normal.tar.gz").write_bytes(packed[0])
    with tarfile.open(tmp_path / "normal.tar.gz") as made:
        assert [(one.name, one.mode, one.mtime) for one in made] == [
            ("x/a", 0o644, 1_000_000),
            ("x/b", 0o644, 1_000_000),
        ]
        taken = made.extractfile("x/b")
        assert taken is not None and taken.read() == b"two"


def test_sha256sum_reads_the_checksums(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "SHA256SUMS").write_text(files.checksums_of({"a": b"one"}))
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    assert subprocess.run(check, cwd=tmp_path, check=False, capture_output=True).returncode == 0
    (tmp_path / "a").write_bytes(b"two")
    assert subprocess.run(check, cwd=tmp_path, check=False, capture_output=True).returncode == 1


def test_the_guide_names_the_files_of_this_version() -> None:
    text = guide_commands()
    assert f"--constraint constraints-{__version__}.txt" in text
    assert f" honeyguide-{__version__}-py3-none-any.whl" in text


def test_what_is_not_committed_or_has_another_version_is_not_released(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "release", tmp_path / "release")
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)

    def refusal() -> str:
        arguments = [sys.executable, "-m", "release", "dist", "--without-image"]
        done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert not (tmp_path / "dist").exists()
        return done.stderr

    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    assert refusal().startswith("There are uncommitted changes. A release is built from a commit")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 9.8.7 (2026-11-18)\n")
    assert refusal().startswith(
        f"CHANGELOG.md begins with version 9.8.7, and pyproject.toml says {__version__}."
    )


def guide_commands() -> str:
    """What the guide tells a self-hoster to type, from an empty machine to the first referral."""
    section = GUIDE.read_text().partition(SECTION)[2].partition("\n## ")[0]
    return "\n".join(re.findall(r"```sh\n(.*?)```", section, re.S))


def make_release(folder: Path, umask: int) -> dict[str, bytes]:
    arguments = ["make", "-C", ROOT, "release", f"DIST={folder}"]
    arguments.append("RELEASE_ARGS=--dirty --without-image")
    done = subprocess.run(arguments, umask=umask, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    make_release(folder, 0o022)
    return folder


@pytest.fixture(scope="module")
def builder() -> Iterator[Builder]:
    with opened_builder() as builder:
        yield builder


@pytest.mark.long
@pytest.mark.timeout(3600)
class TestRelease:
    def test_it_is_whole_and_its_components_are_listed(self, released: Path) -> None:
        names = {path.name for path in released.iterdir()}
        assert names == {
            f"honeyguide-{__version__}-py3-none-any.whl",
            f"honeyguide-{__version__}.tar.gz",
            f"honeyguide-{__version__}.cdx.json",
            f"constraints-{__version__}.txt",
            "SHA256SUMS",
        }
        run(["sha256sum", "--check", "--strict", "SHA256SUMS"], released)
        listed = json.loads((released / f"honeyguide-{__version__}.cdx.json").read_text())
        about = listed["metadata"]["component"]
        assert (about["name"], about["version"]) == ("honeyguide", __version__)
        found = {f"{one['name']}=={one['version']}" for one in listed["components"]}
        constraints = (released / f"constraints-{__version__}.txt").read_text().splitlines()[1:]
        pinned = {line.partition(" ;")[0] for line in constraints}
        assert found <= pinned and "mcp" in {pin.partition("==")[0] for pin in pinned}

    def test_the_same_commit_gives_the_same_files(self, released: Path, tmp_path: Path) -> None:
        first = {path.name: path.read_bytes() for path in released.iterdir()}
        second = make_release(tmp_path / "again", 0o077)
        assert [name for name in first if first[name] != second.get(name)] == []

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can make an empty Debian")
    def test_the_guide_leads_from_an_empty_debian_to_a_referral(
        self, released: Path, builder: Builder
    ) -> None:
        """In a root with nothing but Debian's smallest set of packages and these files. There is no
        systemd, so the command of the unit that `init` wrote is started instead.
        """
        url = f"http://127.0.0.1:{free_port()}"
        serve = (
            f"{AS_SERVICE} sh -c 'cd; exec '\"$(sed -n 's/^ExecStart=//p' "
            "/etc/honeyguide/honeyguide.service /etc/systemd/system/honeyguide.service "
            '2>/dev/null)" >/tmp/log 2>&1 &\n'
            f"trap 'kill $!' EXIT; curl -s --retry 60 --retry-delay 1 --retry-all-errors "
            f"-o /dev/null {url}/readyz"
        )
        script = guide_commands().replace("https://refer.example.org", url)
        script = script.replace("http://127.0.0.1:8000", url)
        script, count = re.subn(r"(?m)^systemctl .*$", lambda _: serve, script)
        assert count == 1
        output = builder.run_in_base(
            f"cd /release; export DEBIAN_FRONTEND=noninteractive\n{script}",
            f"{released}:/release:ro",
            builder.pip_settings(),
        )
        assert "problem " not in output, output
        answer = json.loads(output[output.rindex('{"subscribers"') :])
        (ana,) = answer["subscribers"]
        assert (ana["email"], ana["referrals_count"]) == ("ana@example.org", 1)

    def test_it_upgrades_the_previous_version_with_its_data(
        self, released: Path, tmp_path: Path
    ) -> None:
        commit = (FOLDER / "commit.txt").read_text().strip()
        if not has_commit(commit):
            pytest.fail("The previous main is not in this clone; fetch its whole history.")
        with worktree(commit) as code:
            run([sys.executable, "-c", HOOK.format("build_wheel"), str(tmp_path)], code)
        (old,) = tmp_path.glob("*.whl")
        (new,) = released.glob("*.whl")
        home = tmp_path / "home"
        run([sys.executable, "-m", "venv", str(home)], tmp_path)
        command = str(home / "bin" / "honeyguide")
        given = {"database_url": f"sqlite:///{tmp_path}/data.db", "secret_key": "ab" * 32}
        pip = [str(home / "bin" / "pip"), "install", "--quiet", "--constraint"]
        pip.append(str(released / f"constraints-{__version__}.txt"))
        run([*pip, str(old)], tmp_path, 1800)
        run([command, "demo"], tmp_path, 1800, **given)
        export = [command, "export", "--account", OWNER, "--format", "sparkloop"]
        before = run(export, tmp_path, **given)
        run([*pip, str(new)], tmp_path, 1800)
        assert run([command, "--version"], tmp_path).strip() == __version__
        run([command, "migrate"], tmp_path, 1800, **given)
        assert before.count("\n") > 500 and run(export, tmp_path, **given) == before
        run([command, "verify"], tmp_path, 1800, **given)
