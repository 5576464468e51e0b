"""Signed documents: a JSON file that says who made it and when, with an Ed25519 signature over all
of it. Anybody can check one, without our database.

The file has exactly one form, byte for byte, so a single changed byte is found, even a space
between two fields. The signature shows that the holder of a key made the document. Whose key it
is, only its fingerprint can show, if it is known from elsewhere.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple, NoReturn

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Invalid

FORMAT = "honeyguide-document-1"
MOST_BYTES = 16 * 1024 * 1024
# JavaScript and others read larger whole numbers inexactly.
LARGEST_NUMBER = 2**53 - 1
MOST_LEVELS = 32
# What is signed begins with this, so that no signature can be taken for one of something else.
_PURPOSE = f"{FORMAT}\n".encode()
_TEXTS = ("fingerprint", "format", "issued_at", "issuer", "kind", "public_key", "signature")


class SignedDocument(NamedTuple):
    kind: str
    issuer: str
    """The base URL of the installation that made it, as it says itself."""
    issued_at: str
    fingerprint: str
    content: dict[str, Any]


class NotSigned(Invalid):
    code = "not_signed"

    def __init__(self, template: str, **values: Any) -> None:
        super().__init__(f"This is no signed document of Honeyguide: {template}", **values)


class ChangedDocument(Invalid):
    code = "changed"

    def __init__(self) -> None:
        super().__init__("This document was changed after it was signed. Do not rely on it.")


class OtherKey(Invalid):
    code = "other_key"

    def __init__(self, found: str) -> None:
        super().__init__(
            "This document was signed with another key, whose fingerprint is {found}.", found=found
        )


def sign(
    key: Ed25519PrivateKey, *, kind: str, issuer: str, issued_ms: int, content: Mapping[str, Any]
) -> bytes:
    """The whole file. Content is made of texts, whole numbers, true, false, null, lists and
    objects.
    """
    public_key = key.public_key().public_bytes_raw()
    fields: dict[str, Any] = {
        "content": content,
        "fingerprint": fingerprint(public_key),
        "format": FORMAT,
        "issued_at": iso(issued_ms),
        "issuer": issuer,
        "kind": kind,
        "public_key": encode_key(public_key),
    }
    _check_content(fields, MOST_LEVELS)
    signature = key.sign(_PURPOSE + _canonical(fields))
    file = _canonical(fields | {"signature": encode_key(signature)})
    if len(file) > MOST_BYTES:
        raise ValueError("A signed document is too large.")
    return file


def check(file: bytes, *, expected_fingerprint: str = "") -> SignedDocument:
    """What the document says, if nothing was changed since it was signed."""
    if len(file) > MOST_BYTES:
        raise NotSigned("it is larger than {most} MB.", most=MOST_BYTES // 1024**2)
    fields = _read(file)
    if _canonical(fields) != file:
        raise ChangedDocument
    signature, public_key = (decode_key(fields.pop(name)) for name in ("signature", "public_key"))
    fields["public_key"] = encode_key(public_key)
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(
            signature, _PURPOSE + _canonical(fields)
        )
    except (InvalidSignature, ValueError):
        raise ChangedDocument from None
    if fields["fingerprint"] != fingerprint(public_key):
        raise ChangedDocument
    if expected_fingerprint and expected_fingerprint != fields["fingerprint"]:
        raise OtherKey(fields["fingerprint"])
    return SignedDocument(**{name: fields[name] for name in SignedDocument._fields})


def fingerprint(public_key: bytes) -> str:
    """The thumbprint by RFC 7638, which other tools calculate as well."""
    parts = f'{{"crv":"Ed25519","kty":"OKP","x":"{encode_key(public_key)}"}}'
    return encode_key(sha256(parts.encode()).digest())


def encode_key(key: bytes) -> str:
    """As in a JSON Web Key: base64url without padding."""
    return base64.urlsafe_b64encode(key).decode().rstrip("=")


def decode_key(text: str) -> bytes:
    try:
        key = base64.b64decode(f"{text}{'=' * (-len(text) % 4)}", altchars=b"-_", validate=True)
    except ValueError:
        raise ChangedDocument from None
    if encode_key(key) != text:  # the last character can have bits that mean nothing
        raise ChangedDocument
    return key


def _canonical(fields: Mapping[str, Any]) -> bytes:
    """The one form: sorted, indented so that people can read it, ASCII."""
    return json.dumps(fields, sort_keys=True, indent=2).encode() + b"\n"


def _read(file: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(
            file.decode("ascii"),
            object_pairs_hook=_object_once,
            parse_float=_refuse_number,
            parse_constant=_refuse_number,
        )
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise NotSigned("it cannot be read, or was changed after it was signed.") from None
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise NotSigned("it has another format, or was changed after it was signed.")
    if fields.keys() != {*_TEXTS, "content"}:
        raise NotSigned("it has other fields, or was changed after it was signed.")
    if not all(isinstance(fields[name], str) for name in _TEXTS):
        raise NotSigned("a field that must be text is not.")
    if not isinstance(fields["content"], dict):
        raise NotSigned("its content is not an object.")
    try:
        _check_content(fields, MOST_LEVELS)
    except ValueError:
        raise NotSigned("its content has values that no signed document can have.") from None
    return fields


def _object_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Readers differ on which of two equal names counts, so there may not be two."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("A name occurs twice.")
    return found


def _refuse_number(text: str) -> NoReturn:
    raise ValueError("Numbers are whole: others are written differently by different programs.")


def _check_content(value: Any, levels: int) -> None:
    """Only what every program reads and writes alike."""
    if levels == 0:
        raise ValueError("The content is nested too deeply.")
    match value:
        case None | bool():
            pass
        case int() if abs(value) <= LARGEST_NUMBER:
            pass
        case str():
            value.encode()  # half of a surrogate pair cannot be shown or stored
        case list() | tuple():
            for each in value:
                _check_content(each, levels - 1)
        case dict():
            for name, each in value.items():
                if not isinstance(name, str):
                    raise ValueError("The name of a field must be text.")
                name.encode()
                _check_content(each, levels - 1)
        case _:
            raise ValueError("The content has a value that cannot be signed.")
