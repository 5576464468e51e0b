"""What all commands share: settings, the opened services, errors, and output."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Concatenate, NoReturn, ParamSpec, TextIO, TypeVar

import typer
import uvloop
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn

from honeyguide import logs, settings
from honeyguide.accounts import accounts
from honeyguide.app import Services, clock_of, opened
from honeyguide.kernel import actors
from honeyguide.kernel.errors import Fault
from honeyguide.kernel.tenant import Tenant
from honeyguide.settings import Settings
from honeyguide.settings_file import PREFIX, SettingsFile, WrongSetting
from honeyguide.store import sqlite_path
from honeyguide.store.change import Change, changes
from honeyguide.store.reading import Reading, reads
from honeyguide.store.tx import Tx, Unit
from honeyguide.subscribers import campaigns

log = logging.getLogger("honeyguide")

P = ParamSpec("P")
T = TypeVar("T")


def fail(sentence: str) -> NoReturn:
    """One line on stderr: a log line in commands that keep running."""
    if logs.is_configured():
        log.error("%s", sentence)
    else:
        typer.secho(sentence, err=True, fg=typer.colors.RED)
    raise typer.Exit(1)


def find_settings_file() -> SettingsFile | None:
    """The settings file. Its other names, such as PGSSLROOTCERT, are put into the environment, as
    systemd does.
    """
    try:
        file = settings.find_file(os.environ)
    except WrongSetting as wrong:
        fail(str(wrong))
    for name, value in file.values.items() if file else ():
        if not name.startswith(PREFIX):
            os.environ.setdefault(name, value)
    return file


def read_settings(**overrides: str | int | None) -> Settings:
    try:
        return settings.read(os.environ, find_settings_file(), **overrides)
    except WrongSetting as wrong:
        fail(str(wrong))


def with_services(
    work: Callable[Concatenate[Services, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Open the store and the other services, and run `work(services, *args, **kwargs)`."""
    try:
        return uvloop.run(_open_and_run(work, *args, **kwargs))
    except Fault as fault:
        fail(fault.message)


def with_existing_services(
    work: Callable[Concatenate[Services, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs
) -> T:
    """As `with_services`, where there is a database. Money must not look in order because the
    address is mistyped and a new, empty database was opened."""
    file = sqlite_path(read_settings().database_url)
    if file is not None and not os.path.lexists(file):
        fail(f"There is no database at {file}. Check HONEYGUIDE_DATABASE_URL.")
    return with_services(work, *args, **kwargs)


async def _open_and_run(
    work: Callable[Concatenate[Services, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs
) -> T:
    async with opened(read_settings()) as services:
        return await work(services, *args, **kwargs)


def read(unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run one unit of work that only reads."""
    return with_services(lambda services: services.store.read(unit, *args, **kwargs))


def write(
    unit: Callable[Concatenate[Tx, Services, P], Awaitable[T]],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Run one unit of work in a transaction. It gets the services too, for the changes it makes."""
    return with_services(lambda services: services.store.write(unit, services, *args, **kwargs))


async def tenant_named(tx: Tx, email: str) -> Tenant:
    """The account with this address of its owner, or with this ID."""
    return await campaigns.tenant_of(tx, (await accounts.get_named(tx, email)).id)


def change_by(tx: Tx, services: Services, tenant: Tenant, command: str) -> Change:
    """A change that this command makes."""
    return Change(tx, services.site, tenant, actors.command(command), services.clock())


async def read_of(
    services: Services,
    tenant: Tenant,
    unit: Callable[Concatenate[Reading, P], Awaitable[T]],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """What one unit of work reads of an account."""
    work = reads(unit, services.site, tenant, services.clock())
    return await services.store.read(work, *args, **kwargs)


async def write_of(
    services: Services,
    tenant: Tenant,
    command: str,
    unit: Callable[Concatenate[Change, P], Awaitable[T]],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """One change to an account that this command makes."""
    work = changes(unit, services.site, tenant, actors.command(command), services.clock())
    return await services.store.write(work, *args, **kwargs)


def current_ms() -> int:
    """The time by the installation's clock, which a test clock may have moved."""
    return clock_of(read_settings())()


def utf8_stdout() -> TextIO:
    """Standard output for the text of a file: UTF-8 in every locale, line ends as written."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="")
    return sys.stdout


def progress(time: ProgressColumn, *, transient: bool) -> Progress:
    """A progress bar on stderr, and only on a terminal: stdout may be a file."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        time,
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=transient,
    )


def counted(counts: Mapping[str, int]) -> str:
    """How many of each, without those of which there are none."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
