"""The command line. Each command says what it did and what to do next; an error is one line on
stderr and a non-zero exit.
"""

from __future__ import annotations

import sys

import typer

from honeyguide.cli import accounts, backup, demo, doctor, jobs, money, server, subscribers

app = typer.Typer(
    help="Honeyguide runs newsletter referral and partner programs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
groups = (server, backup, demo, doctor, jobs, money, subscribers)
for commands in (group.app for group in groups):
    app.add_typer(commands)
app.add_typer(accounts.account_app, name="account")
app.add_typer(accounts.keys_app, name="keys")
app.add_typer(money.payouts_app, name="payouts")


def main() -> None:
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
