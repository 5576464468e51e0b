"""Builds the files of a release into a folder: `python -m release dist`. `make release` installs
the tools first.

Only the files that git knows are built, in a copy. So nothing of the checkout gets in by chance,
and the same commit gives the same wheel and sdist everywhere.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NoReturn

import honeyguide
from release import files

ROOT = Path(__file__).parent.parent
GUIDE = "src/honeyguide/guide"
BUILDERS = ("docker", "podman", "buildah")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
IMAGE = "localhost/honeyguide"


def main() -> None:
    given = _arguments()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    _check(version, is_dirty_fine=given.dirty)
    builder = None if given.without_image else _find_builder()
    os.umask(0o022)
    out = Path(given.folder).absolute()
    out.mkdir(parents=True, exist_ok=True)
    for path in [*out.glob("honeyguide-*"), *out.glob("constraints-*"), out / "SHA256SUMS"]:
        path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="honeyguide-release-") as folder:
        copy = Path(folder) / "honeyguide"
        _copy_known_files(copy)
        _copy_guide(copy)
        _build_packages(copy, out, given.uv)
        _list_components(copy, out / f"honeyguide-{version}.cdx.json", given.cyclonedx)
    # With the extras: a version that is pinned and not installed does no harm.
    constraints = files.constraints_of((ROOT / "requirements-dev.lock").read_text(), version)
    (out / f"constraints-{version}.txt").write_text(constraints)
    if builder:
        _build_image(builder, given.image_args)
        save_image(builder, version, out)
    built = {path.name: path.read_bytes() for path in out.glob(f"*-{version}*")}
    (out / "SHA256SUMS").write_text(files.checksums_of(built))
    for name, data in sorted(built.items()):
        print(f"{len(data):>12,} bytes  {name}")
    print(
        f"Honeyguide {version} is in {out}. To check it: cd {out} && sha256sum --check SHA256SUMS"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--uv", default="uv", help="the program that builds the packages")
    parser.add_argument("--cyclonedx", default="cyclonedx-py", help="lists the components")
    parser.add_argument("--image-args", default="", help="more arguments for the image's builder")
    parser.add_argument("--without-image", action="store_true", help="build no container image")
    parser.add_argument("--dirty", action="store_true", help="also with uncommitted changes")
    return parser.parse_args()


def _fail(sentence: str) -> NoReturn:
    sys.exit(sentence)


def _output(*words: str | Path) -> str:
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        _fail(f"`{' '.join(map(str, words))}` failed: {done.stderr.strip()}")
    return done.stdout


def _run(*words: str | Path, folder: Path = ROOT, **given: str) -> None:
    done = subprocess.run(words, cwd=folder, env=os.environ | given, check=False)
    if done.returncode:
        _fail(f"`{' '.join(map(str, words))}` failed; its messages are above.")


def _check(version: str, *, is_dirty_fine: bool) -> None:
    newest = files.newest_version((ROOT / "CHANGELOG.md").read_text())
    if newest != version:
        _fail(
            f"CHANGELOG.md begins with version {newest}, and pyproject.toml says {version}. "
            "Both must be the version of the release."
        )
    if not is_dirty_fine and _output("git", "status", "--porcelain"):
        _fail(
            "There are uncommitted changes. A release is built from a commit: commit or stash "
            "them. To try it all the same, add RELEASE_ARGS=--dirty."
        )


def _find_builder() -> str:
    for name in BUILDERS:
        works = (
            shutil.which(name)
            and not subprocess.run([name, "version"], capture_output=True, check=False).returncode
        )
        if works:
            return name
    _fail(
        "Building the image needs docker, podman or buildah, but none was found that works. "
        "Install one (Debian: apt install podman), or leave the image out with "
        "RELEASE_ARGS=--without-image."
    )


def _epoch() -> int:
    return int(_output("git", "log", "-1", "--format=%ct"))


def _copy_known_files(folder: Path) -> None:
    for name in _output(
        "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"
    ).split("\0"):
        path = ROOT / name
        if name and (path.is_symlink() or path.is_file()):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, folder / name, follow_symlinks=False)


def _copy_guide(copy: Path) -> None:
    """It is built in the checkout: the image takes it from there."""
    _run("make", "--silent", "site")
    shutil.copytree(ROOT / GUIDE, copy / GUIDE)


def _build_packages(copy: Path, out: Path, uv: str) -> None:
    """The wheel is built from the sdist, by the setuptools that requirements.lock pins."""
    epoch = _epoch()
    build = (uv, "build", "--quiet", "--build-constraints", copy / "requirements.lock")
    options = ("--require-hashes", "--out-dir", out)
    date = {"SOURCE_DATE_EPOCH": str(epoch)}
    _run(*build, "--sdist", *options, copy, folder=copy, **date)
    (sdist,) = out.glob("honeyguide-*.tar.gz")
    sdist.write_bytes(files.normal_sdist(sdist.read_bytes(), epoch))
    _run(*build, "--wheel", *options, sdist, folder=copy, **date)
    (out / ".gitignore").unlink(missing_ok=True)  # uv puts one there


def _list_components(copy: Path, target: Path, cyclonedx: str) -> None:
    lock = copy / "runtime.lock"
    lock.write_text(files.runtime_lock((copy / "requirements.lock").read_text()))
    _run(
        *(cyclonedx, "requirements", lock, "--pyproject", copy / "pyproject.toml"),
        *("--mc-type", "application", "--output-reproducible", "--output-format", "JSON"),
        *("--spec-version", "1.6", "--output-file", target),
        SOURCE_DATE_EPOCH=str(_epoch()),
        PYTHONWARNINGS="ignore",  # a lock file does not say what the root depends on directly
    )


def _build_image(builder: str, more: str) -> None:
    arguments = f"--build-arg SOURCE={honeyguide.PROJECT_URL} {more}"
    _run("make", "image", f"BUILDERS={builder}", f"IMAGE={IMAGE}", f"IMAGE_ARGS={arguments}")


def save_image(builder: str, version: str, out: Path) -> None:
    """In Docker's format, which docker, podman and buildah all load."""
    machine = platform.machine()
    archive = out / f"honeyguide-{version}-image-linux-{ARCHITECTURES.get(machine, machine)}.tar"
    name = f"{IMAGE}:{version}"
    save: dict[str, tuple[str | Path, ...]] = {
        "docker": ("docker", "save", "--output", archive, name),
        "podman": ("podman", "save", "--format", "docker-archive", "--output", archive, name),
        "buildah": ("buildah", "push", "--quiet", name, f"docker-archive:{archive}:{name}"),
    }
    _run(*save[builder])
    _run("gzip", "--no-name", "--force", archive)


if __name__ == "__main__":
    main()
