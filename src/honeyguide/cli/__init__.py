"""The command line. Each command says what it did and what to do next; an error is one line on
stderr and a non-zero exit.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup, TyperOption

from honeyguide import __version__, logs
from honeyguide.cli import (
    accounts,
    backup,
    changes,
    copy,
    demo,
    doctor,
    documents,
    init,
    jobs,
    keys,
    mcp,
    money,
    move,
    restore,
    server,
    subscribers,
    verify,
)
from honeyguide.settings_file import IN_ETC, PATH_NAME

app = typer.Typer(
    help="Honeyguide runs newsletter referral and partner programs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
groups = (
    init,
    server,
    backup,
    restore,
    copy,
    demo,
    doctor,
    jobs,
    verify,
    subscribers,
    changes,
    documents,
    mcp,
)
for commands in (group.app for group in groups):
    app.add_typer(commands)
app.add_typer(accounts.account_app, name="account")
app.add_typer(keys.keys_app, name="keys")
app.add_typer(money.payouts_app, name="payouts")
app.add_typer(move.move_app, name="move")


_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")


def _show_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def choose_settings_file(
    settings: Annotated[
        Path | None,
        typer.Option(
            readable=False,  # a file that cannot be read gets our own error
            help="Settings file; HONEYGUIDE_SETTINGS in the environment means the same. "
            f"Otherwise honeyguide.env in the current folder, else {IN_ETC}.",
        ),
    ] = None,
    version: Annotated[
        bool,
        # Eager: it answers also where the settings are wrong.
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    if settings is not None:
        os.environ[PATH_NAME] = str(settings)


def main() -> None:
    # Databases, backups and exports have people's addresses in them: whatever a command writes is
    # for its user alone.
    os.umask(0o077)
    command = typer.main.get_command(app)
    assert isinstance(command, TyperGroup)
    make_readable(command)
    try:
        command(color=None if logs.allows_color() else False)
    except KeyboardInterrupt:
        sys.exit(130)
    except FileNotFoundError:
        if _has_current_folder():
            raise
        sys.exit("The current folder was deleted. Run the command in another folder.")


def _has_current_folder() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def make_readable(command: typer.core.TyperCommand | TyperGroup) -> None:
    """A docstring's lines are joined, so that no list breaks a sentence where the source does, and
    a flag has no type: whoever reads `--json <bool>` tries to give it a value.
    """
    if command.help:
        command.help = _LINE_BREAK.sub(" ", inspect.cleandoc(command.help))
    for parameter in command.get_params(typer.Context(command)):
        if isinstance(parameter, TyperOption) and parameter.is_flag:
            parameter.metavar = ""
    for each in command.commands.values() if isinstance(command, TyperGroup) else ():
        if isinstance(each, typer.core.TyperCommand | TyperGroup):
            make_readable(each)
