"""What the files of a release say, without building anything: pure functions of texts and bytes."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import tarfile

BUILD_TOOLS = {"setuptools"}  # pinned for builds, not needed by what was built
_PIN = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;]+)(?P<marker> ; [^\\]+?)?(?: \\)?$")
_HEADING = re.compile(r"^## (\S+) \(\d{4}-\d\d-\d\d\)$", re.M)


def runtime_lock(lock: str) -> str:
    """The lock without the tools that only build the package."""
    entries = re.split(r"(?m)^(?=[A-Za-z0-9])", lock)
    return "".join(entry for entry in entries if _name_of(entry) not in BUILD_TOOLS)


def _name_of(entry: str) -> str:
    return entry.partition("==")[0]


def constraints_of(lock: str, version: str) -> str:
    """The exact versions of the lock for `pip install --constraint`, which takes no hashes unless
    everything that is installed has one.
    """
    pins = [found for line in runtime_lock(lock).splitlines() if (found := _PIN.match(line))]
    lines = [f"{pin['name']}=={pin['version']}{pin['marker'] or ''}" for pin in pins]
    return "\n".join([f"# What Honeyguide {version} was tested with.", *lines, ""])


def newest_version(changelog: str) -> str | None:
    found = _HEADING.search(changelog)
    return found[1] if found else None


def normal_sdist(data: bytes, epoch: int) -> bytes:
    """The same files, without what differs from machine to machine: times, owners, permissions and
    order.
    """
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(data)) as given,
        gzip.GzipFile(fileobj=out, mode="wb", filename="", mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as made,
    ):
        for member in sorted(given.getmembers(), key=lambda member: member.name):
            is_program = member.isdir() or member.mode & 0o100
            clean = tarfile.TarInfo(member.name)
            clean.type, clean.size, clean.linkname = member.type, member.size, member.linkname
            clean.mtime, clean.mode = epoch, 0o755 if is_program else 0o644
            made.addfile(clean, given.extractfile(member) if member.isfile() else None)
    return out.getvalue()


def checksums_of(files: dict[str, bytes]) -> str:
    """As sha256sum writes and reads them."""
    return "".join(
        f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items())
    )
