"""Builds the container image where no registry can be reached and no container started: mmdebstrap
makes the base image from packages of Debian, and buildah builds on it. Needs root.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.container import Container

ROOT = Path(__file__).parents[2]
BASE, NAME = "localhost/debian", "localhost/honeyguide"
PIP_FOLDER = "/etc/xdg/pip"
PIP_OPTIONS = {"index-url", "extra-index-url", "trusted-host", "proxy", "cert"}
APT_OPTIONS = re.compile(r'Acquire::(?:Check-Valid-Until|https?::Proxy) ".+";')
LIMIT_S = 1800


class Builder:
    """buildah with storage of its own in `folder`."""

    def __init__(self, folder: Path) -> None:
        for program in ("buildah", "mmdebstrap"):
            assert shutil.which(program), f"{program} is missing; `make test-long` installs it"
        self.folder = folder
        self.environment = dict(os.environ)
        # An overlay cannot lie on another one, such as the root of a container.
        kind = self.run("stat", "--file-system", "--format=%T", folder).strip()
        driver = "vfs" if kind == "overlayfs" else "overlay"
        storage = folder / "storage.conf"
        storage.write_text(
            f'[storage]\ndriver = "{driver}"\n'
            f'graphroot = "{folder}/graph"\nrunroot = "{folder}/run"\n'
        )
        self.environment["CONTAINERS_STORAGE_CONF"] = str(storage)

    def __call__(self, *arguments: str | Path) -> str:
        return self.run("buildah", *arguments).strip()

    def run(self, *arguments: str | Path) -> str:
        done = subprocess.run(
            [str(word) for word in arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def make_base(self) -> None:
        """What `ARG BASE` names, with the options that this machine's apt has for its network."""
        listed = self.run("apt-get", "indextargets", "--format", "$(REPO_URI)")
        options = APT_OPTIONS.findall(self.run("apt-config", "dump"))
        tar = self.folder / "base.tar"
        self.run(
            *("mmdebstrap", "--quiet", "--variant=minbase"),
            *(f"--aptopt={option}" for option in options),
            *(default_suite(), tar, listed.split()[0]),
        )
        container = self("from", "scratch")
        self("add", container, tar, "/")
        self("commit", "--rm", container, BASE)
        tar.unlink()

    def make_image(self) -> Image:
        """With `make image`. pip gets this machine's settings, from outside the image."""
        arguments = f"--isolation chroot --build-arg BASE={BASE} --volume {self.pip_settings()}"
        self.run(
            *("make", "-C", ROOT, "image", "BUILDERS=buildah"),
            *(f"IMAGE={NAME}", f"IMAGE_ARGS={arguments} --build-arg SOURCE=https://example.org/"),
        )
        return Image(self)

    def pip_settings(self) -> str:
        """A volume that gives this machine's pip settings to what runs in a container."""
        folder = self.folder / "pip"
        if not folder.exists():
            folder.mkdir()
            _write_pip_settings(folder)
        return f"{folder}:{PIP_FOLDER}:ro"

    def run_in_base(self, script: str, *volumes: str) -> str:
        """The output of a shell in a copy of the base image. Without volumes, this checkout is its
        folder /src.
        """
        container = self("from", BASE)
        try:
            mounts = [f"--volume={volume}" for volume in volumes or (f"{ROOT}:/src:ro",)]
            options = ("--isolation", "chroot", *mounts)
            return self("run", *options, container, "--", "sh", "-ec", script)
        finally:
            self("rm", container)


class Image:
    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        about = json.loads(builder("inspect", "--type", "image", NAME))
        self.config: dict[str, Any] = about["Docker"]["config"]
        self.root = Path(builder("mount", builder("from", NAME)))

    @property
    def environment(self) -> dict[str, str]:
        return dict(line.split("=", 1) for line in self.config["Env"])

    def compressed_bytes(self) -> int:
        archive = self.builder.folder / "image.tar"
        self.builder("push", NAME, f"oci-archive:{archive}")
        size = archive.stat().st_size
        archive.unlink()
        return size

    def container(self, data: Path, *command: str, secrets: Path | None = None) -> Container:
        """Without a command, the one of the image. `data` becomes its volume."""
        (volume,) = self.config["Volumes"]
        user = self.config["User"]
        os.chown(data, *map(int, user.split(":")))
        return Container(
            root=str(self.root),
            user=user,
            folder=self.config["WorkingDir"],
            environment=self.environment,
            mounts={volume: str(data)} | ({"/run/secrets": str(secrets)} if secrets else {}),
            command=list(command or self.config["Entrypoint"]),
        )


def default_suite() -> str:
    found = re.search(r"^ARG BASE=\S+:(\w+)-slim$", (ROOT / "Containerfile").read_text(), re.M)
    assert found
    return found[1]


def _write_pip_settings(folder: Path) -> None:
    """Of this machine, what pip needs to reach the package index; not what is in local folders."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    lines = ["[global]"]
    for line in sorted(listed.stdout.splitlines()):  # the environment's come first
        name, _, value = line.partition("=")
        option, text = name.rpartition(".")[2], str(ast.literal_eval(value))
        if option == "cert":
            shutil.copy(text, folder / "cert.pem")
            text = f"{PIP_FOLDER}/cert.pem"
        text = " ".join(word for word in text.split() if not word.startswith("file:"))
        if option in PIP_OPTIONS and text and not any(one.startswith(option) for one in lines):
            lines.append(f"{option} = {text}")
    (folder / "pip.conf").write_text("\n".join(lines) + "\n")


@contextmanager
def opened_builder() -> Iterator[Builder]:
    """With a base image to build on."""
    folder = Path(tempfile.mkdtemp(prefix="hgimage"))
    builder = Builder(folder)
    try:
        builder.make_base()
        yield builder
    finally:
        builder("rm", "--all")
        shutil.rmtree(folder)
