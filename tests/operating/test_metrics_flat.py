"""What a scrape reads does not grow with the tables: a hundred times the rows, the same cost."""

import asyncio
import json
from typing import Any

import apsw
import asyncpg
import pytest

from honeyguide.events import webhooks
from honeyguide.mail import emails
from honeyguide.store import postgres, sqlite_path
from honeyguide.store.statements import Statement
from honeyguide.store.tx import timed
from honeyguide.subscribers import subscribers
from tests.support.service import ENGINES
from tests.support.stores import OpenStore

NOW_MS = 1_790_000_000_000
SMALL, LARGE = 200, 20_000
ASKED: dict[Statement[Any], dict[str, Any]] = {
    webhooks._DUE: {"now_ms": NOW_MS, "most": 100},
    emails._UNSENT: {"most": 100},
    subscribers._FIRST_DUE_MS: {},
}
WEBHOOKS = """
INSERT INTO webhook (id, account_id, url, secret, failing_since_ms, created_ms)
SELECT i.value, :account_id, 'http://127.0.0.1:9/', 'secret',
    CASE WHEN i.value = 'webhook1' THEN 1 END, 1
FROM {list :ids AS i}"""
EVENTS = """
INSERT INTO event (id, account_id, type, body, created_ms)
SELECT i.value, :account_id, 'new_referral', '{}', 1 FROM {list :ids AS i}"""
# Half of them are due, the others are tried again later.
DELIVERIES = """
INSERT INTO delivery (id, account_id, webhook_id, event_id, due_ms, created_ms)
SELECT i.value || w.id, :account_id, w.id, i.value,
    CAST(:now_ms AS BIGINT) + CASE WHEN i.value LIKE '%1' THEN 60000 ELSE -60000 END, 1
FROM {list :ids AS i} CROSS JOIN webhook AS w WHERE w.account_id = :account_id"""
EMAILS = """
INSERT INTO letter (id, account_id, kind, to_email, subject, body_text, waited_for, created_ms,
    due_ms)
SELECT i.value, :account_id, 'test', 'a@example.org', 'Hello', 'Hello', 0, :now_ms, :now_ms
FROM {list :ids AS i}"""
SUBSCRIBERS = """
INSERT INTO subscriber (id, account_id, campaign_id, email, email_key, person_key, ref_code,
    referrer_code, referral_status, referral_due_ms, origin, created_ms, received_ms)
SELECT i.value, :account_id, :campaign_id, i.value, i.value, i.value, i.value, 'somebody',
    'pending', :now_ms, 'api', 1, 1
FROM {list :ids AS i}"""


class Filling:
    def __init__(self, opened: OpenStore) -> None:
        self.opened = opened
        self.campaign_id, _ = opened.account_with_key()
        ((self.account_id,),) = opened.ask("SELECT account_id FROM campaign")
        self.add(WEBHOOKS, [f"webhook{number}" for number in range(3)])
        self.count = 0

    def add(self, sql: str, ids: list[str], **params: Any) -> None:
        self.opened.do(sql, account_id=self.account_id, ids=ids, **params)

    def fill(self, most: int) -> None:
        ids = [f"{number:08}" for number in range(self.count, most)]
        self.count = most
        self.add(EVENTS, ids)
        self.add(DELIVERIES, ids, now_ms=NOW_MS)
        self.add(EMAILS, ids, now_ms=NOW_MS)
        self.add(SUBSCRIBERS, ids, campaign_id=self.campaign_id, now_ms=NOW_MS)


def sqlite_steps(url: str) -> dict[str, int]:
    """Steps of SQLite's virtual machine, in tens."""
    connection = apsw.Connection(str(sqlite_path(url)))
    steps = {}
    for statement, params in ASKED.items():
        counted = [0]

        def count(counted: list[int] = counted) -> bool:
            counted[0] += 1
            return False

        connection.set_progress_handler(count, 10)
        connection.execute(statement.sqlite, statement.sqlite_values(params)).fetchall()
        steps[statement.name] = counted[0]
    connection.close()
    return steps


async def postgres_blocks(url: str) -> dict[str, int]:
    """Blocks of tables and indexes that PostgreSQL looks at."""
    connection = await asyncpg.connect(url, server_settings=postgres.SETTINGS)
    blocks = {}
    for statement, params in ASKED.items():
        sql = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement.postgres}"
        plan = json.loads(await connection.fetchval(sql, *statement.postgres_values(params)))
        blocks[statement.name] = plan[0]["Plan"]["Shared Hit Blocks"]
        blocks[statement.name] += plan[0]["Plan"]["Shared Read Blocks"]
    await connection.close()
    return blocks


@pytest.mark.parametrize("engine", ENGINES)
def test_a_scrape_costs_the_same_whatever_the_size(engine: str) -> None:
    def cost() -> dict[str, int]:
        if engine == "sqlite":
            return sqlite_steps(opened.url)
        return asyncio.run(postgres_blocks(opened.url))

    with OpenStore(engine) as opened:
        filling = Filling(opened)
        filling.fill(SMALL)
        small = cost()
        filling.fill(LARGE)
        large = cost()
        found = opened.run(opened.store.read(timed(webhooks.due, NOW_MS), most=100))
    assert [(row.is_failing, row.n, row.since_ms) for row in found] == [
        (0, 200, NOW_MS - 60_000),
        (1, 100, NOW_MS - 60_000),
    ]
    for name, before in small.items():
        assert large[name] <= 2 * before + 20, (name, small, large)
