"""What `honeyguide init` says at its end: the commands that come next."""

from __future__ import annotations

import pwd
import shlex
from pathlib import Path
from urllib.parse import urlsplit

from honeyguide.cli import install
from honeyguide.cli.first_account import NewAccount
from honeyguide.settings import Settings
from honeyguide.settings_file import IN_ETC
from honeyguide.store import sqlite_path

EXAMPLE_HOST = "refer.example.org"


def text(
    chosen: Settings,
    path: Path,
    unit: Path,
    user: pwd.struct_passwd | None,
    account: NewAccount | None,
) -> str:
    parts = ["", "Next:", *_start(path, unit, user)]
    if chosen.trusted_proxies:
        parts += _proxy(urlsplit(chosen.base_url).hostname or "")
    parts += ["", f"  Log in at {chosen.base_url}/login" + _login(account)]
    command = _command(path)
    as_user = f"runuser -u {user.pw_name} -- " if user else ""
    parts += [
        "",
        "  Check the installation at any time:",
        f"    {as_user}{command} doctor",
    ]
    if sqlite_path(chosen.database_url) is not None:
        parts += [
            "",
            "  Move to PostgreSQL when one process is no longer enough:",
            f"    {as_user}{command} copy --to postgresql://user@host/name",
        ]
    return "\n".join(parts)


def _command(path: Path) -> str:
    """The command with its settings file, if it would not find that by itself."""
    option = "" if path in (IN_ETC, Path(path.name).absolute()) else f" --settings {_quoted(path)}"
    return f"{_quoted(install.command())}{option}"


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _start(path: Path, unit: Path, user: pwd.struct_passwd | None) -> list[str]:
    sudo = "" if user else "sudo "
    steps = [f"{sudo}systemctl daemon-reload", f"{sudo}systemctl enable --now honeyguide"]
    if unit.parent != install.UNITS_FOLDER:
        steps.insert(0, f"{sudo}cp {_quoted(unit)} {install.UNITS_FOLDER}/")
    lines = ["  Start it as a service:", *(f"    {step}" for step in steps)]
    if user is None:
        lines += ["  Or start it here:", f"    {_command(path)} serve"]
    return lines


def _proxy(host: str) -> list[str]:
    """Caddy needs the host name only; it gets the certificate by itself."""
    example = _quoted(install.TEMPLATES / "Caddyfile")
    return [
        "",
        "  Set up the proxy, here Caddy; for nginx there is nginx.conf in the same folder:",
        f"    sed 's/{EXAMPLE_HOST}/{host}/' {example} > /etc/caddy/Caddyfile",
        "    systemctl reload caddy",
    ]


def _login(account: NewAccount | None) -> str:
    if account is None:
        return "."
    if not account.is_generated:
        return f" as {account.email}."
    return f" as {account.email}\n  with the password {account.password} (it is not shown again)."
