"""Signatures by the Standard Webhooks scheme: receivers can verify with any library who sent the
bytes, and when.
"""

from __future__ import annotations

import base64
import hmac
import secrets as randomness
from collections.abc import Sequence
from functools import lru_cache

import msgspec

PREFIX = "whsec_"
# Each adds a signature to a header that receivers bound.
MOST_OLD = 4


class OldSecret(msgspec.Struct, frozen=True):
    """One that was rotated away; deliveries are signed with it too until its time is over."""

    secret: str
    until_ms: int


_old_secrets = msgspec.json.Decoder(list[OldSecret]).decode


def valid_secrets(secret: str, old_secrets: str, now_ms: int) -> list[str]:
    """The present one first. `old_secrets` is the JSON that the webhook's row keeps."""
    if old_secrets == "[]":
        return [secret]
    return [secret, *(old.secret for old in _old_secrets(old_secrets) if old.until_ms > now_ms)]


def retire(secret: str, old_secrets: str, *, now_ms: int, until_ms: int) -> str:
    """The new list of old secrets, newest first; each keeps the end it was given."""
    still = [old for old in _old_secrets(old_secrets) if old.until_ms > now_ms]
    return msgspec.json.encode([OldSecret(secret, until_ms), *still][:MOST_OLD]).decode()


def new_secret() -> str:
    return PREFIX + base64.b64encode(randomness.token_bytes(32)).decode("ascii")


def sign(secrets: Sequence[str], message_id: str, timestamp_s: int, body: bytes) -> str:
    """One signature per secret, so that during a rotation a receiver can verify with either one."""
    signed = b"%s.%d.%s" % (message_id.encode("utf-8"), timestamp_s, body)
    return " ".join(
        [
            "v1," + base64.b64encode(hmac.digest(_key(secret), signed, "sha256")).decode("ascii")
            for secret in secrets
        ]
    )


@lru_cache(maxsize=1024)
def _key(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(PREFIX))
