"""How much larger tables and indexes are than they need to be after an hour of 200 changes a
second: signups, edits, clicks and the deliveries of webhooks. Each is compared with its size after
it was written anew.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from bench import cost, people, servers
from bench.deliveries import HOME
from bench.load import request
from bench.people import Campaign
from bench.plan import Bench, progress
from bench.report import Table
from bench.requests import requests_for
from bench.steady import Load, Running, Stream
from honeyguide.events import webhooks
from honeyguide.events.webhooks import Flags
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import open_store
from tests.support.changes import SITE, changing
from tests.support.postgres import PostgresServer

ABOUT = "Bloat: tables and indexes after many changes on PostgreSQL"
MINUTES = 60.0
SIGNUPS, EDITS, CLICKS = 80, 80, 40
SHOWN = 16
_SIZES = """
SELECT c.relname, c.relkind, pg_relation_size(c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind IN ('r', 'i') AND pg_relation_size(c.oid) > 0
"""


@dataclass(frozen=True)
class Relation:
    name: str
    is_index: bool
    bytes: int


def _sizes(server: PostgresServer) -> dict[str, Relation]:
    rows = [line.split("|") for line in server.execute(_SIZES, "bloat").splitlines()]
    return {name: Relation(name, kind == "i", int(size)) for name, kind, size in rows}


async def _add_webhook(url: str, campaign: Campaign, port: int) -> None:
    store = await open_store(url)
    await store.write(
        changing(webhooks.create, SITE, Tenant(campaign.account_id, campaign.id), system_clock()),
        "",
        f"http://127.0.0.1:{port}/hook",
        Flags(new_referral=True),
        policy=HOME,
    )
    await store.close()


def _streams(url: str, campaign: Campaign) -> list[Stream]:
    edits = [
        request("PUT", f"{campaign.path}/{campaign.person_id(n)}", campaign.keys[0], _EDIT)
        for n in range(campaign.advocates)
    ]
    return [
        Stream("signups", SIGNUPS, requests_for(campaign)["create"], 201, 1),
        Stream("edits", EDITS, edits, 200, 1),
        Stream("clicks", CLICKS, cost.click_requests(url, campaign), 302, 1),
    ]


_EDIT = b'{"name":"Grace %012d"}'


def run(bench: Bench) -> list[Table]:
    assert bench.postgres is not None
    url, minutes = bench.database_url("postgres", "bloat"), bench.size.minutes or MINUTES
    with progress() as bar:
        making = bar.add_task("subscribers", total=2 * bench.size.rows // 10)
        plan = people.Plan("bloat", bench.size.rows // 10)
        campaign = people.make(url, [plan], lambda n: bar.advance(making, n)).campaigns["bloat"]
    before = _sizes(bench.postgres)
    with servers.sink() as sink_port:
        asyncio.run(_add_webhook(url, campaign, sink_port))
        with servers.service(url, bench.folder, rate_limit=0) as server:
            load = Load(server.port, _streams(url, campaign), minutes * 60)
            sent = Running(load, None).result(may_fail=True)
    after = _sizes(bench.postgres)
    bench.postgres.execute("VACUUM FULL", "bloat")
    fresh = _sizes(bench.postgres)
    changes = sum(each.sent - each.unexpected for each in sent.values())
    return [_table(before, after, fresh, minutes, changes)]


def _table(
    before: dict[str, Relation],
    after: dict[str, Relation],
    fresh: dict[str, Relation],
    minutes: float,
    changes: int,
) -> Table:
    rows = []
    largest = sorted(after.values(), key=lambda each: -each.bytes)[:SHOWN]
    for each in largest:
        began = before[each.name].bytes if each.name in before else 0
        anew = fresh[each.name].bytes if each.name in fresh else 8192
        rows.append(
            (
                f"{each.name}{' (index)' if each.is_index else ''}",
                f"{began / 2**20:,.1f}",
                f"{each.bytes / 2**20:,.1f}",
                f"{anew / 2**20:,.1f}",
                f"{each.bytes / anew:.2f}",
            )
        )
    total, anew = (sum(each.bytes for each in sizes.values()) for sizes in (after, fresh))
    rows.append(("all", "", f"{total / 2**20:,.1f}", f"{anew / 2**20:,.1f}", f"{total / anew:.2f}"))
    columns = ("", "before (MB)", "after (MB)", "written anew (MB)", "ratio")
    note = f"{changes:,} changes in {minutes:g} minutes; autovacuum as PostgreSQL sets it."
    return Table("Sizes", columns, rows, note)
