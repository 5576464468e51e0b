"""Finding subscribers: searches and filters of the dashboard, in a campaign of a tenth of the rows
and in one of all of them.

A search reads the campaign's subscribers one after another, so these are limits in milliseconds,
not ratios. The worst searches find nobody: nothing ends them early.
"""

from __future__ import annotations

import http.client
import statistics
import time
from collections.abc import Callable
from functools import partial

from bench import people, servers
from bench.people import Campaign
from bench.plan import Bench, progress
from bench.report import Table, verdict

ABOUT = "Finding subscribers: searches and filters of the dashboard"
# Milliseconds for a hundred thousand subscribers and for a million.
WITHIN_MS = {"tenth": 200.0, "all": 2_000.0}
SAMPLES = 3

ASKS = {
    "text that nobody has": "q=nobody+has+this",
    "text that few have": "q=person1234",
    "text that all have": "q=example.org",
    "a letter with accents": "q=p%C3%A9rson+777",
    "unsubscribed": "status=unsubscribed",
    "source": "utm_source=elsewhere",
    "days without signups": "joined_from=1990-01-01&joined_to=1990-12-31",
    "many referrals": "min_referrals=5",
    "an earned reward": "reward=01900000-0000-7000-8000-000000000000",
    "tag": "tag=nobody",
    "most referrals first, with text": "sort=best&q=person77",
    "text and three filters": "q=person7&origin=import&referral=pending&utm_campaign=x",
}


def _ask(port: int, campaign: Campaign, query: str) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    began = time.perf_counter()
    headers = {"Cookie": f"hg_session={campaign.session}"}
    connection.request("GET", f"/subscribers?{query}", headers=headers)
    answer = connection.getresponse()
    shown = answer.read()
    took = time.perf_counter() - began
    connection.close()
    if answer.status != 200 or b"<h1>Subscribers</h1>" not in shown:
        raise RuntimeError(f"{query} was answered {answer.status}: {shown[:300]!r}")
    return took * 1000


def _lines(
    port: int, campaigns: dict[str, Campaign], tick: Callable[[], None]
) -> list[tuple[str, ...]]:
    lines = []
    for label, query in ASKS.items():
        line = [label]
        for name, campaign in campaigns.items():
            took = statistics.median(_ask(port, campaign, query) for _ in range(SAMPLES))
            target, reached = verdict(took, WITHIN_MS[name], at_most=True)
            line += [f"{took:.0f} ms", target, reached]
        lines.append(tuple(line))
        tick()
    return lines


def run(bench: Bench) -> list[Table]:
    tables = []
    plans = [people.Plan("tenth", bench.size.rows // 10), people.Plan("all", bench.size.rows)]
    for engine in bench.engines:
        with progress() as bar:
            making = bar.add_task(
                f"{engine}: subscribers", total=2 * sum(plan.size for plan in plans)
            )
            url = bench.database_url(engine, "search")
            database = people.make(url, plans, partial(bar.advance, making))
            measuring = bar.add_task(f"{engine}: searches", total=len(ASKS))
            with servers.honeyguide(url, bench.folder, rate_limit=0) as port:
                lines = _lines(port, database.campaigns, partial(bar.advance, measuring, 1))
        columns = (
            "search",
            *(f"{plans[0].size:,} subscribers", "target (ms)", "reached"),
            *(f"{plans[1].size:,} subscribers", "target (ms)", "reached"),
        )
        title = {"sqlite": "SQLite", "postgres": "PostgreSQL"}[engine]
        tables.append(Table(title, columns, lines, "Median latency over HTTP, page and count."))
    return tables
