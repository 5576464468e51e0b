"""Fills a database by SQL alone, which takes minutes for ten million subscribers. Triggers are off,
so the counts, the page index and the days are written as `honeyguide verify` wants them.

Of N subscribers a tenth belongs to one large account; the others are spread over all accounts. A
fifth of each account's subscribers were referred by a few advocates of the same account, a tenth by
partners (`programs`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import apsw
import asyncpg

from bench import people
from bench.people import Campaign
from bench.scale import programs
from bench.scale.expressions import LARGE, ORDINARY, Expressions, Sizes
from honeyguide.kernel.clock import DAY_MS, system_clock
from honeyguide.store import migrate, open_store, sqlite_path
from honeyguide.subscribers.page_index import BLOCK_ROWS, BOTTOM

SLICE = 250_000
# Accounts with a webhook and events.
LISTENING = 1_000

Say = Callable[[str], None]


_ACCOUNTS = """
INSERT INTO account (id, email, name, created_ms, weekly_due_ms)
    SELECT {account}, 'a' || n || '@scale.example', 'Account ' || n,
    {now}, {now} + 604800000 FROM {accounts};
INSERT INTO campaign (id, account_id, name, slug, created_ms, first_referral_ms)
    SELECT {campaign}, {account}, 'Newsletter ' || n, 'scale-' || n, {now}, {now} FROM {accounts};
UPDATE campaign SET first_referral_ms = {now};
"""

# `account_n` is the number of the account, `place` of the subscriber in it.
_SUBSCRIBERS = """
INSERT INTO subscriber (id, account_id, campaign_id, email, email_key, person_key, name, ref_code,
    status, unsubscribed_ms, referrer_code, referrer_id, partner_campaign_id, referral_status,
    referral_reason, referral_due_ms, ip_address, network, user_agent, origin, utm_source,
    created_ms, received_ms)
    SELECT {id}, {account}, {campaign}, 'person' || n || '@example.org',
    'person' || n || '@example.org', 'person' || {n_padded}, 'Person ' || n, {code},
    CASE WHEN n % 20 = 7 THEN 'unsubscribed' ELSE 'active' END,
    CASE WHEN n % 20 = 7 THEN created_ms + 1000 END,
    {referrer_code}, {referrer_id}, {joined},
    state, CASE state WHEN 'rejected' THEN 'same_network' END,
    CASE state WHEN 'pending' THEN {now} + 1728000000 END,
    '192.0.2.1', '192.0.2.1', 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0', 'api',
    CASE n % 3 WHEN 0 THEN 'newsletter' WHEN 1 THEN 'x' END, created_ms, created_ms
    FROM (
        SELECT n, account_n, place, referrer_n, joined_n, {created} AS created_ms,
        {referrer_created} AS referrer_created_ms, CASE
            WHEN joined_n IS NOT NULL AND place / 100 % 10 = 0 THEN 'pending'
            WHEN referrer_n IS NULL THEN 'verified' WHEN place / 5 % 10 = 0 THEN 'pending'
            WHEN place / 5 % 10 = 1 THEN 'rejected' ELSE 'verified' END AS state FROM (
            SELECT n, account_n, place, CASE
                WHEN place % 5 <> 4 THEN NULL
                WHEN account_n = 0 AND place % 50 = 49 THEN 0
                WHEN account_n = 0 THEN place / 5 % {large_advocates}
                ELSE n - (place - place / 5 % 9) * {others} END AS referrer_n,
                {joined_n} AS joined_n
            FROM (
                SELECT n, CASE WHEN n < {large} THEN 0 ELSE 1 + (n - {large}) % {others} END
                AS account_n, CASE WHEN n < {large} THEN n ELSE (n - {large}) / {others} END
                AS place FROM {subscribers}
            ) AS placed
        ) AS referred
    ) AS dated;
"""

_COUNTS = """
UPDATE subscriber SET referrals_verified = c.verified, referrals_pending = c.pending,
    referrals_rejected = c.rejected, is_advocate = CASE WHEN c.verified > 0 THEN 1 ELSE 0 END,
    is_star = CASE WHEN c.verified + c.pending + c.rejected >= 1000 THEN 1 ELSE 0 END
    FROM (
        SELECT referrer_id, SUM(CASE referral_status WHEN 'verified' THEN 1 ELSE 0 END) AS verified,
        SUM(CASE referral_status WHEN 'pending' THEN 1 ELSE 0 END) AS pending,
        SUM(CASE referral_status WHEN 'rejected' THEN 1 ELSE 0 END) AS rejected
        FROM subscriber WHERE referrer_id IS NOT NULL GROUP BY referrer_id
    ) AS c WHERE subscriber.id = c.referrer_id;
INSERT INTO advocate (subscriber_id, account_id, campaign_id, verified, on_leaderboard)
    SELECT id, account_id, campaign_id, referrals_verified,
    CASE WHEN id LIKE '%1' THEN 1 ELSE 0 END FROM subscriber WHERE referrals_verified > 0;
INSERT INTO campaign_day (campaign_id, day_ms, account_id, signups, verified, pending, rejected)
    SELECT campaign_id, created_ms - created_ms % 86400000, account_id, COUNT(*),
    SUM(CASE WHEN referrer_code IS NOT NULL AND referral_status = 'verified' THEN 1 ELSE 0 END),
    SUM(CASE WHEN referral_status = 'pending' THEN 1 ELSE 0 END),
    SUM(CASE WHEN referral_status = 'rejected' THEN 1 ELSE 0 END)
    FROM subscriber GROUP BY campaign_id, created_ms - created_ms % 86400000, account_id;
INSERT INTO cohort_state (campaign_id, account_id, zone, built_ms)
    SELECT id, account_id, 'UTC', {now} FROM campaign;
"""

# What the job "count who joined on each day" counts. It would take an hour for so many accounts.
_COHORTS = """
INSERT INTO cohort_count (campaign_id, kind, day, key, account_id, joined, verified, pending,
    rejected, followed, left_30, left_90)
    SELECT campaign_id, '{kind}', day, key, account_id, COUNT(*), SUM(verified), SUM(pending),
    SUM(rejected), SUM(followed), SUM(has_left), SUM(has_left) FROM (
        SELECT campaign_id, account_id, {day} AS day, {key} AS key,
        CASE WHEN referrer_code IS NOT NULL AND referral_status = 'verified' THEN 1 ELSE 0 END
        AS verified, CASE referral_status WHEN 'pending' THEN 1 ELSE 0 END AS pending,
        CASE referral_status WHEN 'rejected' THEN 1 ELSE 0 END AS rejected,
        CASE referral_status WHEN 'rejected' THEN 0 ELSE 1 END AS followed,
        CASE WHEN referral_status <> 'rejected' AND status = 'unsubscribed' THEN 1 ELSE 0 END
        AS has_left FROM subscriber WHERE {belongs}
    ) AS counted GROUP BY campaign_id, day, key, account_id;
"""
_KINDS = {
    "group": (
        "CASE WHEN partner_campaign_id IS NOT NULL THEN 'by_partners' "
        "WHEN referrer_code IS NULL THEN 'not_referred' ELSE 'by_subscribers' END",
        "",
    ),
    "referrer": ("referrer_id", "referrer_id IS NOT NULL"),
    "reason": ("referral_reason", "referral_status = 'rejected'"),
    "origin": ("origin", ""),
    "utm_source": ("COALESCE(utm_source, '')", ""),
    "utm_campaign": ("COALESCE(utm_campaign, '')", ""),
}

_PAGE_INDEX = """
INSERT INTO listing (list, account_id, n)
    SELECT {owner} || '/{kind}', account_id, COUNT(*) FROM subscriber WHERE {belongs}
    GROUP BY {owner}, account_id;
INSERT INTO listing_run (list, account_id, lo_ms, lo_id, n)
    SELECT {owner} || '/{kind}', account_id, {bottom_ms}, '', COUNT(*) % {rows} FROM subscriber
    WHERE {belongs} GROUP BY {owner}, account_id;
INSERT INTO listing_run (list, account_id, lo_ms, lo_id, n)
    SELECT {owner} || '/{kind}', account_id, created_ms, id, {rows} FROM (
        SELECT {owner}, account_id, created_ms, id,
        ROW_NUMBER() OVER (PARTITION BY {owner} ORDER BY created_ms DESC, id DESC) AS place
        FROM subscriber WHERE {belongs}
    ) AS ranked WHERE place % {rows} = 0;
"""
_LISTS = {
    "all": ("campaign_id", "erased_ms IS NULL"),
    "referrals": ("campaign_id", "erased_ms IS NULL AND referrer_code IS NOT NULL"),
    "advocates": ("campaign_id", "erased_ms IS NULL AND is_advocate = 1"),
    "brought": (
        "referrer_id",
        "erased_ms IS NULL AND referrer_id IS NOT NULL "
        "AND referrer_id IN (SELECT id FROM subscriber WHERE is_star = 1)",
    ),
}

# Half of the events are the large account's.
_EVENTS = """
INSERT INTO webhook (id, account_id, url, new_referral, secret, created_ms)
    SELECT {webhook}, {account}, 'http://127.0.0.1:9/hook', 0, 'whsec_c2NhbGU=', {now}
    FROM (SELECT n AS account_n FROM {listening}) AS numbered;
INSERT INTO event (id, account_id, type, body, created_ms)
    SELECT {event}, {account}, 'new_referral', '{{"type":"new_referral"}}', {event_ms}
    FROM (SELECT n, {event_account} AS account_n FROM {events}) AS numbered;
INSERT INTO delivery (id, account_id, webhook_id, event_id, status, tries, due_ms, created_ms)
    SELECT {delivery}, {account}, {webhook}, {event},
    CASE WHEN n % 100 = 3 THEN 'failed' ELSE 'delivered' END, 1, {event_ms}, {event_ms}
    FROM (SELECT n, {event_account} AS account_n FROM {events}) AS numbered;
INSERT INTO attempt (id, account_id, delivery_id, at_ms, status_code, latency_ms)
    SELECT {delivery}, {account}, {delivery}, {event_ms} + 50, 200, 12
    FROM (SELECT n, {event_account} AS account_n FROM {events}) AS numbered;
"""


def _statements(expressions: Expressions) -> Iterator[str]:
    """All of them with triggers off, except for the accounts."""
    sizes = expressions.sizes
    for first in range(0, sizes.subscribers, SLICE):
        yield from _split(_subscribers(expressions, first, min(first + SLICE, sizes.subscribers)))
    yield from _split(_COUNTS.format(now=expressions.now_ms))
    for kind, (key, belongs) in _KINDS.items():
        yield from _split(
            _COHORTS.format(kind=kind, day=expressions.day(), key=key, belongs=belongs or "1 = 1")
        )
    for kind, (owner, belongs) in _LISTS.items():
        yield from _split(
            _PAGE_INDEX.format(
                kind=kind,
                owner=owner,
                belongs=belongs,
                rows=BLOCK_ROWS,
                bottom_ms=BOTTOM[0],
            )
        )
    yield from _split(_events(expressions))
    yield from _split(programs.money(expressions))


def _account_statements(expressions: Expressions) -> Iterator[str]:
    text = _ACCOUNTS.format(
        account=expressions.account("n"),
        campaign=expressions.campaign("n"),
        now=expressions.now_ms,
        accounts=expressions.series(2, expressions.sizes.accounts),
    )
    yield from _split(text)
    yield from _split(programs.programs(expressions))


def _subscribers(expressions: Expressions, first: int, end: int) -> str:
    referrer_id = expressions.subscriber_id("referrer_n", "referrer_created_ms")
    referrer_code = f"'s' || {expressions.padded('referrer_n')}"
    return _SUBSCRIBERS.format(
        id=expressions.subscriber_id("n", "created_ms"),
        account=expressions.account(),
        campaign=expressions.campaign(),
        n_padded=expressions.padded("n"),
        code=f"'s' || {expressions.padded('n')}",
        referrer_code=f"CASE WHEN referrer_n IS NOT NULL THEN {referrer_code} "
        f"WHEN joined_n IS NOT NULL THEN 'p' || {expressions.padded('joined_n')} END",
        joined="CASE WHEN joined_n IS NOT NULL THEN "
        f"'00000004-0000-7000-8000-' || {expressions.padded('joined_n')} END",
        joined_n=programs.joined_number(expressions),
        referrer_id=f"CASE WHEN referrer_n IS NOT NULL THEN {referrer_id} END",
        now=expressions.now_ms,
        created=expressions.created("n"),
        referrer_created=expressions.created("referrer_n"),
        large=expressions.sizes.large,
        large_advocates=max(1, expressions.sizes.large // 100),
        others=expressions.sizes.accounts - 1,
        subscribers=expressions.series(first, end),
    )


def _events(expressions: Expressions) -> str:
    sizes, listening = expressions.sizes, min(LISTENING, expressions.sizes.accounts)
    span_ms = 20 * DAY_MS
    return _EVENTS.format(
        webhook=f"'0000000b-0000-7000-8000-' || {expressions.padded('account_n')}",
        account=expressions.account(),
        event=f"'msg_0000000e-0000-7000-8000-' || {expressions.padded('n')}",
        delivery=f"'0000000d-0000-7000-8000-' || {expressions.padded('n')}",
        event_ms=f"({expressions.now_ms - 21 * DAY_MS} + n * {span_ms} / {sizes.events})",
        event_account=f"CASE WHEN n % 2 = 0 THEN 0 ELSE 1 + n / 2 % {listening - 1} END",
        listening=expressions.series(0, listening),
        events=expressions.series(0, sizes.events),
        now=expressions.now_ms,
    )


def _split(text: str) -> Iterator[str]:
    yield from (part.strip() for part in text.split(";\n") if part.strip())


async def fill(url: str, sizes: Sizes, say: Say) -> dict[str, Campaign]:
    await migrate(url)
    store = await open_store(url)
    try:
        campaigns = {
            name: await people.campaign(store, number, 1)
            for number, name in enumerate((LARGE, ORDINARY))
        }
        campaigns[LARGE].size = sizes.large
        campaigns[ORDINARY].size = sizes.ordinary
        path = sqlite_path(url)
        expressions = Expressions(path is not None, sizes, campaigns, system_clock())
        await (
            _fill_postgres(url, expressions, say)
            if path is None
            else _fill_sqlite(path, expressions, say)
        )
    finally:
        await store.close()
    return campaigns


async def _fill_sqlite(path: object, expressions: Expressions, say: Say) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(
        "PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; PRAGMA foreign_keys = OFF"
    ).fetchall()

    async def run(sql: str) -> None:
        connection.execute(f"BEGIN; {sql}; COMMIT").fetchall()

    await _run_all(_account_statements(expressions), run, say)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    await _run_all(_statements(expressions), run, say)
    connection.close()


async def _fill_postgres(url: str, expressions: Expressions, say: Say) -> None:
    settings = {
        "synchronous_commit": "off",
        "maintenance_work_mem": "512MB",
        "work_mem": "256MB",
        "jit": "off",
    }
    server = await asyncpg.connect(url, server_settings=settings, command_timeout=3600)
    await _run_all(_account_statements(expressions), server.execute, say)
    await server.execute("SET session_replication_role = replica")
    indexes = await server.fetch(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'subscriber' "
        "AND indexname <> 'subscriber_pkey'"
    )
    for name, _ in indexes:
        await server.execute(f"DROP INDEX {name}")
    await _run_all(_statements(expressions), server.execute, say)
    for _, definition in indexes:
        say(definition[:100])
        await server.execute(definition)
    say("VACUUM ANALYZE")
    await server.execute("VACUUM ANALYZE")
    await server.close()


async def _run_all(
    statements: Iterator[str], run: Callable[[str], Awaitable[object]], say: Say
) -> None:
    for sql in statements:
        say(" ".join(sql.split())[:100])
        await run(sql)


def make(url: str, sizes: Sizes, say: Say) -> dict[str, Campaign]:
    return asyncio.run(fill(url, sizes, say))
