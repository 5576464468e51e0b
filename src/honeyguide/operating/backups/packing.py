"""Between a copy of a database and the file that is kept: compressed, and encrypted if a key is
given. A file says by its first bytes what it is, so unpacking does not trust its name. All of it
blocks; run it in a thread.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyrage

from honeyguide.kernel.errors import Invalid, Unavailable
from honeyguide.operating.backups.threads import CHUNK, Tick, copy_file, copy_in_chunks
from honeyguide.store.scratch import is_dump

# Higher levels take twice as long to save a few percent.
LEVEL = 4
DAMAGED = (
    "The backup is damaged or incomplete. Copy it again from where it is kept, or use another one."
)
_GZIP = b"\x1f\x8b"
_AGE = b"age-encryption.org/v1\n"
_ARMOR = b"-----BEGIN AGE ENCRYPTED FILE-----"


def compress(source: Path, target: Path, tick: Tick) -> None:
    with (
        _space(target),
        source.open("rb") as reading,
        gzip.open(target, "wb", compresslevel=LEVEL) as writing,
    ):
        copy_in_chunks(reading, writing, tick)


def encrypt(source: Path, target: Path, recipient: str, tick: Tick) -> None:
    """For the owner of the age key whose public part is `recipient`; nobody else can read it."""
    key = pyrage.x25519.Recipient.from_str(recipient)
    with _space(target), source.open("rb") as reading, target.open("wb") as writing:
        watched = _Watched(reading, writing, tick)
        try:
            pyrage.encrypt_io(watched, watched, [key])
        except pyrage.EncryptError as error:
            raise watched.cause(error) from error
    if _starts(target) != _AGE[:16] or target.stat().st_size <= source.stat().st_size:
        raise Unavailable("The backup could not be encrypted: the encrypted file is incomplete.")


def unpack(source: Path, target: Path, identity: Path | None, tick: Tick) -> None:
    """Decrypts and decompresses as needed. `target` is then a copy of a database."""
    if _starts(source) == _AGE[:16] or _starts(source) == _ARMOR[:16]:
        opened = target.with_suffix(".opened")
        _decrypt(source, opened, identity, tick)
        source = opened
    with _space(target):
        if _starts(source).startswith(_GZIP):
            _decompress(source, target, tick)
        else:
            copy_file(source, target, tick)
    if not is_dump(target):
        raise Invalid("This file is not a Honeyguide backup.")


def digest_of(path: Path, tick: Tick) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            tick()
            digest.update(chunk)
    return digest.hexdigest()


def _decompress(source: Path, target: Path, tick: Tick) -> None:
    try:
        with gzip.open(source, "rb") as reading, target.open("wb") as writing:
            copy_in_chunks(reading, writing, tick)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Invalid(DAMAGED) from error


def _decrypt(source: Path, target: Path, identity: Path | None, tick: Tick) -> None:
    if identity is None:
        raise Invalid(
            "The backup is encrypted. Add --identity FILE with the age key that can decrypt it."
        )
    keys = _identities(identity)
    with _space(target), source.open("rb") as reading, target.open("wb") as writing:
        watched = _Watched(reading, writing, tick)
        try:
            pyrage.decrypt_io(watched, watched, keys)
        except (pyrage.DecryptError, OSError) as error:
            if "No matching keys" in str(error):
                raise Invalid(
                    "The backup was encrypted for another key than the one in {path}.",
                    path=identity,
                ) from error
            raise watched.cause(Invalid(DAMAGED)) from error


def _identities(path: Path) -> list[Any]:
    """The secret keys in a file that age-keygen wrote."""
    try:
        lines = path.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid("The key file {path} cannot be read.", path=path) from error
    keys = [line for line in lines if line.startswith("AGE-SECRET-KEY-")]
    try:
        found = [pyrage.x25519.Identity.from_str(key) for key in keys]
    except pyrage.IdentityError:
        found = []
    if not found:
        raise Invalid(
            "{path} has no valid age key. It should have a line AGE-SECRET-KEY-1…, as age-keygen "
            "writes it.",
            path=path,
        )
    return found


class _Watched:
    """The two files that the library reads and writes. It hides their errors; this keeps them."""

    def __init__(self, reading: Any, writing: Any, tick: Tick) -> None:
        self._reading = reading
        self._writing = writing
        self._tick = tick
        self._error: Exception | None = None

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._keep(self._reading.read, size)
        return data

    def write(self, data: bytes) -> int:
        written: int = self._keep(self._writing.write, data)
        return written

    def flush(self) -> None:
        self._keep(self._writing.flush)

    def _keep(self, call: Callable[..., Any], *args: Any) -> Any:
        try:
            self._tick()
            return call(*args)
        except Exception as error:
            self._error = error
            raise

    def cause(self, otherwise: Exception) -> Exception:
        return self._error or otherwise


def _starts(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)


@contextmanager
def _space(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(
            "Cannot write {path}: {error}. Check permissions and free space.",
            path=target,
            error=error.strerror or str(error),
        ) from error
