"""`honeyguide changes`: who changed what in an account, and when."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, NamedTuple

import typer

from honeyguide.accounts import accounts, keys, members
from honeyguide.cli.base import read
from honeyguide.events import change_search
from honeyguide.events.change_log import LoggedChange
from honeyguide.events.change_search import ChangeFilter, LogPlace
from honeyguide.events.logged_actions import ChangeGroup
from honeyguide.kernel.actors import ActorKind
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Missing
from honeyguide.store import Tx

app = typer.Typer()

MOST = 10_000
DAYS = ["%Y-%m-%d"]


class _Found(NamedTuple):
    member_names: dict[str, str]
    entries: list[LoggedChange]
    key_names: dict[str, str]


@app.command()
def changes(
    account: Annotated[str, typer.Option(help="Email address of the account.")],
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="At most so many changes.")] = 50,
    kind: Annotated[ActorKind | None, typer.Option(help="Only by this kind of actor.")] = None,
    by: Annotated[
        str, typer.Option(help="Only by this member (email address) or API key (name).")
    ] = "",
    about: Annotated[ChangeGroup | None, typer.Option(help="Only about this.")] = None,
    search: Annotated[
        str, typer.Option(help="Only with this text in the action, the subject or a value.")
    ] = "",
    first: Annotated[
        datetime | None,
        typer.Option("--from", formats=DAYS, help="The first day (UTC), as YYYY-MM-DD."),
    ] = None,
    last: Annotated[
        datetime | None,
        typer.Option("--to", formats=DAYS, help="The last day (UTC), as YYYY-MM-DD."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List who changed settings, decided referrals and moved money in an account, newest first."""
    filters = ChangeFilter(actor_kind=kind or "", group=about, text=search)
    if first:
        filters = filters._replace(since_ms=_start_ms(first))
    if last:
        filters = filters._replace(until_ms=_start_ms(last + timedelta(days=1)))
    found = read(_find, account, filters, by, limit)
    if as_json:
        typer.echo(json.dumps([_row(each) for each in found.entries], indent=2))
        return
    if not found.entries:
        typer.echo("No such changes are logged for this account.", err=True)
    for each in found.entries:
        line = f"{iso(each.changed_ms)}  {_actor(found, each)}  {each.action} {each.subject_id}"
        typer.echo("  ".join([line, *_differences(each)]))


def _start_ms(day: datetime) -> int:
    return round(day.replace(tzinfo=UTC).timestamp() * 1000)


async def _find(tx: Tx, email: str, filters: ChangeFilter, by: str, limit: int) -> _Found:
    account = await accounts.get_named(tx, email)
    joined = await members.of_account(tx.at(0), account.id)
    key_names = {key.id: key.name for key in await keys.of_account(tx, account.id)}
    if by:
        ids = [each.user_id for each in joined if by in (each.email, each.user_id)]
        ids += [key_id for key_id, name in key_names.items() if by in (name, key_id)]
        if not ids:
            raise Missing("{by} is neither a member nor an API key of this account.", by=by)
        filters = filters._replace(actor_id=ids[0])
    entries: list[LoggedChange] = []
    after: LogPlace | None = None
    while len(entries) < limit:
        most = limit - len(entries)
        found = await change_search.find(tx, account.id, filters, after=after, most=most)
        entries += found.entries
        after = found.after
        if after is None:
            break
    return _Found({each.user_id: each.shown_name for each in joined}, entries, key_names)


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
