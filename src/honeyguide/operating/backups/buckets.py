"""A bucket of an S3-compatible service. The only file that uses obstore."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from honeyguide.kernel.backup_urls import BucketUrl
from honeyguide.kernel.errors import Missing, Unavailable
from honeyguide.operating.backups.places import PREFIX, StoredFile
from honeyguide.operating.backups.threads import CHUNK, Tick

# A file can have 10,000 parts. A few are in memory at a time.
PART = 16 << 20
PARTS_AT_ONCE = 4
RETRY_S = 60


class Bucket:
    def __init__(self, url: BucketUrl, key_id: str, secret: str) -> None:
        """Without a key, those of the usual AWS_ variables or of the machine's role are used."""
        options = {"endpoint": url.endpoint, "region": url.region}
        options |= {"access_key_id": key_id, "secret_access_key": secret}
        self.shown = str(url)
        self._store = S3Store(
            url.bucket,
            prefix=url.prefix or None,
            config={name: value for name, value in options.items() if value},  # type: ignore[arg-type]
            client_options={
                "allow_http": url.endpoint.startswith("http:"),
                "connect_timeout": timedelta(seconds=10),
                "timeout": timedelta(minutes=10),
            },
            retry_config={"max_retries": 5, "retry_timeout": timedelta(seconds=RETRY_S)},
        )

    def make_private(self) -> None:
        """The bucket's own policy says who may read it."""

    def put(self, name: str, source: Path, tick: Tick) -> None:
        with self._errors("write to"):
            if source.stat().st_size <= PART:
                obstore.put(self._store, name, source.read_bytes())
            else:
                obstore.put(
                    self._store,
                    name,
                    _chunks(source, tick),
                    chunk_size=PART,
                    max_concurrency=PARTS_AT_ONCE,
                )

    def files(self) -> list[StoredFile]:
        with self._errors("read"):
            # Not with PREFIX as the prefix: S3Store takes only whole folders as one.
            found = obstore.list_with_delimiter(self._store)["objects"]
        names = [StoredFile(each["path"], each["size"]) for each in found]
        return sorted(each for each in names if each.name.startswith(PREFIX))

    def get(self, name: str, target: Path, tick: Tick) -> None:
        with self._errors("read"):
            try:
                parts = obstore.get(self._store, name).stream(min_chunk_size=CHUNK)
            except FileNotFoundError as error:
                if "NoSuchBucket" in str(error):
                    raise
                raise Missing(
                    "There is no {name} in {place}.", name=name, place=self.shown
                ) from error
            with target.open("wb") as writing:
                for part in parts:
                    tick()
                    writing.write(part)

    def delete(self, name: str) -> None:
        with self._errors("delete from"):
            obstore.delete(self._store, name)

    @contextmanager
    def _errors(self, verb: str) -> Iterator[None]:
        try:
            yield
        except (BaseError, OSError) as error:
            raise Unavailable(
                "Cannot {verb} {place}: {why}. Check HONEYGUIDE_BACKUP_URL and the access key.",
                verb=verb,
                place=self.shown,
                why=_reason(error),
            ) from error


def _chunks(source: Path, tick: Tick) -> Iterator[bytes]:
    with source.open("rb") as reading:
        while chunk := reading.read(CHUNK):
            tick()
            yield chunk


def _reason(error: Exception) -> str:
    """The service's own message if there is one; the library's are long."""
    text = str(error)
    message = re.search(r"<Message>([^<]+)</Message>", text) or re.search(r"<Code>([^<]+)<", text)
    if message is not None:
        return message[1].rstrip(".")
    if isinstance(error, FileNotFoundError):
        return "there is no such bucket"
    if isinstance(error, PermissionDeniedError | UnauthenticatedError):
        return "access was denied"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if re.search(r"error sending request|connect|timed out|dns", text, re.IGNORECASE):
        return "the service does not answer"
    return text.partition("\n")[0].partition("Debug source")[0].strip().rstrip(".")[:200]
