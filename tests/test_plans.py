"""PostgreSQL plans a statement when it is first run, and keeps the plan. A service that starts
empty and is never analyzed or vacuumed must stay as fast as it began while its tables grow.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_code, new_id
from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.referrals import hub_choices, page_index, search, subscribers, tags
from honeyguide.referrals.lifecycle import NewSubscriber
from honeyguide.signups.signups import sign_up
from honeyguide.store import Store
from tests.support.stores import OpenStore, statement
from tests.support.trade import SITE

BATCH = 1_000
# A latency is the quickest of this many calls, in rounds over all reads, so that a busy machine
# does not count.
ROUNDS = 30
MOST_TIMES = 3
NOW_MS = 1_790_000_000_000

FILL = statement("""
INSERT INTO subscriber (id, account_id, campaign_id, email, email_key, person_key, name, ref_code,
    referrer_code, referrer_id, referral_status, origin, created_ms, received_ms)
SELECT r.id, :account_id, :campaign_id, r.email, r.email, r.email, r.email, r.code,
    r.referrer_code, r.referrer_id, r.status, 'api', r.created_ms, r.created_ms
FROM {rows :rows AS r (id TEXT, email TEXT, code TEXT, referrer_code TEXT, referrer_id TEXT,
    status TEXT, created_ms BIGINT)}""")


class Growing:
    """A campaign to fill, and the reads whose latency must not grow with it."""

    def __init__(self, store: Store, tenant: Tenant) -> None:
        self.store = store
        self.tenant = tenant
        self.count = 0
        self.last: list[dict[str, Any]] = []

    async def add(self, many: int) -> None:
        """Signups, of which half are referred by earlier ones, one in ten of these is pending."""
        rows = []
        for number in range(self.count, self.count + many):
            referrer = self.last[number % len(self.last)] if self.last and number % 2 else None
            rows.append(
                {
                    "id": new_id(),
                    "email": f"s{number}@example.org",
                    "code": new_code(),
                    "referrer_code": referrer and referrer["code"],
                    "referrer_id": referrer and referrer["id"],
                    "status": "pending" if referrer and number % 20 == 1 else "verified",
                    "created_ms": NOW_MS + number,
                }
            )
        await self.store.write(lambda tx: tx.run(FILL, **self.tenant._asdict(), rows=rows))
        self.count += many
        self.last = rows[:20]
        while await self.store.write_snapshot(page_index.apply_changes):
            pass

    def reads(self) -> dict[str, Callable[[], Awaitable[Any]]]:
        store, tenant, known = self.store, self.tenant, self.last[0]
        email = EmailAddress.parse(known["email"])
        return {
            "leaderboard": lambda: store.read(hub_choices.leaders, tenant),
            "inviter": lambda: store.read(hub_choices.inviter_name, tenant, known["code"]),
            "by id": lambda: store.read(subscribers.find, tenant, known["id"]),
            "by email": lambda: store.read(subscribers.find_by_email, tenant, email),
            **{
                f"page of {kind}": lambda kind=kind: store.snapshot(
                    subscribers.page_of, tenant, kind, Page(1, 20)
                )
                for kind in ("all", "referrals", "advocates")
            },
            "tags": lambda: store.snapshot(tags.in_use, tenant),
            "pending": lambda: store.snapshot(
                search.judged, tenant, "pending", before=None, most=20
            ),
        }

    async def latencies(self) -> dict[str, float]:
        reads = self.reads()
        quickest = dict.fromkeys(reads, float("inf"))
        for _ in range(ROUNDS):
            for name, read in reads.items():
                began = time.perf_counter()
                await read()
                quickest[name] = min(quickest[name], time.perf_counter() - began)
        return quickest


async def grow(opened: OpenStore, tenant: Tenant, most: int) -> dict[str, float]:
    """Every read's greatest latency, as a multiple of its latency at the start."""
    growing = Growing(opened.store, tenant)
    first = NewSubscriber(email="first@example.org")
    await opened.store.write(sign_up, SITE, tenant, first, now_ms=NOW_MS)
    growing.last = [{"id": new_id(), "email": "first@example.org", "code": new_code()}]
    await growing.latencies()  # plans are made and kept while the tables are empty
    growing.last = []
    await growing.add(100)
    await growing.add(100)
    start = await growing.latencies()
    worst = dict.fromkeys(start, 1.0)
    while growing.count < most:
        await growing.add(BATCH)
        if growing.count % (most // 5) < BATCH:
            for name, latency in (await growing.latencies()).items():
                worst[name] = max(worst[name], latency / start[name])
    return worst


@pytest.fixture
def tenant(postgres: OpenStore) -> Tenant:
    """Of a database without autovacuum, which also analyzes."""
    campaign_id, _ = postgres.account_with_key()
    ((account_id,),) = postgres.ask("SELECT account_id FROM campaign")
    for (table,) in postgres.ask("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
        postgres.ask(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
    return Tenant(account_id, campaign_id)


@pytest.mark.parametrize(
    "most", [5_000, pytest.param(100_000, marks=[pytest.mark.long, pytest.mark.timeout(1800)])]
)
def test_reads_stay_as_fast_while_a_service_that_began_empty_grows(
    most: int, postgres: OpenStore, tenant: Tenant
) -> None:
    worst = postgres.run(grow(postgres, tenant, most))
    assert {name: round(times, 1) for name, times in worst.items() if times > MOST_TIMES} == {}


def test_a_total_does_not_read_the_notes_that_were_folded_and_not_vacuumed(
    postgres: OpenStore, tenant: Tenant
) -> None:
    growing = Growing(postgres.store, tenant)
    for _ in range(5):
        postgres.run(growing.add(BATCH))
    ((plan,),) = postgres.ask(
        "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "
        "SELECT SUM(n_all) FROM count_note WHERE owner_id = :owner_id",
        owner_id=tenant.campaign_id,
    )
    ((dead,),) = postgres.ask("SELECT pg_relation_size('count_note') / 8192")
    assert dead > 100
    assert json.loads(plan)[0]["Plan"]["Shared Hit Blocks"] < 20
