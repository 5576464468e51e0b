"""PostgreSQL plans a statement when it is first run, and keeps the plan. A service that starts
empty and is never analyzed or vacuumed must stay as fast as it began while its tables grow.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from honeyguide.events import claiming
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_code, new_id
from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.screening import review
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.signups.signups import sign_up
from honeyguide.store import Store
from honeyguide.store.postgres import SETTINGS
from honeyguide.store.tx import Tx
from honeyguide.subscribers import hub_choices, page_index, search, subscribers, tags
from honeyguide.subscribers.subscriber_filters import read_filter
from tests.support.changes import changing
from tests.support.readings import reading, reads
from tests.support.stores import OpenStore, statement
from tests.support.trade import SITE

BATCH = 1_000
# After so many calls PostgreSQL keeps a statement's plan, whatever the parameters.
KEPT = 6
MOST_TIMES = 2
NOW_MS = 1_790_000_000_000

FILL = statement("""
INSERT INTO subscriber (id, account_id, campaign_id, email, email_key, person_key, name, ref_code,
    referrer_code, referrer_id, referral_status, origin, created_ms, received_ms)
SELECT r.id, :account_id, :campaign_id, r.email, r.email, r.email, r.email, r.code,
    r.referrer_code, r.referrer_id, r.status, 'api', r.created_ms, r.created_ms
FROM {rows :rows AS r (id TEXT, email TEXT, code TEXT, referrer_code TEXT, referrer_id TEXT,
    status TEXT, created_ms BIGINT)}""")

# A backend notes what it looked at after a while, or when it is told to.
FLUSH = "SELECT CAST(pg_stat_force_next_flush() AS TEXT)"
BLOCKS = statement("""
SELECT SUM(heap_blks_read + heap_blks_hit + COALESCE(idx_blks_read + idx_blks_hit, 0)
    + COALESCE(toast_blks_read + toast_blks_hit + tidx_blks_read + tidx_blks_hit, 0))
FROM pg_statio_user_tables""")


class Growing:
    """A campaign to fill, and the reads whose work must not grow with it."""

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
            "leaderboard": lambda: store.read(reads(hub_choices.leaders, tenant)),
            "inviter": lambda: store.read(reads(hub_choices.inviter_name, tenant), known["code"]),
            "by id": lambda: store.read(reads(subscribers.find, tenant), known["id"]),
            "by email": lambda: store.read(reads(subscribers.find_by_email, tenant), email),
            **{
                f"page of {kind}": lambda kind=kind: store.snapshot(
                    reads(subscribers.page_of, tenant), kind, Page(1, 20)
                )
                for kind in ("all", "referrals", "advocates")
            },
            "tags": lambda: store.snapshot(reads(tags.in_use, tenant)),
            "pending": lambda: store.snapshot(
                reads(search.judged, tenant), "pending", before=None, most=20
            ),
            "groups to review": lambda: store.snapshot(
                reads(review.page_of_groups, tenant), "pending", Page(1, 20)
            ),
        }

    async def work(self, rounds: int = 1) -> dict[str, int]:
        """How many blocks of tables and indexes each read looks at."""
        found = {}
        for name, read in self.reads().items():
            for _ in range(rounds):
                before = await self.blocks()
                await read()
                found[name] = await self.blocks() - before
        return found

    async def blocks(self) -> int:
        """All that the two connections looked at: the one of the pool and the one of batches."""
        await self.store._in_batch(lambda connection: connection.fetch(FLUSH))
        await self.store.read(lambda tx: tx.one(statement(FLUSH)))
        ((n,),) = await self.store.read(lambda tx: tx.all(BLOCKS))
        return int(n)


async def grow(opened: OpenStore, tenant: Tenant, most: int) -> dict[str, tuple[int, int]]:
    """Of each read, the blocks at the start, and the most of them later."""
    growing = Growing(opened.store, tenant)
    first = NewSubscriber(email="first@example.org")
    await opened.store.write(changing(sign_up, SITE, tenant, NOW_MS), first)
    growing.last = [{"id": new_id(), "email": "first@example.org", "code": new_code()}]
    await growing.work(KEPT)
    growing.last = []
    for many in (100, 100, BATCH):  # then every page is full
        await growing.add(many)
    start = await growing.work()
    worst = start
    while growing.count < most:
        await growing.add(BATCH)
        if growing.count % (most // 5) < BATCH:
            now = await growing.work()
            worst = {name: max(blocks, now[name]) for name, blocks in worst.items()}
    return {name: (start[name], worst[name]) for name in start}


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
    most: int, postgres: OpenStore, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review, "NEWEST", 5)  # as many as there are at the start
    work = postgres.run(grow(postgres, tenant, most))
    assert {name: n for name, n in work.items() if n[1] > MOST_TIMES * n[0]} == {}


# The small campaign has 600 of the subscribers (15%) and all 40 advocates.
TWO_CAMPAIGNS = """
INSERT INTO subscriber (id, account_id, campaign_id, email, email_key, person_key, ref_code,
    user_agent, referral_status, origin, referrals_verified, is_advocate, created_ms, received_ms)
SELECT 'id' || n, 'account', CASE WHEN n % 20 < 3 THEN 'small' ELSE 'large' END, 'email' || n,
    'email' || n, 'person' || n, 'code' || n, repeat('x', 400), 'verified', 'api',
    CASE n % 100 WHEN 0 THEN 7 ELSE 0 END, CASE n % 100 WHEN 0 THEN 1 ELSE 0 END, n, n
FROM generate_series(1, 4000) AS n"""
PLAN_AS_IF_LARGE = statement(
    "SELECT set_config('parallel_setup_cost', '0', true) AS cost,"
    " set_config('min_parallel_table_scan_size', '0', true) AS size"
)
READ = statement(
    "SELECT seq_scan, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'subscriber'"
)


async def read_by_search(tx: Tx, query: dict[str, str]) -> tuple[int, int]:
    """How often the whole table was read, and how many rows by an index."""
    filters, _ = read_filter(query)
    await tx.one(PLAN_AS_IF_LARGE)
    ((scans_before, rows_before),) = await tx.all(READ)
    await search.find_page(reading(tx, Tenant("account", "small")), filters, per_page=5)
    ((scans, rows),) = await tx.all(READ)
    return scans - scans_before, rows - rows_before


def test_a_search_reads_only_its_own_campaign(postgres: OpenStore) -> None:
    """With PostgreSQL's default costs, several processes would read the whole table."""
    postgres.ask("ALTER TABLE subscriber DISABLE TRIGGER USER")
    postgres.ask(TWO_CAMPAIGNS)
    postgres.ask("ANALYZE subscriber")
    for query, most in (
        # The rows that match or may match; the page then reads its five again.
        ({"utm_source": "other"}, 600),
        ({"q": "nobody"}, 600),
        ({"min_referrals": "3"}, 40),
        ({"min_referrals": "3", "sort": "best"}, 40),
    ):
        scans, rows = postgres.run(postgres.store.slow_snapshot(read_by_search, query))
        assert scans == 0 and rows <= most + 5, (query, scans, rows)


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


EVENTS = """
INSERT INTO event (id, account_id, type, body, created_ms)
SELECT CAST(n AS TEXT), :account_id, 'new_referral', '{}', 1 FROM generate_series(1, 3000) AS n"""
DELIVERED = """
INSERT INTO delivery (id, account_id, webhook_id, event_id, status, due_ms, created_ms)
SELECT e.id, :account_id, 'w', e.id, 'delivered', 1, 1 FROM event AS e"""
WEBHOOK = """
INSERT INTO webhook (id, account_id, url, secret, created_ms)
VALUES ('w', :account_id, 'http://127.0.0.1:9/', 'secret', 1)"""


def test_a_claim_takes_the_first_deliveries_only(postgres: OpenStore, tenant: Tenant) -> None:
    """Also if the table was last analyzed when none was pending."""
    for filled in (WEBHOOK, EVENTS, DELIVERED):
        postgres.do(filled, account_id=tenant.account_id)
    claim = claiming._CLAIM
    params = {"webhooks": ["w"], "now_ms": 5, "today_ms": 5, "most": 4, "until_ms": 9, "token": "t"}

    async def blocks_read() -> int:
        connection = await asyncpg.connect(postgres.url, server_settings=SETTINGS)
        await connection.execute("ANALYZE delivery, event, webhook")
        await connection.execute("UPDATE delivery SET status = 'pending'")
        explain = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {claim.postgres}"
        plan = json.loads(await connection.fetchval(explain, *claim.postgres_values(params)))
        await connection.close()
        return plan[0]["Plan"]["Shared Hit Blocks"]  # type: ignore[no-any-return]

    assert postgres.run(blocks_read()) < 500
    assert postgres.ask("SELECT COUNT(*) FROM delivery WHERE lease_token = 't'") == [(4,)]


def test_a_claimed_delivery_is_found_by_its_id(postgres: OpenStore, tenant: Tenant) -> None:
    """Also if the index of pending ones was last analyzed when none was pending any more."""
    for filled in (WEBHOOK, EVENTS, DELIVERED):
        postgres.do(filled, account_id=tenant.account_id)
    find = claiming._STILL_CLAIMED

    async def plan() -> str:
        connection = await asyncpg.connect(postgres.url, server_settings=SETTINGS)
        for status in ("pending", "delivered"):
            await connection.execute(f"UPDATE delivery SET status = '{status}'")
        await connection.execute("ANALYZE delivery, event, webhook")
        await connection.execute("UPDATE delivery SET status = 'pending'")
        params = find.postgres_values({"id": "7", "token": "t"})
        rows = await connection.fetch(f"EXPLAIN {find.postgres}", *params)
        await connection.close()
        return "\n".join(row[0] for row in rows)

    found = postgres.run(plan())
    assert "delivery_pkey" in found and "delivery_due" not in found, found
