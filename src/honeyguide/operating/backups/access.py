"""Who may get in after a restore. A backup brings data back, but no access: what was revoked after
it was made stays revoked, as far as the database that is replaced still knows. What was undone is
not done after all.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from honeyguide.account_life import closing, pausing
from honeyguide.integrations import disconnecting
from honeyguide.kernel import actors
from honeyguide.kernel.errors import Fault
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.operating.backups.credentials import DROPPED, KEPT, StoredCredential
from honeyguide.signups import delayed_actions
from honeyguide.store import Store, plan_migrations
from honeyguide.store.change import Change
from honeyguide.store.same_rows import AT_ONCE, Values, delete_rows, read_rows, write_rows
from honeyguide.store.statements import beside
from honeyguide.store.table_rows import Row, TableRows, Tables, TableShape, opened_tables
from honeyguide.store.tx import Tx, timed
from honeyguide.subscribers import campaigns


class Access(NamedTuple):
    """All rows of one database that say who gets in, by table and key."""

    shapes: Mapping[str, TableShape]
    rows: Mapping[str, Mapping[Row, Values]]
    link_versions: Mapping[str, int]
    """Of the private links of those subscribers whose first ones ended."""
    delayed_actions: frozenset[str]
    """The ids of those that still wait, which nobody has undone."""

    def of(self, table: str) -> Mapping[str, Values]:
        """For a table whose key is its id."""
        return {key[0]: values for key, values in self.rows[table].items()}


class KeptAccess(NamedTuple):
    # How many of each were in the backup and are not restored.
    dropped: dict[str, int]
    # How many of each are otherwise than in the backup.
    changed: dict[str, int]
    # Accounts of which nobody knows what was revoked since; all of them without an old database.
    unknown_accounts: int
    # How many of the backup are not done.
    dropped_actions: int


class _Difference(NamedTuple):
    gone: list[Row]
    # New ones and those that differ, as they will be.
    written: list[Values]
    # How many of all these let in somebody else than before.
    number: int


_sql = beside(__file__)
_DROP = {each.name: _sql.command(f"drop_{each.table}") for each in DROPPED}
_RAISE_LINK_VERSIONS = _sql.command("raise_link_versions")
_FREE_EMAIL_KEYS = _sql.command("free_email_keys")
_ACTOR = actors.command("restore")


async def read_access(url: str) -> Access | None:
    """None if it is of another version or cannot be read, which may be why it is replaced."""
    try:
        return None if await plan_migrations(url) else await _read(url)
    except Fault:
        return None


async def _read(url: str) -> Access:
    async with opened_tables(url) as tables:
        shapes = await tables.shapes()
        rows = {
            each.table: await read_rows(tables, each.table, shapes[each.table]) for each in KEPT
        }
        return Access(
            shapes, rows, await _read_link_versions(tables), await _read_delayed_actions(tables)
        )


async def _read_delayed_actions(tables: Tables) -> frozenset[str]:
    cursor = await tables.open(TableRows("delayed_action", ("id",), ("id",)))
    found: set[str] = set()
    while rows := await cursor.fetch(AT_ONCE):
        found |= {action_id for (action_id,) in rows}
    return frozenset(found)


async def _read_link_versions(tables: Tables) -> dict[str, int]:
    cursor = await tables.open(TableRows("subscriber", ("id", "link_version"), ("id",)))
    found: dict[str, int] = {}
    while rows := await cursor.fetch(AT_ONCE):
        found |= {subscriber_id: version for subscriber_id, version in rows if version}
    return found


async def keep_access(
    store: Store, url: str, site: Site, there: Access | None, *, now_ms: int
) -> KeptAccess:
    """`store` is the restored database at `url`; `there` is what the replaced one knows."""
    dropped = await store.write(_drop)
    here = await _read(url)
    accounts = here.of("account")
    waiting = there.delayed_actions if there else ()
    dropped_actions = await store.write(delayed_actions.keep_only, waiting)
    if there is None:
        return KeptAccess(dropped, {}, len(accounts), dropped_actions)
    common = accounts.keys() & there.of("account").keys()
    for account_id in common:
        await _close_again(store, site, here, there, account_id, now_ms=now_ms)
    here = await _read(url)
    changed = await store.write(timed(_make_same, now_ms), site, here, there, common)
    await store.write(_end_links, there.link_versions)
    return KeptAccess(dropped, changed, len(accounts) - len(common), dropped_actions)


async def _end_links(tx: Tx, versions: Mapping[str, int]) -> None:
    """A private link that had ended does not work again."""
    rows = [{"id": each, "link_version": version} for each, version in versions.items()]
    if rows:
        await tx.run(_RAISE_LINK_VERSIONS, rows=rows)


async def _drop(tx: Tx) -> dict[str, int]:
    return {name: await tx.run(statement) for name, statement in _DROP.items()}


async def _close_again(
    store: Store, site: Site, here: Access, there: Access, account_id: str, *, now_ms: int
) -> None:
    """Closing ends everything by which an account acts, and removes its members last."""
    before, after = (each.of("account")[account_id] for each in (here, there))
    if after["closed_ms"] is None or before["closed_ms"] is not None:
        return
    await store.write(timed(_end_waiting_period, now_ms), site, account_id, after["closes_ms"])
    while await store.write(timed(closing.close_some, now_ms), site, _ACTOR, account_id):
        pass


async def _end_waiting_period(tx: Tx, site: Site, account_id: str, closes_ms: int) -> None:
    change = await _change(tx, site, account_id)
    await closing.end_waiting_period(change, closes_ms)


async def _change(tx: Tx, site: Site, account_id: str) -> Change:
    return Change(tx, site, await campaigns.tenant_of(tx, account_id), _ACTOR, tx.now_ms)


async def _make_same(
    tx: Tx, site: Site, here: Access, there: Access, accounts: Collection[str]
) -> dict[str, int]:
    """Returns how many of each are otherwise than in the backup."""
    changed: dict[str, int] = {}
    if not accounts:  # it is another installation's
        return changed
    owners = {*accounts, *_users(here, there, accounts)}
    for credential in KEPT:
        table, shape = credential.table, here.shapes[credential.table]
        found = _difference(credential, here, there, owners)
        if table == "integration":
            await _disconnect(tx, site, [here.rows[table][key] for key in found.gone], tx.now_ms)
        else:
            await delete_rows(tx, table, shape, found.gone)
        if table == "login_user":  # two may have swapped their addresses
            await tx.run(_FREE_EMAIL_KEYS, ids=[values["id"] for values in found.written])
        await write_rows(tx, table, shape, found.written)
        if table == "account":  # a trigger raised the version of the links of a changed address
            await write_rows(tx, table, shape, found.written)
        changed[credential.name] = found.number
    for account_id in accounts:
        await _follow_account(tx, site, here, there, account_id)
    return changed


def _users(here: Access, there: Access, accounts: Collection[str]) -> set[str]:
    """Whose logins are as they are there: those whom the backup has, and those who joined one of
    its accounts since. Not if somebody whom only the backup has logs in with their address."""
    joined = {
        values["user_id"]
        for values in there.rows["member"].values()
        if values["account_id"] in accounts
    }
    ours, theirs = here.of("login_user"), there.of("login_user")
    taken = {values["email_key"] for user_id, values in ours.items() if user_id not in theirs}
    return {
        user_id
        for user_id, values in theirs.items()
        if (user_id in ours or user_id in joined) and values["email_key"] not in taken
    }


def _difference(
    credential: StoredCredential, here: Access, there: Access, owners: Collection[str]
) -> _Difference:
    ours, theirs = here.rows[credential.table], there.rows[credential.table]

    def is_theirs(values: Values) -> bool:
        return not credential.belongs_to or values[credential.belongs_to] in owners

    gone = [key for key, values in ours.items() if key not in theirs and is_theirs(values)]
    written: list[Values] = []
    number = len(gone)
    for key, values in theirs.items():
        old: Mapping[str, Any] = ours.get(key, {})
        if not is_theirs(values) or values.get("user_id", "") not in {"", *owners}:
            continue
        if credential.is_part_of_row:
            values = {**old, **{each: values[each] for each in credential.columns if old}}
        if values != old:
            written.append(values)
            number += any(values[each] != old.get(each) for each in credential.columns)
    return _Difference(gone, written, number)


async def _disconnect(tx: Tx, site: Site, integrations: list[Values], now_ms: int) -> None:
    for each in integrations:
        tenant = Tenant(each["account_id"], each["campaign_id"])
        await disconnecting.disconnect(Change(tx, site, tenant, _ACTOR, now_ms))


async def _follow_account(tx: Tx, site: Site, here: Access, there: Access, account_id: str) -> None:
    """Whether it is paused or waits to be closed. What was called off must not happen after all."""
    before, after = (each.of("account")[account_id] for each in (here, there))
    if before["closed_ms"] is not None:
        return
    change = await _change(tx, site, account_id)
    if after["closes_ms"] is not None and before["closes_ms"] is None:
        await closing.ask(change)
    if after["closes_ms"] is None and before["closes_ms"] is not None:
        await closing.call_off(change, await pausing.lock(change))
    if after["paused_ms"] is not None and before["paused_ms"] is None:
        await pausing.pause(change)
    if after["paused_ms"] is None and before["paused_ms"] is not None:
        await pausing.resume(change)
