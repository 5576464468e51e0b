"""Whether the secret key is there, and the one that everything stored was encrypted with."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.moving.installation_key import encryption_keys
from honeyguide.operating.doctor.results import CheckResult, ok, problem, warning
from honeyguide.settings import Settings


def secret_key(
    settings: Settings,
    stored: bytes | None,
    encrypted: Sequence[str] = (),
    encrypted_slack_urls: Sequence[str] = (),
    encrypted_signing_keys: Sequence[str] = (),
    encrypted_second_factors: Sequence[str] = (),
) -> CheckResult:
    """`encrypted` are the keys of email platforms."""
    keys = EncryptionKeys(settings.secret_keys)
    signing = encryption_keys(settings.secret_keys, stored)
    names = [
        *_named(keys.count_lost(encrypted), "the keys of {n} integration"),
        *_named(keys.count_lost(encrypted_slack_urls), "{n} Slack URL"),
        *_named(keys.count_lost(encrypted_second_factors), "{n} second factor"),
        *(["the signing key"] if signing.count_lost(encrypted_signing_keys) else []),
    ]
    if names:
        sentence = " and ".join(names)
        return problem(
            "secret_key",
            f"{sentence[:1].upper()}{sentence[1:]} cannot be decrypted, "
            "because HONEYGUIDE_SECRET_KEY is not the one they were encrypted with.",
            "Add the old key at the end of HONEYGUIDE_SECRET_KEY, after a comma.",
        )
    if not settings.secret_key:
        return warning(
            "secret_key",
            "The secret key is kept in the database, so every backup contains it.",
            "Run `honeyguide init`: it writes the same key to the settings file.",
        )
    if stored is not None and stored != settings.secret_keys[-1]:
        return warning(
            "secret_key",
            "HONEYGUIDE_SECRET_KEY is not the key that this database was first used with. "
            "Referral pages made with that key no longer open.",
            "If this is a mistake, remove HONEYGUIDE_SECRET_KEY and run `honeyguide init`.",
        )
    return ok("secret_key", "Kept outside the database")


def _named(lost: int, one: str) -> list[str]:
    return [f"{one.format(n=lost)}{'' if lost == 1 else 's'}"] if lost else []
