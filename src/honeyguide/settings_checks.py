"""Checks of settings whose text has a form: addresses, keys, IP ranges, places for backups."""

from __future__ import annotations

import ipaddress
from email.utils import parseaddr
from urllib.parse import urlsplit

import pyrage

from honeyguide.kernel.backup_urls import parse_backup_url
from honeyguide.kernel.errors import Invalid
from honeyguide.settings_file import PREFIX, WrongSetting


def check_postgres(values: dict[str, str], name: str) -> None:
    """A second way to the database of DATABASE_URL."""
    if not values[name]:
        return
    if not values[name].startswith(("postgresql://", "postgres://")):
        raise WrongSetting(f"{PREFIX}{name.upper()} must start with postgresql://.")
    if values["database_url"].startswith("sqlite:"):
        raise WrongSetting(
            f"{PREFIX}{name.upper()} works only with a HONEYGUIDE_DATABASE_URL that starts with "
            "postgresql:// too."
        )


def check_networks(values: dict[str, str], name: str, example: str) -> None:
    for network in filter(None, (part.strip() for part in values[name].split(","))):
        try:
            ipaddress.ip_network(network)
        except ValueError:
            raise WrongSetting(
                f"HONEYGUIDE_{name.upper()}: {network} is not an IP address or range "
                f"such as {example}."
            ) from None


def check_secret(text: str) -> None:
    try:
        long_enough = not text or all(len(bytes.fromhex(key)) >= 32 for key in text.split(","))
    except ValueError:
        long_enough = False
    if not long_enough:
        raise WrongSetting(
            "HONEYGUIDE_SECRET_KEY must be at least 64 hexadecimal digits; "
            "make one with `openssl rand -hex 32`."
        )


def check_mail(smtp_url: str, mail_from: str) -> None:
    try:
        parts = urlsplit(smtp_url)
        _ = parts.port
        whole = (
            bool(parts.hostname)
            if parts.scheme in ("smtp", "smtps")
            else parts.scheme == "file" and not parts.netloc
        )
        whole = (
            whole
            and (parts.scheme != "file" or len(parts.path) > 1)
            and not parts.query
            and not parts.fragment
        )
    except ValueError:
        whole = False
    if smtp_url and not whole:
        raise WrongSetting(
            "HONEYGUIDE_SMTP_URL must be a URL such as smtp://user:password@mail.example.org:587, "
            "smtps://… or file:///var/emails. In a user name or password, write %40 for @, %3A for "
            ":, %2F for /, %3F for ? and %23 for #."
        )
    local, _, domain = parseaddr(mail_from)[1].rpartition("@")
    if (
        not (local and domain and mail_from.isprintable() and f"{local}{domain}".isascii())
        or " " in f"{local}{domain}"
    ):
        raise WrongSetting(
            "HONEYGUIDE_MAIL_FROM must be a sender such as The Daily <hello@example.org>."
        )


def check_backups(values: dict[str, str]) -> None:
    if values["backup_url"]:
        try:
            parse_backup_url(values["backup_url"])
        except Invalid as wrong:
            raise WrongSetting(wrong.message_for("HONEYGUIDE_BACKUP_URL")) from None
    if bool(values["backup_access_key_id"]) != bool(values["backup_secret_access_key"]):
        raise WrongSetting(
            "Set both HONEYGUIDE_BACKUP_ACCESS_KEY_ID and HONEYGUIDE_BACKUP_SECRET_ACCESS_KEY, "
            "or neither."
        )
    if values["backup_age_recipient"]:
        try:
            pyrage.x25519.Recipient.from_str(values["backup_age_recipient"])
        except pyrage.RecipientError:
            raise WrongSetting(
                "HONEYGUIDE_BACKUP_AGE_RECIPIENT must be an age public key such as age1…; make a "
                "key pair with `age-keygen`. Never put the secret key here."
            ) from None


def check_contact(text: str) -> None:
    """Empty, an email address or an https URL, as RFC 9116 wants a contact."""
    local, _, domain = text.rpartition("@")
    try:
        is_url = text.startswith("https://") and bool(urlsplit(text).hostname)
    except ValueError:
        is_url = False
    is_plain = text.isascii() and text.isprintable() and " " not in text
    is_address = bool(local and domain) and parseaddr(text)[1] == text and "/" not in domain
    if text and not (is_plain and (is_url or is_address)):
        raise WrongSetting(
            "HONEYGUIDE_SECURITY_CONTACT must be an email address or a URL such as "
            "https://example.org/security."
        )
