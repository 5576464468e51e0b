"""`honeyguide keys`."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from honeyguide.accounts import accounts, keys
from honeyguide.accounts.key_states import (
    MOST_DAYS,
    MOST_OVERLAP_MS,
    Key,
    KeyState,
    expires_in_days,
)
from honeyguide.accounts.permissions import ALL_SCOPES, SCOPES
from honeyguide.app import Services
from honeyguide.cli.base import change_by, current_ms, read, tenant_named, write
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, iso
from honeyguide.store import Tx
from honeyguide.subscribers import campaigns

keys_app = typer.Typer(help="Create, list, rotate and revoke API keys.", no_args_is_help=True)

Account = Annotated[
    str, typer.Argument(metavar="EMAIL", help="Email address of the account's owner, or its ID.")
]
ShownKey = Annotated[str, typer.Argument(help="ID or prefix of the key, as `keys list` shows it.")]


@keys_app.command("create")
def keys_create(
    email: Account,
    name: Annotated[str, typer.Option(help="What the key is for.")] = "key",
    scope: Annotated[
        list[str] | None,
        typer.Option(help=f"What it may do, repeatable: {', '.join(SCOPES)}. Without: all."),
    ] = None,
    expires_days: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_DAYS, help="Days until it expires. Without: never."),
    ] = None,
) -> None:
    """Create another API key for an account. The key is shown only once."""
    typer.echo(write(_create, email, name, scope, expires_days))
    typer.echo("Save this key now; it is not shown again.", err=True)


async def _create(
    tx: Tx,
    services: Services,
    email: str,
    name: str,
    scopes: list[str] | None,
    expires_days: int | None,
) -> str:
    change = change_by(tx, services, await tenant_named(tx, email), "keys create")
    expires_ms = None if expires_days is None else expires_in_days(expires_days, change.now_ms)
    return await keys.create(change, name=name, scopes=scopes or None, expires_ms=expires_ms)


@keys_app.command("list")
def keys_list(email: Account) -> None:
    """List an account's API keys with their state, last use, scopes and name."""
    listed, now_ms = read(_list, email), current_ms()
    if not listed:
        typer.echo(
            f"No keys yet. Create one with: honeyguide keys create {shlex.quote(email)}", err=True
        )
    for key in listed:
        used = f"last used {iso(key.last_used_ms)}" if key.last_used_ms else "never used"
        scopes = (key.scopes or ALL_SCOPES).replace(" ", ",")
        state = describe_state(key, now_ms)
        typer.echo(f"{key.id}  {key.prefix}…  {state}  {used}  scopes {scopes}  {key.name}")


def describe_state(key: Key, now_ms: int) -> str:
    state = key.state(now_ms)
    if key.revoked_ms is not None:
        return f"{state} {iso(key.revoked_ms)}"
    if key.expires_ms is None:
        return state
    if state is KeyState.EXPIRED:
        return f"{state} {iso(key.expires_ms)}"
    if state is KeyState.REPLACED:
        return f"{state} until {iso(key.expires_ms)}"
    return f"active until {iso(key.expires_ms)}"


async def _list(tx: Tx, email: str) -> list[Key]:
    return await keys.of_account(tx, (await accounts.get_named(tx, email)).id)


@keys_app.command("rotate")
def keys_rotate(
    key: ShownKey,
    overlap_hours: Annotated[
        int,
        typer.Option(
            min=0, max=MOST_OVERLAP_MS // HOUR_MS, help="How long the old key still works."
        ),
    ] = DAY_MS // HOUR_MS,
) -> None:
    """Replace an API key by a new one with the same name and scopes, which is shown only once."""
    typer.echo(write(_rotate, key, overlap_hours))
    until = f"for another {overlap_hours} hours" if overlap_hours else "no longer"
    typer.echo(f"Save this key now; it is not shown again. The old key works {until}.", err=True)


async def _rotate(tx: Tx, services: Services, shown: str, overlap_hours: int) -> str:
    account_id, key_id = await keys.find_by_shown(tx, shown)
    tenant = await campaigns.tenant_of(tx, account_id)
    change = change_by(tx, services, tenant, "keys rotate")
    return await keys.rotate(change, key_id, overlap_ms=overlap_hours * HOUR_MS)


@keys_app.command("revoke")
def keys_revoke(key: ShownKey) -> None:
    """Revoke an API key, effective from the next request."""
    write(_revoke, key)
    typer.echo("Key revoked. It is refused from the next request on.")


async def _revoke(tx: Tx, services: Services, shown: str) -> None:
    account_id, key_id = await keys.find_by_shown(tx, shown)
    tenant = await campaigns.tenant_of(tx, account_id)
    await keys.revoke(change_by(tx, services, tenant, "keys revoke"), key_id)
