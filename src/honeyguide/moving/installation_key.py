"""The Ed25519 key that this installation signs documents with. It is in the database, so it is in
every backup, and it is encrypted with the secret key, so a backup alone signs nothing.

Its public half stays when the key is replaced: we still know documents that we signed before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from honeyguide.accounts import accounts
from honeyguide.integrations.encryption import EncryptionKeys, Undecryptable
from honeyguide.kernel.errors import Fault
from honeyguide.kernel.ids import new_id
from honeyguide.moving.signed_documents import decode_key, encode_key, fingerprint
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class InstallationKey(NamedTuple):
    id: str
    public_key: str
    """base64url, as in a JSON Web Key."""
    private_key: str
    """Encrypted."""
    is_current: bool | None
    created_ms: int
    retired_ms: int | None

    @property
    def fingerprint(self) -> str:
        return fingerprint(decode_key(self.public_key))


class LostKey(Fault):
    code = "undecryptable"
    status = 400

    def __init__(self) -> None:
        super().__init__(
            "The signing key cannot be decrypted: HONEYGUIDE_SECRET_KEY has changed. Add the old "
            "secret key at its end, after a comma, or run `honeyguide key --replace`."
        )


_sql = beside(__file__, key=InstallationKey._fields)
_CURRENT = _sql.query("current", InstallationKey)
_LIST = _sql.query("list", InstallationKey)
_INSERT = _sql.command("insert")
_RETIRE = _sql.command("retire")


async def get_or_make(tx: Tx, secret_keys: Sequence[bytes]) -> Ed25519PrivateKey:
    """What to sign with. `secret_keys` are those of HONEYGUIDE_SECRET_KEY, which may be none."""
    keys = await _encryption_keys(tx, secret_keys)
    found = await tx.one(_CURRENT)
    if found is None:
        await _insert(tx, keys)
        found = await tx.one(_CURRENT)
        assert found is not None
    try:
        private_key = keys.decrypt(found.private_key, row_id=found.id)
    except Undecryptable:
        raise LostKey from None
    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private_key))


async def replace(tx: Tx, secret_keys: Sequence[bytes]) -> None:
    """Sign with a new key from now on. Documents signed with the old one can still be checked."""
    await tx.run(_RETIRE)
    await _insert(tx, await _encryption_keys(tx, secret_keys))


async def list_all(tx: Tx) -> list[InstallationKey]:
    """The newest first. None before the first one was needed."""
    return await tx.all(_LIST)


async def _encryption_keys(tx: Tx, secret_keys: Sequence[bytes]) -> EncryptionKeys:
    stored = await accounts.find_stored_secret(tx)
    if not (stored or secret_keys):
        stored = await accounts.instance_secret(tx)
    return encryption_keys(secret_keys, stored)


def encryption_keys(secret_keys: Sequence[bytes], stored: bytes | None) -> EncryptionKeys:
    """Also the secret that is in the database if the installation was first used without another:
    the key may have been encrypted with it.
    """
    return EncryptionKeys([*secret_keys, *([stored] if stored else [])])


async def _insert(tx: Tx, keys: EncryptionKeys) -> None:
    key, key_id = Ed25519PrivateKey.generate(), new_id()
    await tx.run(
        _INSERT,
        id=key_id,
        public_key=encode_key(key.public_key().public_bytes_raw()),
        private_key=keys.encrypt(key.private_bytes_raw().hex(), row_id=key_id),
    )
