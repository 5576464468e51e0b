"""moto's S3 server, from an environment of its own that `make servers` makes."""

from __future__ import annotations

import os
import subprocess
import time
import urllib.request
from pathlib import Path
from urllib.error import HTTPError, URLError

from .postgres import free_port

PROGRAM = Path(__file__).parents[2] / ".venv" / "moto" / "bin" / "moto_server"
# moto reads only the region from it.
_SIGNED = (
    "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, "
    "Signature=none"
)


class S3Server:
    """`with S3Server() as s3: s3.create_bucket("backups")`. `refuses_keys`: every key is wrong."""

    key = "key"
    secret = "secret"

    def __init__(self, *, refuses_keys: bool = False) -> None:
        self._refusal = {"INITIAL_NO_AUTH_ACTION_COUNT": "0"} if refuses_keys else {}

    def __enter__(self) -> S3Server:
        self.port = free_port()
        arguments = [str(PROGRAM), "-H", "127.0.0.1", "-p", str(self.port)]
        self._process = subprocess.Popen(
            arguments,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | self._refusal,
        )
        give_up = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"{self.endpoint}/moto-api/", timeout=10)
                return self
            except (URLError, OSError):
                assert time.monotonic() < give_up and self._process.poll() is None
                time.sleep(0.1)

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        return f"s3://{path}?endpoint={self.endpoint}&region=us-east-1"

    def create_bucket(self, name: str) -> None:
        self._ask("PUT", f"/{name}")

    def _ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        asked = urllib.request.Request(
            f"{self.endpoint}{path}", body, {"Authorization": _SIGNED}, method=method
        )
        try:
            with urllib.request.urlopen(asked, timeout=30) as answer:
                data: bytes = answer.read()
                return data
        except HTTPError as error:
            raise AssertionError(error.read()) from error
