"""`honeyguide changes`: who changed what in an account, and when."""

from __future__ import annotations

import json
from typing import Annotated, Any, NamedTuple

import typer

from honeyguide.accounts import accounts, keys, members
from honeyguide.cli.base import read
from honeyguide.events import change_log
from honeyguide.events.change_log import LoggedChange
from honeyguide.kernel.actors import ActorKind
from honeyguide.kernel.clock import iso
from honeyguide.store import Tx

app = typer.Typer()

MOST = 10_000


class _Found(NamedTuple):
    member_names: dict[str, str]
    entries: list[LoggedChange]
    key_names: dict[str, str]


@app.command()
def changes(
    account: Annotated[str, typer.Option(help="Email address of the account.")],
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="At most so many changes.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List who changed settings, decided referrals and moved money in an account, newest first."""
    found = read(_find, account, limit)
    if as_json:
        typer.echo(json.dumps([_row(each) for each in found.entries], indent=2))
        return
    if not found.entries:
        typer.echo("No changes are logged for this account.", err=True)
    for each in found.entries:
        line = f"{iso(each.changed_ms)}  {_actor(found, each)}  {each.action} {each.subject_id}"
        typer.echo("  ".join([line, *_differences(each)]))


async def _find(tx: Tx, email: str, limit: int) -> _Found:
    account = await accounts.get_named(tx, email)
    joined = await members.of_account(tx, account.id, now_ms=0)
    return _Found(
        {each.user_id: each.shown_name for each in joined},
        await change_log.of_account(tx, account.id, most=limit),
        {key.id: key.name for key in await keys.of_account(tx, account.id)},
    )


def _actor(found: _Found, entry: LoggedChange) -> str:
    match ActorKind(entry.actor_kind):
        case ActorKind.MEMBER if name := found.member_names.get(entry.actor_id):
            return f"by {name} on the dashboard"
        case ActorKind.MEMBER:
            return f"by member {entry.actor_id}" if entry.actor_id else "by a link in an email"
        case ActorKind.API_KEY:
            return f"with API key {json.dumps(found.key_names.get(entry.actor_id, '?'))}"
        case ActorKind.JOB:
            return f"by the job “{entry.actor_id}”"
        case ActorKind.COMMAND_LINE:
            return f"by `honeyguide {entry.actor_id}`"
        case ActorKind.SUBSCRIBER:
            return f"by subscriber {entry.actor_id}"


def _differences(entry: LoggedChange) -> list[str]:
    """As JSON, which escapes what a terminal would take as a command."""
    before, after = entry.differences
    names = dict.fromkeys([*(before or {}), *(after or {})])
    return [f"{name}: {_side(before, name)} -> {_side(after, name)}" for name in names]


def _side(values: dict[str, Any] | None, name: str) -> str:
    return "nothing" if values is None else json.dumps(values.get(name))


def _row(entry: LoggedChange) -> dict[str, Any]:
    before, after = entry.differences
    return {
        "changed_at": iso(entry.changed_ms),
        "actor_kind": entry.actor_kind,
        "actor": entry.actor_id,
        "action": entry.action,
        "subject": entry.subject_id,
        "before": before,
        "after": after,
    }
