"""Encrypts the keys and secrets of email platforms before they are stored, with AES-256-GCM.

The key comes from HONEYGUIDE_SECRET_KEY, from outside the database, so that a copy of the database
alone opens nothing. An encrypted text names the key it was made with, and is bound to one row:
moved to another row, it cannot be decrypted.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from honeyguide.kernel.errors import Fault, Invalid

_VERSION = "1"
_NONCE = 12


class NoSecretKey(Invalid):
    code = "no_secret_key"

    def __init__(self) -> None:
        super().__init__(
            "Set HONEYGUIDE_SECRET_KEY first: the platform's key is encrypted with it. Run "
            "`honeyguide init`, which writes one to the settings file, and restart the service."
        )


class Undecryptable(Fault):
    code = "undecryptable"
    status = 400

    def __init__(self) -> None:
        super().__init__(
            "The stored key cannot be decrypted: HONEYGUIDE_SECRET_KEY has changed. "
            "Add the old key at its end, after a comma, or enter the platform's key again."
        )


class EncryptionKeys:
    """The first key encrypts, all of them decrypt."""

    def __init__(self, secret_keys: Sequence[bytes]) -> None:
        self._ciphers = {_key_id(each): AESGCM(_derived(each, "cipher")) for each in secret_keys}

    @property
    def ids(self) -> list[str]:
        return list(self._ciphers)

    def count_lost(self, encrypted: Iterable[str]) -> int:
        """How many of them need a key that is not here."""
        return sum(key_id_of(each) not in self._ciphers for each in encrypted)

    def is_lost(self, encrypted: str) -> bool:
        """Whether it needs a key that is not here: HONEYGUIDE_SECRET_KEY has changed."""
        return bool(encrypted) and self.count_lost([encrypted]) > 0

    def encrypt(self, text: str, *, row_id: str) -> str:
        if not self._ciphers:
            raise NoSecretKey
        key_id, cipher = next(iter(self._ciphers.items()))
        nonce = os.urandom(_NONCE)
        sealed = nonce + cipher.encrypt(nonce, text.encode(), row_id.encode())
        return f"{_VERSION}.{key_id}.{base64.b64encode(sealed).decode()}"

    def decrypt(self, encrypted: str, *, row_id: str) -> str:
        try:
            version, key_id, content = encrypted.split(".")
            sealed = base64.b64decode(content, validate=True)
            cipher = self._ciphers[key_id]
            if version != _VERSION:
                raise Undecryptable
            return cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], row_id.encode()).decode()
        except (ValueError, KeyError, InvalidTag):
            raise Undecryptable from None


def key_id_of(encrypted: str) -> str:
    """Which key an encrypted text needs."""
    return encrypted.split(".")[1]


def _derived(secret_key: bytes, purpose: str) -> bytes:
    """A key of its own for this purpose: the secret key itself also makes links and hashes."""
    info = f"honeyguide integrations {purpose}".encode()
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(secret_key)


def _key_id(secret_key: bytes) -> str:
    return _derived(secret_key, "id").hex()[:8]
