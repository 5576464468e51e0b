"""`honeyguide account pause`, `resume` and `close`."""

from __future__ import annotations

from typing import Annotated

import typer

from honeyguide.account_life import closing, pausing
from honeyguide.accounts import accounts
from honeyguide.app import Services
from honeyguide.cli.base import write
from honeyguide.cli.keys import Account
from honeyguide.kernel import actors
from honeyguide.kernel.clock import iso
from honeyguide.store import Tx
from honeyguide.store.change import Change
from honeyguide.subscribers import campaigns

app = typer.Typer()


async def _change(tx: Tx, services: Services, email: str, command: str) -> Change:
    account = await accounts.get_named(tx, email)
    tenant = await campaigns.tenant_of(tx, account.id)
    return Change(tx, services.site, tenant, actors.command(command), services.clock())


@app.command("pause")
def account_pause(email: Account) -> None:
    """Pause an account: its members can only read, nobody can sign up, and nothing goes out."""
    write(_pause, email)
    typer.echo("Paused. Its owners get an email.")


async def _pause(tx: Tx, services: Services, email: str) -> None:
    await pausing.pause(await _change(tx, services, email, "account pause"))


@app.command("resume")
def account_resume(email: Account) -> None:
    """Resume a paused account. Everything goes on where it stopped."""
    write(_resume, email)
    typer.echo("Resumed. Its owners get an email.")


async def _resume(tx: Tx, services: Services, email: str) -> None:
    await pausing.resume(await _change(tx, services, email, "account resume"))


@app.command("close")
def account_close(
    email: Account,
    keep: Annotated[bool, typer.Option("--keep", help="Keep one that is being closed.")] = False,
) -> None:
    """Close an account after two weeks, in which its owners can keep it."""
    if keep:
        write(_keep, email)
        typer.echo("The account is kept. Its owners get an email.")
        return
    closes_ms = write(_close, email)
    typer.echo(f"The account closes at {iso(closes_ms)}. Its owners get an email.")


async def _close(tx: Tx, services: Services, email: str) -> int:
    return await closing.ask(await _change(tx, services, email, "account close"))


async def _keep(tx: Tx, services: Services, email: str) -> None:
    await closing.keep(await _change(tx, services, email, "account close"))
