"""`honeyguide account`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from honeyguide.account_life import closing, pausing
from honeyguide.accounts import (
    accounts,
    email_proofs,
    keys,
    members,
    passwords,
    second_factors,
    users,
)
from honeyguide.app import Services
from honeyguide.cli.base import change_by, fail, read_settings, tenant_named, with_services, write
from honeyguide.cli.keys import Account
from honeyguide.kernel import actors
from honeyguide.kernel.clock import iso
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Tx
from honeyguide.store.change import Change

T = TypeVar("T")

account_app = typer.Typer(
    help="Create, pause and close accounts, and set passwords.", no_args_is_help=True
)

Email = Annotated[str, typer.Argument(help="Email address of a user.")]


@account_app.command("create")
def account_create(
    email: Email,
    name: Annotated[
        str | None, typer.Option(help="Name of the account and of its campaign.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
) -> None:
    """Create an account with its campaign and first API key. The key is shown only once."""
    made = write(_create_account, email, name)
    if as_json:
        typer.echo(json.dumps(made))
        return
    typer.echo(json.dumps(made, indent=2))
    base = read_settings().base_url
    subscribers = f"{base}/v1/campaigns/{made['campaign_uuid']}/subscribers"
    typer.secho(
        "\nSave the API key now; it is not shown again.\n"
        "To use the dashboard, set a password:\n"
        f"  honeyguide account password {shlex.quote(email)}\n"
        "To try the API, start `honeyguide serve` and run:\n"
        f"  curl -H 'X-Api-Key: {made['api_key']}' {subscribers}",
        err=True,
    )


async def _create_account(
    tx: Tx, services: Services, email: str, name: str | None
) -> dict[str, str]:
    address, now_ms = EmailAddress.parse(email), services.clock()
    made = await accounts.create(tx.at(now_ms), address, name=name)
    tenant = Tenant(made.account_id, made.campaign_id)
    change = change_by(tx, services, tenant, "account create")
    key = await keys.create(change, name="first key")
    return {"account_uuid": made.account_id, "campaign_uuid": made.campaign_id, "api_key": key}


@account_app.command("password")
def account_password(email: Email) -> None:
    """Set a new password for a user and log out all their sessions."""
    password = typer.prompt("New password", hide_input=True, confirmation_prompt=True)
    try:
        passwords.checked(password, email=email)
    except Invalid as fault:
        fail(fault.message)
    with_services(_set_password, email, password)
    typer.echo("Password changed. All sessions of this user are logged out.")


async def _set_password(services: Services, email: str, password: str) -> None:
    password_hash = await passwords.hashed(password)
    await services.store.write(_set_hash, services, email, password_hash)


async def _set_hash(tx: Tx, services: Services, email: str, password_hash: str) -> None:
    user = await users.find_by_email(tx, EmailAddress.parse(email))
    if user is None:
        raise Missing("Nobody logs in with {email}.", email=email)
    # Emails may not arrive, and whoever has a shell here lets in whom they want.
    await email_proofs.waive(tx, user.id)
    actor = actors.command("account password")
    await members.change_password(tx, services.site, actor, user.id, password_hash)


@account_app.command("reset-second-factor")
def account_reset_second_factor(email: Email) -> None:
    """Turn off the second factor of a user who has lost it. They get an email about it."""
    write(_reset_second_factor, email)
    typer.echo("Second factor turned off. The password alone is enough until they set up another.")


async def _reset_second_factor(tx: Tx, services: Services, email: str) -> None:
    actor = actors.command("account reset-second-factor")
    await second_factors.reset(tx, services.site, actor, EmailAddress.parse(email))


@account_app.command("pause")
def account_pause(email: Account) -> None:
    """Pause an account: its members can only read, nobody can sign up, and nothing goes out."""
    write(_change, email, "account pause", pausing.pause)
    typer.echo("Paused. Its owners get an email.")


async def _change(
    tx: Tx, services: Services, email: str, command: str, make: Callable[[Change], Awaitable[T]]
) -> T:
    return await make(change_by(tx, services, await tenant_named(tx, email), command))


@account_app.command("resume")
def account_resume(email: Account) -> None:
    """Resume a paused account. Everything goes on where it stopped."""
    write(_change, email, "account resume", pausing.resume)
    typer.echo("Resumed. Its owners get an email.")


@account_app.command("close")
def account_close(
    email: Account,
    keep: Annotated[bool, typer.Option("--keep", help="Keep one that is being closed.")] = False,
) -> None:
    """Close an account after two weeks, in which its owners can keep it."""
    if keep:
        write(_change, email, "account close", closing.keep)
        typer.echo("The account is kept. Its owners get an email.")
        return
    closes_ms = write(_change, email, "account close", closing.ask)
    typer.echo(f"The account closes at {iso(closes_ms)}. Its owners get an email.")
