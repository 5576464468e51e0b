"""What an installation says of itself at `/.well-known/honeyguide`: where it is, and the public
keys that it signs documents with, as JSON Web Keys (RFC 8037).
"""

from __future__ import annotations

from typing import Any

from honeyguide.kernel.clock import iso
from honeyguide.moving import installation_key
from honeyguide.moving.installation_key import InstallationKey
from honeyguide.store import Store


class Introduction:
    def __init__(self, store: Store, base_url: str) -> None:
        self._store = store
        self._base_url = base_url

    async def read(self) -> dict[str, Any]:
        keys = await self._store.read(installation_key.list_all)
        return {"name": "Honeyguide", "url": self._base_url, "keys": [_jwk(key) for key in keys]}


def _jwk(key: InstallationKey) -> dict[str, Any]:
    return {
        "kty": "OKP",
        "crv": "Ed25519",
        "x": key.public_key,
        "kid": key.fingerprint,
        "use": "sig",
        "created_at": iso(key.created_ms),
        "retired_at": None if key.retired_ms is None else iso(key.retired_ms),
    }
