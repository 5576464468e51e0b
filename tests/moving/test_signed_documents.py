"""Signed documents: whatever is changed in one is found, and what is no document is refused."""

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honeyguide.kernel.errors import Invalid
from honeyguide.moving import signed_documents
from honeyguide.moving.signed_documents import MOST_BYTES, MOST_LEVELS, check, fingerprint, sign

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
CONTENT = {"links": {"checked": 5_000, "broken": 0}, "finding": ["duplicate_code", None, True]}


def signed(content: dict[str, Any] | None = None, key: Ed25519PrivateKey = KEY) -> bytes:
    return sign(
        key,
        kind="move_certificate",
        issuer="https://refer.example.org",
        issued_ms=1_800_000_000_000,
        content=CONTENT if content is None else content,
    )


def forged(**changes: Any) -> bytes:
    """Changed, and written in our form again."""
    return json.dumps(json.loads(signed()) | changes, sort_keys=True, indent=2).encode() + b"\n"


def test_a_document_says_who_made_it_when_and_what() -> None:
    document = check(signed())
    assert document.kind == "move_certificate"
    assert document.issuer == "https://refer.example.org"
    assert document.issued_at == "2027-01-15T08:00:00.000Z"
    assert document.content == CONTENT
    assert document.fingerprint == fingerprint(KEY.public_key().public_bytes_raw())


def test_the_fingerprint_is_the_thumbprint_that_other_tools_calculate() -> None:
    """The example of RFC 8037, appendix A.3."""
    public_key = signed_documents.decode_key("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
    assert fingerprint(public_key) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def test_every_changed_missing_or_added_byte_is_found() -> None:
    file = signed()
    accepted = []
    for place, byte in enumerate(file):
        before, after = file[:place], file[place + 1 :]
        changed = [before + bytes([byte ^ bit]) + after for bit in (1, 32, 128)]
        for other in (*changed, before + after, before + b" " + file[place:], before):
            try:
                check(other)
            except Invalid:
                continue
            accepted.append(other)
    for other in (file + b"\n", file + file, b"\xef\xbb\xbf" + file, file.replace(b"\n", b"\r\n")):
        with pytest.raises(Invalid):
            check(other)
    assert accepted == []


# No halves of surrogate pairs, which nothing can store.
TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_any_content_comes_back_as_it_was(content: dict[str, Any]) -> None:
    assert check(signed(content)).content == content


@pytest.mark.parametrize(
    "change",
    [
        {"content": {"links": {"checked": 5_000, "broken": 1}}},
        {"issuer": "https://other.example.org"},
        {"issued_at": "2028-01-15T08:00:00.000Z"},
        {"kind": "receipt"},
        {"signature": ""},
        {"signature": "A" * 86},
        {"signature": "é"},
        {"public_key": ""},
        {"fingerprint": "x"},
    ],
)
def test_a_changed_field_is_found_also_in_our_own_form(change: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match="changed after it was signed"):
        check(forged(**change))


def test_a_document_under_another_key_is_not_taken_for_ours() -> None:
    other = Ed25519PrivateKey.generate()
    file = signed(key=other)
    own = fingerprint(KEY.public_key().public_bytes_raw())
    assert check(file).fingerprint != own
    assert check(signed(), expected_fingerprint=own).content == CONTENT
    with pytest.raises(Invalid, match="another key, whose fingerprint is"):
        check(file, expected_fingerprint=own)
    # Somebody else's signature under our name, or our fingerprint.
    theirs = json.loads(file)
    for names in (["signature"], ["signature", "public_key"]):
        with pytest.raises(Invalid):
            check(forged(**{name: theirs[name] for name in names}))


def test_nobody_signs_with_their_own_key_under_our_fingerprint() -> None:
    thief = Ed25519PrivateKey.generate()
    ours, fields = json.loads(signed()), json.loads(signed(key=thief))
    for claimed in (fields["fingerprint"], ours["fingerprint"]):
        del fields["signature"]
        fields["fingerprint"] = claimed
        text = json.dumps(fields, sort_keys=True, indent=2).encode() + b"\n"
        signature = thief.sign(b"honeyguide-document-1\n" + text)
        fields["signature"] = signed_documents.encode_key(signature)
        file = json.dumps(fields, sort_keys=True, indent=2).encode() + b"\n"
        if claimed != ours["fingerprint"]:
            assert check(file).fingerprint == claimed  # only the fingerprint makes it wrong
    with pytest.raises(Invalid, match="changed after it was signed"):
        check(file, expected_fingerprint=ours["fingerprint"])


DEEP = b"[" * 100_000


@pytest.mark.parametrize(
    "file",
    [
        b"",
        b"hello",
        b"{}",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"\x00" * 100,
        DEEP,
        b'{"a":' * 50_000,
        b"9" * 10_000,
        b"NaN",
        b'{"format": "honeyguide-document-1", "format": "honeyguide-document-1"}',
        signed().replace(b'"issuer"', b'"kind": "x",\n  "issuer"'),
        forged(content=[]),
        forged(content=None),
        forged(issuer=7),
        forged(signature=None),
        forged(extra=1),
        forged(format="honeyguide-document-2"),
        forged(content={"share": 0.5}),
        forged(content={"share": float("inf")}),
        forged(content={"many": 2**53}),
        forged(content={"text": "\ud800"}),
        forged(content={"\ud800": 1}),
        signed()[:-1] + b" " * MOST_BYTES,
    ],
)
def test_what_is_no_document_is_refused_in_a_sentence(file: bytes) -> None:
    with pytest.raises(Invalid, match="This is no signed document of Honeyguide: "):
        check(file)


def nested(levels: int) -> dict[str, Any]:
    return {} if levels == 0 else {"a": nested(levels - 1)}


@pytest.mark.parametrize(
    "content",
    [
        {"share": 0.5},
        {"many": 2**53},
        {"text": "\ud800"},
        {1: "a"},
        {"raw": b"a"},
        nested(MOST_LEVELS),
    ],
)
def test_what_others_could_not_read_alike_is_never_signed(content: dict[Any, Any]) -> None:
    with pytest.raises(ValueError):
        signed(content)
