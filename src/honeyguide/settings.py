"""Settings are read once, at start: from the environment, else from the settings file. An invalid
setting stops the start with an error message.

Any value can also come from a file of its own: HONEYGUIDE_SECRET_KEY_FILE=/run/secrets/key.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import urlsplit

from honeyguide import settings_file
from honeyguide.settings_checks import (
    check_backups,
    check_contact,
    check_mail,
    check_networks,
    check_postgres,
    check_secret,
)
from honeyguide.settings_file import PREFIX, SettingsFile, WrongSetting

LEVELS = ("debug", "info", "warning", "error")


def setting(default: str | int | None, about: str) -> str:
    return cast(str, field(default=default, metadata={"about": about}))


@dataclass(frozen=True)
class Settings:
    database_url: str = setting(
        "sqlite:///var/honeyguide.db",
        "URL of the database: sqlite:///path or postgresql://user@host/name; the servers of a "
        "cluster with commas between: postgresql://user@db1,db2/name",
    )
    database_direct_url: str = setting(
        "",
        "URL of PostgreSQL itself, if DATABASE_URL leads to PgBouncer in transaction mode; "
        "default: DATABASE_URL",
    )
    replica_url: str = setting(
        "",
        "URL of a read replica of PostgreSQL, for Home, searches and exports; default: none",
    )
    host: str = setting("127.0.0.1", "IP address to listen on")
    port: int = setting("8000", "port to listen on")  # type: ignore[assignment]
    base_url: str = setting("", "public URL of the service; default: http://HOST:PORT")
    signup_page_host: str = setting(
        "", "URL that hosted signup pages are under; default: BASE_URL/join"
    )
    rate_limit: int = setting(
        "60", "API requests allowed per key in any 60 seconds; 0 turns the limit off"
    )  # type: ignore[assignment]
    max_webhooks: int = setting("100", "webhooks allowed per account")  # type: ignore[assignment]
    secret_key: str = setting(
        "",
        "key that secrets are encrypted with, at least 32 bytes in hex; several keys, newest "
        "first, with commas between, to change the key; "
        "default: generated once and stored in the database",
    )
    smtp_url: str = setting(
        "",
        "URL of the mail server: smtp://user:password@host:587, smtps://… or file:///folder; "
        "default: emails are only logged",
    )
    mail_from: str = setting("Honeyguide <honeyguide@localhost>", "sender of outgoing emails")
    security_contact: str = setting(
        "",
        "who is told of a security problem, in /.well-known/security.txt: an email address or an "
        "https URL; default: the address in MAIL_FROM",
    )
    webhook_allow: str = setting(
        "", "private IP ranges that webhooks may call, comma-separated: 10.1.0.0/16"
    )
    signups: str = setting(
        "invited", "who can create an account on the dashboard: open (anyone) or invited"
    )
    require_second_factor: str = setting(
        "no",
        "whether everybody who logs in needs a second factor: yes or no; needs SECRET_KEY",
    )
    mail_hosts: str = setting(
        "",
        "whether DNS is asked which server takes the mail of subscribers' domains: on or off; "
        "default: on, but off in an installation from before this setting",
    )
    logo_dir: str = setting("", "folder for uploaded logos; default: stored in the database")
    backup_url: str = setting(
        "",
        "where backups go: a folder, or s3://bucket/folder?endpoint=https://host&region=name; "
        "default: no automatic backups",
    )
    backup_access_key_id: str = setting(
        "", "access key of the bucket; default: AWS_ACCESS_KEY_ID or the machine's role"
    )
    backup_secret_access_key: str = setting(
        "", "secret of that access key; default: AWS_SECRET_ACCESS_KEY"
    )
    backup_interval: int = setting("24", "hours between two backups")  # type: ignore[assignment]
    backup_keep_days: int = setting("30", "days after which a backup is deleted")  # type: ignore[assignment]
    backup_age_recipient: str = setting(
        "", "public key (age1…) that age encrypts backups for; default: not encrypted"
    )
    change_log_keep_days: int = setting(  # type: ignore[assignment]
        "730", "days after which an entry of the change log is deleted"
    )
    keep_closed_years: int = setting(  # type: ignore[assignment]
        "10", "years for which the records of a closed account's money are kept"
    )
    test_clock: str = setting(
        "", "file with the seconds to add to the current time; only with a base URL on loopback"
    )
    trusted_proxies: str = setting(
        "",
        "proxies whose X-Forwarded-For is trusted: IP addresses or ranges, comma-separated; "
        "default: none",
    )
    pool_size: int = setting("10", "PostgreSQL connections per process, plus three for batches")  # type: ignore[assignment]
    log: str = setting("json", "access log on standard output: json or off")
    log_level: str = setting("info", f"least serious messages to log: {', '.join(LEVELS)}")

    @property
    def direct_url(self) -> str:
        """The database itself, for what PgBouncer cannot do: migrations, backups and checks."""
        return self.database_direct_url or self.database_url

    @property
    def secret_keys(self) -> list[bytes]:
        """Newest first. The first encrypts, and all decrypt. The last one also makes links and
        hashes, so that those stay valid when a new key is put in front."""
        return [bytes.fromhex(part) for part in self.secret_key.split(",") if part.strip()]

    @property
    def has_mail_server(self) -> bool:
        """Otherwise emails are written to a folder or to the log."""
        return self.smtp_url.lower().startswith("smtp")

    @property
    def on_loopback(self) -> bool:
        host = urlsplit(self.base_url).hostname or ""
        if host == "localhost" or host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


class Source(NamedTuple):
    """What a setting was set to, and where."""

    text: str
    origin: str  # for people: "environment", "line 3 of the file" or "default"


def find_file(environment: Mapping[str, str]) -> SettingsFile | None:
    """The settings file that this environment asks for, or the one in its usual place."""
    path = settings_file.find(environment)
    return None if path is None else settings_file.read(path, _file_names())


def _file_names() -> list[str]:
    names = [_name(item.name) for item in fields(Settings)]
    return [*names, *(f"{name}_FILE" for name in names)]


def _name(attribute: str) -> str:
    return PREFIX + attribute.upper()


def read(
    environment: Mapping[str, str],
    file: SettingsFile | None = None,
    **overrides: str | int | None,
) -> Settings:
    """The settings of this process; `overrides` are what the command line said."""
    values = {
        item.name: _source(item.name, str(item.default), environment, file).text
        for item in fields(Settings)
    }
    values.update({name: str(value) for name, value in overrides.items() if value is not None})
    return _checked(values)


def sources(environment: Mapping[str, str], file: SettingsFile | None) -> dict[str, Source]:
    """Each setting by its name in the environment, as it may be shown: without passwords."""
    found = {}
    for item in fields(Settings):
        source = _source(item.name, str(item.default), environment, file)
        found[_name(item.name)] = source._replace(text=without_secrets(item.name, source.text))
    return found


def without_secrets(name: str, value: str) -> str:
    """The value of a setting as it may be shown."""
    if re.search("secret|password|token", name, re.IGNORECASE):
        return "(hidden)" if value else ""
    value = re.sub(r"(?<=://)([^:@/]*):.*@", r"\1:…@", value)
    return re.sub(r"(password=)[^&]*", r"\1…", value)


def _source(
    attribute: str, default: str, environment: Mapping[str, str], file: SettingsFile | None
) -> Source:
    name, file_name = _name(attribute), f"{_name(attribute)}_FILE"
    if file_name in environment:
        return Source(_content(environment[file_name], file_name), file_name)
    if name in environment:
        return Source(environment[name].strip(), "environment")
    entries = file.entries if file else {}
    if file_name in entries:
        text = _content(entries[file_name].value, file_name)
        return Source(text, f"{file_name}, line {entries[file_name].line} of the file")
    if name in entries:
        return Source(entries[name].value.strip(), f"line {entries[name].line} of the file")
    return Source(default, "default")


def _content(path: str, file_name: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError as error:
        raise WrongSetting(
            f"The file in {file_name} cannot be read: {error.strerror}. "
            "Check its path and permissions."
        ) from None
    except UnicodeDecodeError:  # such as a key of raw bytes
        raise WrongSetting(
            f"The file in {file_name} is not text. Store the value as plain text."
        ) from None


def _checked(values: dict[str, str]) -> Settings:
    numbers = {
        "port": _number(values, "port", 0, 65_535),
        "rate_limit": _number(values, "rate_limit", 0, 10_000_000),
        "max_webhooks": _number(values, "max_webhooks", 1, 10_000),
        "backup_interval": _number(values, "backup_interval", 1, 720),
        "backup_keep_days": _number(values, "backup_keep_days", 1, 3_650),
        "change_log_keep_days": _number(values, "change_log_keep_days", 1, 3_650),
        "keep_closed_years": _number(values, "keep_closed_years", 1, 100),
        "pool_size": _number(values, "pool_size", 1, 500),
    }
    if not values["database_url"].startswith(("sqlite:///", "postgresql://", "postgres://")):
        raise WrongSetting("HONEYGUIDE_DATABASE_URL must start with sqlite:/// or postgresql://.")
    if values["database_url"] in (
        "sqlite:///",
        "sqlite:///:memory:",
    ):  # every connection would have a memory of its own
        raise WrongSetting(
            "HONEYGUIDE_DATABASE_URL has no file path. Use, for example, sqlite:///var/honeyguide.db."
        )
    for name in ("database_direct_url", "replica_url"):
        check_postgres(values, name)
    host = f"[{values['host']}]" if ":" in values["host"] else values["host"]
    shown = "127.0.0.1" if host in ("0.0.0.0", "[::]") else host
    values["base_url"] = _address(
        values["base_url"] or f"http://{shown}:{numbers['port']}", "BASE_URL"
    )
    values["signup_page_host"] = _address(
        values["signup_page_host"] or f"{values['base_url']}/join", "SIGNUP_PAGE_HOST"
    )
    for name, allowed in (
        ("signups", ("open", "invited")),
        ("require_second_factor", ("yes", "no")),
        ("mail_hosts", ("", "on", "off")),
        ("log", ("json", "off")),
        ("log_level", LEVELS),
    ):
        if values[name] not in allowed:
            raise WrongSetting(f"HONEYGUIDE_{name.upper()} must be {' or '.join(allowed)}.")
    check_networks(values, "webhook_allow", "10.1.0.0/16")
    if values["trusted_proxies"] != "*":
        check_networks(values, "trusted_proxies", "10.0.0.5 or 10.1.0.0/16")
    check_secret(values["secret_key"])
    if values["require_second_factor"] == "yes" and not values["secret_key"]:
        raise WrongSetting(
            "HONEYGUIDE_REQUIRE_SECOND_FACTOR needs HONEYGUIDE_SECRET_KEY, which second factors "
            "are encrypted with. Run `honeyguide init`, which writes one to the settings file."
        )
    check_mail(values["smtp_url"], values["mail_from"])
    check_contact(values["security_contact"])
    check_backups(values)
    settings = Settings(**{**values, **numbers})  # type: ignore[arg-type]
    if settings.test_clock and not settings.on_loopback:
        raise WrongSetting(
            "HONEYGUIDE_TEST_CLOCK works only with a HONEYGUIDE_BASE_URL on loopback, because a "
            "shifted clock would move real money. Unset it."
        )
    return settings


def _number(values: dict[str, str], name: str, least: int, most: int) -> int:
    text = values[name]
    if not (text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most):
        raise WrongSetting(
            f"HONEYGUIDE_{name.upper()} must be a whole number from {least} to {most}."
        )
    return int(text)


def _address(text: str, name: str) -> str:
    try:
        parts = urlsplit(text)
        whole = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and not parts.query
            and not parts.fragment
        )
        _ = parts.port
    except ValueError:
        whole = False
    if not whole:
        raise WrongSetting(f"HONEYGUIDE_{name} must be a URL such as https://refer.example.org.")
    return text.rstrip("/")


def reference() -> list[tuple[str, str, str]]:
    """Every setting with its default and purpose, for `honeyguide settings`."""
    return [
        (_name(item.name), str(item.default), str(item.metadata["about"]))
        for item in fields(Settings)
    ]
