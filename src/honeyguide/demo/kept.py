"""What the demo remembers between starts, in a private file beside its database: the login, the
keys, and the port of its stand-in for other people's tools.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import msgspec


class KeptSecrets(msgspec.Struct, kw_only=True):
    secret_key: str
    """For HONEYGUIDE_SECRET_KEY, without which no email tool can be connected."""
    port: int = 0
    password: str = ""
    demo_key: str = ""
    empty_key: str = ""


def file_beside(database: Path) -> Path:
    return database.with_name(f"{database.name}.demo")


def load(file: Path | None) -> KeptSecrets:
    """New secrets if there is no such file, or none that can be read."""
    try:
        return msgspec.json.decode((file or Path()).read_bytes(), type=KeptSecrets)
    except (OSError, msgspec.DecodeError):
        return KeptSecrets(secret_key=secrets.token_hex(32))


def save(file: Path, kept: KeptSecrets) -> None:
    """Readable by nobody else from its first byte."""
    draft = file.with_name(f"{file.name}.new")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(msgspec.json.encode(kept))
    draft.replace(file)
