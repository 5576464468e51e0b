"""Signatures by the Standard Webhooks scheme: a receiver proves with a stock library who sent the bytes, and when."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets as randomness
from collections.abc import Sequence

PREFIX = "whsec_"


def new_secret() -> str:
    return PREFIX + base64.b64encode(randomness.token_bytes(32)).decode("ascii")


def sign(secrets: Sequence[str], message_id: str, timestamp_s: int, body: bytes) -> str:
    """One signature per secret, so that a receiver holding either the old or the new one verifies during a rotation."""
    signed = b"%s.%d.%s" % (message_id.encode("utf-8"), timestamp_s, body)
    return " ".join(_one(secret, signed) for secret in secrets)


def _one(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode("ascii")
