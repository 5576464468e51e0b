"""Questions on the terminal: each answer is checked at once, and asked for again if it is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import typer

from honeyguide.cli.base import fail

# Returns what is wrong with an answer, or None.
Check = Callable[[str], str | None]


@dataclass(frozen=True)
class Questions:
    """`is_interactive` is False if nobody is there to answer: then defaults are taken, and a wrong
    value ends the command.
    """

    is_interactive: bool

    def ask(
        self, text: str, given: str | None, default: str, check: Check, *, shown: str | None = None
    ) -> str:
        """The value that was given, or the answer, which must pass the check. `shown` stands for a
        default with a password in it.
        """
        answer = given
        while True:
            if answer is None and self.is_interactive:
                offered = default if shown is None else shown
                answer = typer.prompt(text, default=offered, show_default=bool(offered))
                answer = default if answer == offered else answer
            value = (default if answer is None else answer).strip()
            wrong = check(value)
            if wrong is None:
                return value
            if not self.is_interactive:
                fail(wrong)
            typer.secho(wrong, err=True, fg=typer.colors.RED)
            answer = None

    def confirm(self, text: str) -> bool:
        return typer.confirm(text, default=True)

    def new_password(self, check: Check) -> str | None:
        """None if one is to be generated."""
        while self.is_interactive:
            password: str = typer.prompt(
                "Password (empty: generate one)",
                default="",
                show_default=False,
                hide_input=True,
                confirmation_prompt="Repeat the password",
            )
            wrong = check(password) if password else None
            if wrong is None:
                return password or None
            typer.secho(wrong, err=True, fg=typer.colors.RED)
        return None
