"""`honeyguide account` and `honeyguide keys`."""

from __future__ import annotations

import json
import shlex
from typing import Annotated

import typer

from honeyguide.accounts import accounts, keys, members, passwords, users
from honeyguide.app import Services
from honeyguide.cli.base import fail, read, read_settings, with_services, write
from honeyguide.kernel import actors
from honeyguide.kernel.clock import iso
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.tenant import Tenant
from honeyguide.referrals import campaigns
from honeyguide.store import Tx
from honeyguide.store.change import Change

account_app = typer.Typer(help="Create accounts and set their passwords.", no_args_is_help=True)
keys_app = typer.Typer(help="Create, list and revoke API keys.", no_args_is_help=True)

Email = Annotated[str, typer.Argument(help="Email address of a user.")]
Account = Annotated[
    str, typer.Argument(metavar="EMAIL", help="Email address of the account's owner, or its ID.")
]


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
    now_ms = services.clock()
    made = await accounts.create(tx, EmailAddress.parse(email), name=name, now_ms=now_ms)
    tenant = Tenant(made.account_id, made.campaign_id)
    change = Change(tx, services.site, tenant, actors.command("account create"), now_ms)
    key = await keys.create(change, name="first key")
    return {"account_uuid": made.account_id, "campaign_uuid": made.campaign_id, "api_key": key}


async def _change(tx: Tx, services: Services, account_id: str, command: str) -> Change:
    tenant = await campaigns.tenant_of(tx, account_id)
    return Change(tx, services.site, tenant, actors.command(command), services.clock())


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
    actor = actors.command("account password")
    await members.change_password(
        tx, services.site, actor, user.id, password_hash, now_ms=services.clock()
    )


@keys_app.command("create")
def keys_create(
    email: Account, name: Annotated[str, typer.Option(help="What the key is for.")] = "key"
) -> None:
    """Create another API key for an account. The key is shown only once."""
    typer.echo(write(_create_key, email, name))
    typer.echo("Save this key now; it is not shown again.", err=True)


async def _create_key(tx: Tx, services: Services, email: str, name: str) -> str:
    account = await accounts.get_named(tx, email)
    return await keys.create(await _change(tx, services, account.id, "keys create"), name=name)


@keys_app.command("list")
def keys_list(email: Account) -> None:
    """List an account's API keys with their state, last use and name."""
    listed = read(_list_keys, email)
    if not listed:
        typer.echo(
            f"No keys yet. Create one with: honeyguide keys create {shlex.quote(email)}", err=True
        )
    for key in listed:
        used = f"last used {iso(key.last_used_ms)}" if key.last_used_ms else "never used"
        state = f"revoked {iso(key.revoked_ms)}" if key.revoked_ms else "active"
        typer.echo(f"{key.id}  {key.prefix}…  {state}  {used}  {key.name}")


async def _list_keys(tx: Tx, email: str) -> list[keys.Key]:
    return await keys.of_account(tx, (await accounts.get_named(tx, email)).id)


@keys_app.command("revoke")
def keys_revoke(
    key: Annotated[str, typer.Argument(help="ID or prefix of the key, as `keys list` shows it.")],
) -> None:
    """Revoke an API key, effective from the next request."""
    write(_revoke_key, key)
    typer.echo("Key revoked. It is refused from the next request on.")


async def _revoke_key(tx: Tx, services: Services, shown: str) -> None:
    account_id, key_id = await keys.find_by_shown(tx, shown)
    await keys.revoke(await _change(tx, services, account_id, "keys revoke"), key_id)
