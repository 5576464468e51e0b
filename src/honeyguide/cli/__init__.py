"""The command line. Each command says what it did and what to do next; an error is one line on
stderr and a non-zero exit.
"""

from __future__ import annotations

import sys

import typer

from honeyguide.cli import accounts, backup, demo, doctor, money, server, subscribers

app = typer.Typer(
    help="Honeyguide runs newsletter referral and partner programs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for commands in (server.app, backup.app, demo.app, doctor.app, money.app, subscribers.app):
    app.add_typer(commands)
app.add_typer(accounts.account_app, name="account")
app.add_typer(accounts.keys_app, name="keys")
app.add_typer(money.payouts_app, name="payouts")


def main() -> None:
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
