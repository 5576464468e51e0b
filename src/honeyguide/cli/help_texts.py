"""What typer prints as help, made easier to read."""

from __future__ import annotations

import inspect
import re

import typer
from typer.core import TyperGroup, TyperOption

_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")


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
