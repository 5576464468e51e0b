"""Campaigns full of subscribers, inserted in bulk with the service's own statement and triggers,
then indexed by its own `page_index.apply_changes`.

Of N subscribers the first tenth are advocates. The first one refers a tenth of N, the first tenth
together refers half of N, and the others sign up by themselves.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import asyncpg

from honeyguide.accounts import accounts, keys, members, sessions
from honeyguide.accounts.sessions import NewSession
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, system_clock

# The statements of these modules are in the registry below.
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_code
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Store, migrate, open_store, sqlite_path
from honeyguide.store.change import Change
from honeyguide.store.statements import Statement, registry
from honeyguide.store.tx import Tx, timed
from honeyguide.subscribers import branding, cohorts, hub, page_index
from honeyguide.subscribers.branding import BrandFields
from honeyguide.work import upkeep
from tests.support.changes import SITE, new_change
from tests.support.stores import statement as own_statement

CHUNK = 5_000
Tick = Callable[[int], None]
_SET_CODE = own_statement("UPDATE subscriber SET ref_code = :code WHERE id = :id")
_SHOW_ADVOCATES = own_statement(
    "UPDATE advocate SET on_leaderboard = 1 WHERE campaign_id = :campaign_id "
    "AND subscriber_id LIKE '%1'"
)


def statement(name: str) -> Statement[Any]:
    """By its full name, `signups.lifecycle.insert`: the limits run the very same SQL."""
    return next(found for found in registry if found.name == name)


@dataclass
class Campaign:
    account_id: str
    id: str
    keys: list[str]
    prefix: str
    size: int = 0
    session: str = ""  # of its owner's browser
    slug: str = ""
    top_code: str = ""  # of the top advocate, as a link of theirs has it
    top_hub: str = ""  # the path of their referral page

    @property
    def advocates(self) -> int:
        return max(1, self.size // 10)

    def person_id(self, n: int) -> str:
        """The nth person of the first tenth: ids and codes that can be told from a number, also by
        pgbench.
        """
        return f"{self.prefix}-0000-7000-8000-{n:012d}"

    def later_id(self, n: int, created_ms: int) -> str:
        time = f"{created_ms:012x}"
        return f"{time[:8]}-{time[8:]}-7000-9{self.prefix[-3:]}-{n:012d}"

    def code(self, n: int) -> str:
        return f"{self.prefix[-4:]}{n:08d}"

    @property
    def path(self) -> str:
        return f"/v1/campaigns/{self.id}/subscribers"


@dataclass
class Database:
    """A migrated database and the campaigns in it, by name."""

    url: str
    campaigns: dict[str, Campaign] = field(default_factory=dict)


async def campaign(store: Store, number: int, key_count: int) -> Campaign:
    return await store.write(_create_campaign, number, key_count)


async def _create_campaign(tx: Tx, number: int, key_count: int) -> Campaign:
    now_ms = system_clock()
    made = await accounts.create(
        tx.at(now_ms), EmailAddress(f"bench{number}@example.org"), name=f"Bench {number}"
    )
    change = new_change(tx, SITE, Tenant(made.account_id, made.campaign_id), now_ms)
    its_keys = [await keys.create(change, name="bench") for _ in range(key_count)]
    owner_id = await members.first_owner(tx, made.account_id)
    new_session = NewSession(owner_id, made.account_id, "bench", "127.0.0.1")
    session = await sessions.begin(tx.at(now_ms), new_session)
    return Campaign(
        made.account_id, made.campaign_id, its_keys, f"0190{number:04x}", session=session
    )


def _moment(n: int, size: int, *, one_day: bool) -> int:
    """Three years evenly, or nineteen of twenty within one hour, many in the same millisecond."""
    now_ms = system_clock() - DAY_MS
    if one_day and n % 20:
        return now_ms - 30 * DAY_MS + n % (HOUR_MS // 4)
    return now_ms - (size - n) * (1095 * DAY_MS // size)


def _people(campaign: Campaign, *, one_day: bool) -> Iterator[dict[str, Any]]:
    size, first = campaign.size, campaign.advocates
    for n in range(size):
        created_ms = _moment(n, size, one_day=one_day)
        referrer: int | None = None
        if n >= first and n % 9 == 0:
            referrer = 0
        elif n >= first and n % 9 < 6:
            referrer = (n // 9 * 5 + n % 9) % first
        email = f"person{n}@{campaign.prefix}.example.org"
        yield {
            "id": campaign.person_id(n) if n < first else campaign.later_id(n, created_ms),
            "account_id": campaign.account_id,
            "campaign_id": campaign.id,
            "email": email,
            "email_key": email,
            "person_key": hashlib.sha256(email.encode()).hexdigest(),
            "name": f"Person {n}",
            "ref_code": campaign.code(n),
            "status": "active",
            "must_confirm": 0,
            "referrer_code": None if referrer is None else campaign.code(referrer),
            "claimed_code": None,
            "referrer_id": None if referrer is None else campaign.person_id(referrer),
            "referral_status": "verified",
            "referral_reason": None,
            "referral_due_ms": None,
            "referral_behind": None,
            "ip_address": "192.0.2.1",
            "network": "192.0.2.1",
            "user_agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
            "origin": "api",
            "utm_source": "bench",
            "utm_campaign": None,
            "created_ms": created_ms,
            "received_ms": created_ms,
        }


def _chunks(
    campaign: Campaign, order: tuple[str, ...], *, one_day: bool
) -> Iterator[list[tuple[Any, ...]]]:
    chunk = []
    for person in _people(campaign, one_day=one_day):
        chunk.append(tuple([person.get(name) for name in order]))
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _fill_sqlite(path: Path, campaign: Campaign, tick: Tick, *, one_day: bool) -> None:
    insert = statement("signups.lifecycle.insert")
    connection = apsw.Connection(str(path))
    connection.execute(
        "PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; PRAGMA foreign_keys = OFF"
    )
    for chunk in _chunks(campaign, insert.sqlite_order, one_day=one_day):
        with connection:
            connection.executemany(insert.sqlite, chunk)
        tick(len(chunk))
    connection.close()


async def _fill_postgres(url: str, campaign: Campaign, tick: Tick, *, one_day: bool) -> None:
    insert = statement("signups.lifecycle.insert")
    connection = await asyncpg.connect(url, server_settings={"synchronous_commit": "off"})
    for chunk in _chunks(campaign, insert.postgres_order, one_day=one_day):
        await connection.copy_records_to_table(
            "subscriber", records=chunk, columns=insert.postgres_order
        )
        tick(len(chunk))
    await connection.close()


async def fill(
    store: Store, url: str, campaign: Campaign, size: int, tick: Tick, *, one_day: bool = False
) -> None:
    """Ticks twice per person: once put in, once folded."""
    campaign.size = size
    path = sqlite_path(url)
    if path is not None:
        _fill_sqlite(path, campaign, tick, one_day=one_day)
    else:
        await _fill_postgres(url, campaign, tick, one_day=one_day)
    folded = 0
    while await store.write_snapshot(page_index.apply_changes):
        folded += page_index.BATCH // 2
        if folded <= size:
            tick(page_index.BATCH // 2)
    tick(max(0, size - folded))
    while due := await store.read(timed(cohorts.due_campaigns, system_clock()), most=100):
        await upkeep.count_cohorts(SITE, store, due, system_clock())
    await settle(url)


async def settle(url: str) -> None:
    """What PostgreSQL does by itself a minute after so many rows."""
    if sqlite_path(url) is None:
        connection = await asyncpg.connect(url)
        await connection.execute("VACUUM ANALYZE")
        await connection.close()


def open_to_readers(database: Database) -> None:
    """Shows names and a leaderboard on which every tenth advocate is, and gives the top advocate,
    who is not, a code like those of the service."""
    asyncio.run(_open_to_readers(database))


async def _open_to_readers(database: Database) -> None:
    store = await open_store(database.url)
    site = Site("", "", await store.write(accounts.instance_secret))
    for campaign in database.campaigns.values():
        await store.write(_show_names, site, campaign)
    await store.close()
    await settle(database.url)


async def _show_names(tx: Tx, site: Site, campaign: Campaign) -> None:
    tenant, top_id = Tenant(campaign.account_id, campaign.id), campaign.person_id(0)
    fields = BrandFields(show_inviter=True, show_leaderboard=True)
    change = Change(tx, site, tenant, actors.command("bench"), system_clock())
    brand = await branding.save(change, fields)
    campaign.slug, campaign.top_code = brand.slug, new_code()
    await change.run(_SET_CODE, id=top_id, code=campaign.top_code)
    await tx.run(_SHOW_ADVOCATES, campaign_id=campaign.id)
    campaign.top_hub = f"/hub/{hub.token(site, top_id, campaign.top_code)}"


async def give_codes(store: Store, campaign: Campaign, count: int) -> list[tuple[str, str]]:
    """Codes like those of the service for the first subscribers: their ids and codes."""
    codes = [(campaign.person_id(n), new_code()) for n in range(count)]
    await store.write(_set_codes, codes)
    return codes


async def _set_codes(tx: Tx, codes: list[tuple[str, str]]) -> None:
    for subscriber_id, code in codes:
        await tx.run(_SET_CODE, id=subscriber_id, code=code)


def fold(url: str) -> None:
    asyncio.run(_fold(url))


async def _fold(url: str) -> None:
    store = await open_store(url)
    while await store.write_snapshot(page_index.apply_changes):
        pass
    await store.close()


@dataclass(frozen=True)
class Plan:
    name: str
    size: int
    keys: int = 1
    one_day: bool = False


def make(url: str, plans: list[Plan], tick: Tick) -> Database:
    return asyncio.run(_make(url, plans, tick))


async def _make(url: str, plans: list[Plan], tick: Tick) -> Database:
    await migrate(url)
    store = await open_store(url)
    database = Database(url)
    try:
        for number, plan in enumerate(plans):
            made = database.campaigns[plan.name] = await campaign(store, number, plan.keys)
            await fill(store, url, made, plan.size, tick, one_day=plan.one_day)
    finally:
        await store.close()
    return database
