"""Settings come from the environment, once, at start. Each says what it is for; a wrong one stops the start with a sentence.

A secret may also be given as a file: HONEYGUIDE_SECRET_KEY_FILE=/run/secrets/key.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from email.utils import parseaddr
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

PREFIX = "HONEYGUIDE_"


class WrongSetting(Exception):
    """One sentence that says which setting is wrong and how to mend it."""


def setting(default: str | int | None, about: str) -> str:
    return cast(str, field(default=default, metadata={"about": about}))


@dataclass(frozen=True)
class Settings:
    database_url: str = setting("sqlite:///var/honeyguide.db", "sqlite:///path or postgresql://user@host/name")
    host: str = setting("127.0.0.1", "address to listen on")
    port: int = setting("8000", "port to listen on")  # type: ignore[assignment]
    base_url: str = setting("", "public address of the service; default http://HOST:PORT")
    signup_page_host: str = setting("", "where hosted signup pages live; default BASE_URL/join")
    rate_limit: int = setting("60", "accepted requests per key in any 60 seconds; 0 is off")  # type: ignore[assignment]
    secret_key: str = setting("", "32 bytes or more in hex; default: made once and kept in the database")
    smtp_url: str = setting("", "smtp://user:password@host:587, smtps://… or file:///folder; default: letters are printed")
    mail_from: str = setting("Honeyguide <honeyguide@localhost>", "sender of letters")
    webhook_allow: str = setting("", "networks, comma separated, that webhooks may reach although private: 10.1.0.0/16")
    signups: str = setting("invited", "who may open an account on the dashboard: open or invited")
    logo_dir: str = setting("", "folder for uploaded logos; default: kept in the database")
    test_clock: str = setting("", "file holding seconds to add to now; only with a base URL on loopback")
    trusted_proxies: str = setting(
        "", "proxies whose X-Forwarded-For is believed: addresses or networks, comma separated; default none"
    )
    pool_size: int = setting("10", "PostgreSQL connections per process, besides three for batches")  # type: ignore[assignment]
    log: str = setting("json", "access log on standard output: json or off")

    @property
    def on_loopback(self) -> bool:
        host = urlsplit(self.base_url).hostname or ""
        if host == "localhost" or host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


def read(environment: Mapping[str, str], **overrides: str | int | None) -> Settings:
    """The settings of this process; `overrides` are what the command line said."""
    values: dict[str, str] = {}
    for item in fields(Settings):
        name = PREFIX + item.name.upper()
        file_name = f"{name}_FILE"
        if file_name in environment:
            try:
                values[item.name] = Path(environment[file_name]).read_text().strip()
            except OSError as error:
                raise WrongSetting(f"{file_name} cannot be read: {error.strerror}.") from None
            except UnicodeDecodeError:  # such as a key of raw bytes
                raise WrongSetting(f"{file_name} names a file that is not text.") from None
        elif name in environment:
            values[item.name] = environment[name].strip()
        else:
            values[item.name] = str(item.default)
    values.update({name: str(value) for name, value in overrides.items() if value is not None})
    return _checked(values)


def _checked(values: dict[str, str]) -> Settings:
    numbers = {
        "port": _number(values, "port", 0, 65_535),
        "rate_limit": _number(values, "rate_limit", 0, 10_000_000),
        "pool_size": _number(values, "pool_size", 1, 500),
    }
    if not values["database_url"].startswith(("sqlite:///", "postgresql://", "postgres://")):
        raise WrongSetting("HONEYGUIDE_DATABASE_URL must begin with sqlite:/// or postgresql://.")
    if values["database_url"] in ("sqlite:///", "sqlite:///:memory:"):  # every connection would have a memory of its own
        raise WrongSetting("HONEYGUIDE_DATABASE_URL names no file; write sqlite:///var/honeyguide.db.")
    host = f"[{values['host']}]" if ":" in values["host"] else values["host"]
    shown = "127.0.0.1" if host in ("0.0.0.0", "[::]") else host
    values["base_url"] = _address(values["base_url"] or f"http://{shown}:{numbers['port']}", "BASE_URL")
    values["signup_page_host"] = _address(values["signup_page_host"] or f"{values['base_url']}/join", "SIGNUP_PAGE_HOST")
    for name, allowed in (("signups", ("open", "invited")), ("log", ("json", "off"))):
        if values[name] not in allowed:
            raise WrongSetting(f"HONEYGUIDE_{name.upper()} must be {' or '.join(allowed)}.")
    _check_networks(values, "webhook_allow", "10.1.0.0/16")
    if values["trusted_proxies"] != "*":
        _check_networks(values, "trusted_proxies", "10.0.0.5 or 10.1.0.0/16")
    _check_secret(values["secret_key"])
    _check_mail(values["smtp_url"], values["mail_from"])
    settings = Settings(**{**values, **numbers})  # type: ignore[arg-type]
    if settings.test_clock and not settings.on_loopback:
        raise WrongSetting(
            "HONEYGUIDE_TEST_CLOCK is refused unless HONEYGUIDE_BASE_URL is on loopback: it would shift real money."
        )
    return settings


def _number(values: dict[str, str], name: str, least: int, most: int) -> int:
    text = values[name]
    if not (text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most):
        raise WrongSetting(f"HONEYGUIDE_{name.upper()} must be a whole number from {least} to {most}.")
    return int(text)


def _address(text: str, name: str) -> str:
    try:
        parts = urlsplit(text)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query and not parts.fragment
        _ = parts.port
    except ValueError:
        whole = False
    if not whole:
        raise WrongSetting(f"HONEYGUIDE_{name} must be an address such as https://refer.example.org.")
    return text.rstrip("/")


def _check_networks(values: dict[str, str], name: str, example: str) -> None:
    for network in filter(None, (part.strip() for part in values[name].split(","))):
        try:
            ipaddress.ip_network(network)
        except ValueError:
            raise WrongSetting(f"HONEYGUIDE_{name.upper()} holds {network}, which is no network such as {example}.") from None


def _check_secret(text: str) -> None:
    if not text:
        return
    try:
        long_enough = len(bytes.fromhex(text)) >= 32
    except ValueError:
        long_enough = False
    if not long_enough:
        raise WrongSetting(
            "HONEYGUIDE_SECRET_KEY must be at least 64 hexadecimal digits; make one with `openssl rand -hex 32`."
        )


def _check_mail(smtp_url: str, mail_from: str) -> None:
    try:
        parts = urlsplit(smtp_url)
        _ = parts.port
        whole = bool(parts.hostname) if parts.scheme in ("smtp", "smtps") else parts.scheme == "file" and not parts.netloc
        whole = whole and (parts.scheme != "file" or len(parts.path) > 1) and not parts.query and not parts.fragment
    except ValueError:
        whole = False
    if smtp_url and not whole:
        raise WrongSetting(
            "HONEYGUIDE_SMTP_URL must be an address such as smtp://user:password@mail.example.org:587, smtps://… or "
            "file:///var/letters; in a user name or password write %40 for @, %3A for :, %2F for /, %3F for ? and %23 for #."
        )
    local, _, domain = parseaddr(mail_from)[1].rpartition("@")
    if not (local and domain and mail_from.isprintable() and f"{local}{domain}".isascii()) or " " in f"{local}{domain}":
        raise WrongSetting("HONEYGUIDE_MAIL_FROM must be a sender such as The Daily <letters@example.org>.")


def reference() -> list[tuple[str, str, str]]:
    """Every setting with its default and meaning, for `honeyguide --help` and the docs."""
    return [(PREFIX + item.name.upper(), str(item.default), str(item.metadata["about"])) for item in fields(Settings)]
