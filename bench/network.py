"""The partner network with ten thousand programs and with a hundred: the same request, on one
connection, in turn.
"""

from __future__ import annotations

import asyncio
import http.client
import statistics
import time
from collections import defaultdict
from typing import Any

from bench import people, servers
from bench.plan import Bench, progress
from bench.report import Table, verdict
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import audience, logos, programs, publications
from honeyguide.partners.logos import Logo
from honeyguide.partners.publications import PublicationFields
from honeyguide.store import migrate, open_store
from honeyguide.store.tx import Tx
from tests.support.changes import SITE, new_change

ABOUT = "The partner network: any page of ten thousand programs"
SMALL, LARGE, WITHIN_MS = 100, 10_000, 100
CHUNK = 500
PER_PAGE = 50
# `{last}` is the last page of all offers, `{last_tech}` that of one category.
ASKS = (
    ("first page", ""),
    ("last page", "page={last}"),
    ("by fee", "sort=cpa"),
    ("by fee, last page", "sort=cpa&page={last}"),
    ("by cap per partner", "sort=max_payout"),
    ("by confirmation rate", "sort=confirmation_rate"),
    ("one category", "category=tech"),
    ("one category, last page", "category=tech&page={last_tech}"),
    ("one gender", "audience_gender=mixed"),
    ("one income level", "income_level=%24150k%2B"),
    ("one age", "age_range=60%2B"),
    ("fee from $5", "min_cpa=5"),
    ("three filters", "category=tech&audience_gender=mainly_male&min_cpa=2"),
    ("search: a fifth", "search=honey"),
    ("search: all", "search=week"),
    ("search: all, last page", "search=week&page={last}"),
    ("search: two words", "search=honey+bees"),
    ("search in a category by fee", "search=honey&category=tech&sort=cpa"),
)
_WORDS = (
    "bees",
    "honey",
    "finance",
    "travel",
    "cars",
    "code",
    "gardens",
    "cinema",
    "running",
    "startups",
)


async def _offer(tx: Tx, account_id: str, logo: Logo, n: int, now_ms: int) -> None:
    change = new_change(tx, SITE, Tenant(account_id, ""), now_ms + n)
    fields = PublicationFields(
        name=f"{_WORDS[n % 10].title()} weekly {n}",
        description=f"About {_WORDS[n % 10]} and {_WORDS[n // 10 % 10]}, every week.",
        categories=[audience.CATEGORIES[n % len(audience.CATEGORIES)]],
        audience_gender=audience.GENDERS[n % len(audience.GENDERS)],
        income_levels=[audience.INCOME_LEVELS[n % len(audience.INCOME_LEVELS)]],
        age_ranges=[audience.AGE_RANGES[n // len(audience.GENDERS) % len(audience.AGE_RANGES)]],
    )
    publication = await publications.create(change, fields, await logos.store(logo, None))
    offer: dict[str, Any] = {"max_payout": 50 + n % 200, "total_budget": 500, "cpa": 1 + n % 9}
    await programs.create(
        change,
        publication.id,
        programs.ProgramFields(
            **offer, redirect_url="https://example.org/", show_in_directory=True
        ),
    )


async def _offers(tx: Tx, account_id: str, logo: Logo, numbers: range, now_ms: int) -> None:
    for n in numbers:
        await _offer(tx, account_id, logo, n, now_ms)


async def _fill(url: str, count: int) -> str:
    await migrate(url)
    store = await open_store(url)
    try:
        member = await people.campaign(store, 1, 1)
        logo = Logo(b"\x89PNG", "image/png", 1, 1)
        now_ms = system_clock()
        for start in range(0, count, CHUNK):
            numbers = range(start, min(start + CHUNK, count))
            await store.write(_offers, member.account_id, logo, numbers, now_ms)
        await people.settle(url)
        return member.keys[0]
    finally:
        await store.close()


def _last_pages(count: int) -> dict[str, int]:
    tech = audience.CATEGORIES.index("tech")
    return {
        "last": -(-count // PER_PAGE),
        "last_tech": -(-len(range(tech, count, len(audience.CATEGORIES))) // PER_PAGE),
    }


def _ask(connection: http.client.HTTPConnection, query: str, key: str) -> float:
    began = time.perf_counter()
    connection.request(
        "GET", f"/v2/partner_network/partner_programs?{query}", headers={"X-Api-Key": key}
    )
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200 or b'"partner_programs":[]' in body:
        raise RuntimeError(f"{query} was answered {answer.status}: {body[:300]!r}")
    return (time.perf_counter() - began) * 1000


def _latencies(bench: Bench, engine: str, large: int) -> dict[tuple[str, str], list[float]]:
    """Milliseconds by request and size, in turn."""
    urls = {
        name: bench.database_url(engine, f"network_{name}_{new_id()[-6:]}")
        for name in ("small", "large")
    }
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    with progress() as bar:
        making = bar.add_task(f"{engine}: offers", total=SMALL + large)
        keys, last_pages = {}, {}
        for name, count in (("small", SMALL), ("large", large)):
            keys[name] = asyncio.run(_fill(urls[name], count))
            last_pages[name] = _last_pages(count)
            bar.advance(making, count)
        with (
            servers.honeyguide(urls["small"], bench.folder, rate_limit=0) as small_port,
            servers.honeyguide(urls["large"], bench.folder, rate_limit=0) as large_port,
        ):
            connections = {
                name: http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                for name, port in (("small", small_port), ("large", large_port))
            }
            for _ in range(bench.size.rounds * bench.size.samples):
                for label, query in ASKS:
                    for name, connection in connections.items():
                        filled = query.format(**last_pages[name])
                        found[label, name].append(_ask(connection, filled, keys[name]))
    return found


def run(bench: Bench) -> list[Table]:
    large = min(LARGE, bench.size.rows // 10) if bench.size.rows < LARGE * 10 else LARGE
    tables = []
    for engine in bench.engines:
        found = _latencies(bench, engine, large)
        rows = []
        for label, _ in ASKS:
            small_ms, large_ms = (
                statistics.median(found[label, name]) for name in ("small", "large")
            )
            rows.append(
                (
                    label,
                    f"{small_ms:.2f} ms",
                    f"{large_ms:.2f} ms",
                    *verdict(large_ms, WITHIN_MS, at_most=True),
                )
            )
        title = {"sqlite": "SQLite", "postgres": "PostgreSQL"}[engine]
        columns = (
            "request",
            f"{SMALL} programs",
            f"{large:,} programs",
            "target",
            "reached",
        )
        tables.append(
            Table(
                title,
                columns,
                rows,
                "Median latency over HTTP, 50 results per page where there are enough.",
            )
        )
    return tables
