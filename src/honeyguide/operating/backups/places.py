"""Where backups are kept: a folder, or a bucket of an S3-compatible service (`buckets.py`). All
calls block; run them in a thread.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn, Protocol

from honeyguide.kernel.backup_urls import FolderUrl, parse_backup_url
from honeyguide.kernel.errors import Fault, Missing, Unavailable
from honeyguide.operating.backups.threads import Tick, copy_file, copy_in_chunks
from honeyguide.store.private_files import make_private


class StoredFile(NamedTuple):
    name: str
    size: int


class Place(Protocol):
    @property
    def shown(self) -> str:
        """How people are told where it is. Contains no secret."""
        ...

    def put(self, name: str, source: Path, tick: Tick) -> None:
        """Stores the whole file or nothing."""
        ...

    def files(self) -> list[StoredFile]:
        """Everything of ours, by name."""
        ...

    def get(self, name: str, target: Path, tick: Tick) -> None: ...

    def delete(self, name: str) -> None: ...

    def make_private(self) -> None:
        """Closes older files to other users of the machine."""
        ...


# All that Honeyguide stores starts with this.
PREFIX = "honeyguide-"


class Folder:
    def __init__(self, url: FolderUrl) -> None:
        self._folder = url.path
        self.shown = str(url)

    def put(self, name: str, source: Path, tick: Tick) -> None:
        self._require_folder()
        part = self._folder / f".{name}.part"
        try:
            # The file has everything in it that the database has: only we may read it.
            number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with source.open("rb") as reading, os.fdopen(number, "wb") as writing:
                copy_in_chunks(reading, writing, tick)
                writing.flush()
                os.fsync(writing.fileno())
            part.rename(self._folder / name)
            _sync_folder(self._folder)
        except OSError as error:
            _cannot("write to", self._folder, error)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def files(self) -> list[StoredFile]:
        self._require_folder()
        try:
            found = [path for path in self._folder.iterdir() if path.name.startswith(PREFIX)]
            return sorted(
                StoredFile(path.name, path.stat().st_size) for path in found if path.is_file()
            )
        except OSError as error:
            _cannot("read", self._folder, error)

    def get(self, name: str, target: Path, tick: Tick) -> None:
        source = self._folder / name
        if not source.is_file():
            raise Missing("There is no {name} in {place}.", name=name, place=self.shown)
        try:
            copy_file(source, target, tick)
        except OSError as error:
            _cannot("copy", source, error)

    def delete(self, name: str) -> None:
        try:
            (self._folder / name).unlink(missing_ok=True)
        except OSError as error:
            _cannot("delete from", self._folder, error)

    def make_private(self) -> None:
        with suppress(Unavailable):  # the next backup says that the folder is not there
            make_private(self._folder / file.name for file in self.files())

    def _require_folder(self) -> None:
        # It is not created: it may be a disk that is not mounted just now.
        if not self._folder.is_dir():
            raise Unavailable(
                "The folder {path} does not exist. Create it, or check HONEYGUIDE_BACKUP_URL.",
                path=self._folder,
            )


def place_for(url: str, *, key_id: str = "", secret: str = "") -> Place:
    parsed = parse_backup_url(url)
    if isinstance(parsed, FolderUrl):
        return Folder(parsed)
    # Loading the library takes a while, and only installations with a bucket need it.
    from honeyguide.operating.backups.buckets import Bucket

    return Bucket(parsed, key_id, secret)


def put_whole(place: Place, name: str, source: Path, tick: Tick) -> None:
    """Stores the file and looks whether all of it arrived. What is there of it otherwise is deleted
    if possible, so that nobody takes it for the whole.
    """
    try:
        place.put(name, source, tick)
        here = source.stat().st_size
        there = {stored.name: stored.size for stored in place.files()}.get(name, 0)
        if there != here:
            raise Unavailable(
                "{name} is incomplete in {place}: it has {there} bytes instead of {here}.",
                name=name,
                place=place.shown,
                there=there,
                here=here,
            )
    except Fault:
        with suppress(Fault):
            place.delete(name)
        raise


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _cannot(verb: str, path: Path, error: OSError) -> NoReturn:
    raise Unavailable(
        "Cannot {verb} {path}: {error}. Check permissions and free space.",
        verb=verb,
        path=path,
        error=error.strerror or str(error),
    ) from error
