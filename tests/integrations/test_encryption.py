"""The keys of email platforms are stored encrypted: only with a key from outside the database, and
only in their own row, can they be read again.
"""

import pytest

from honeyguide.integrations.encryption import (
    EncryptionKeys,
    NoSecretKey,
    Undecryptable,
    key_id_of,
)
from honeyguide.settings import Settings

OLD, NEW = b"\xab" * 32, b"\xcd" * 32


def test_a_secret_is_read_again_in_its_own_row_only() -> None:
    keys = EncryptionKeys([OLD])
    encrypted = keys.encrypt("key-123", row_id="row 1")
    assert "key-123" not in encrypted
    assert encrypted != keys.encrypt("key-123", row_id="row 1")  # a new nonce each time
    assert keys.decrypt(encrypted, row_id="row 1") == "key-123"
    with pytest.raises(Undecryptable):
        keys.decrypt(encrypted, row_id="row 2")


def test_a_changed_text_is_refused() -> None:
    keys = EncryptionKeys([OLD])
    encrypted = keys.encrypt("key-123", row_id="row")
    version, key_id, content = encrypted.split(".")
    flipped = content[:20] + ("A" if content[20] != "A" else "B") + content[21:]
    for wrong in (f"{version}.{key_id}.{flipped}", f"9.{key_id}.{content}", "nonsense", ""):
        with pytest.raises(Undecryptable):
            keys.decrypt(wrong, row_id="row")


def test_a_new_key_in_front_encrypts_and_the_old_one_still_decrypts() -> None:
    old = EncryptionKeys([OLD])
    encrypted = old.encrypt("key-123", row_id="row")
    both = EncryptionKeys([NEW, OLD])
    assert both.decrypt(encrypted, row_id="row") == "key-123"
    again = both.encrypt("key-123", row_id="row")
    assert key_id_of(again) == both.ids[0] != key_id_of(encrypted) == both.ids[1]
    with pytest.raises(Undecryptable, match="HONEYGUIDE_SECRET_KEY has changed"):
        old.decrypt(again, row_id="row")


def test_without_a_key_nothing_is_encrypted() -> None:
    with pytest.raises(NoSecretKey, match="Set HONEYGUIDE_SECRET_KEY"):
        EncryptionKeys(Settings().secret_keys).encrypt("key-123", row_id="row")


def test_the_setting_takes_several_keys_newest_first() -> None:
    assert Settings(secret_key=f"{NEW.hex()},{OLD.hex()}").secret_keys == [NEW, OLD]
