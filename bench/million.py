"""Cost that does not grow: the same request in a campaign of a thousand and in one of a million, on
one connection, in turn.
"""

from __future__ import annotations

import http.client
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from urllib.parse import urlencode

from bench import clicks, people, servers, shipments
from bench.people import Campaign
from bench.plan import Bench, progress
from bench.report import Table, verdict

ABOUT = "A million subscribers: the same request in a large and a small campaign"
SMALL = 1_000
WITHIN = 3.0
PAGE_MS = 300.0


@dataclass(frozen=True)
class Ask:
    label: str
    path: Callable[[Campaign], str]
    shows: bytes = b'"subscribers":[{'  # what a true answer holds
    most_ms: float | None = None  # instead of a ratio: it reads more the larger the campaign is
    is_signup: bool = False  # posts the signup form, as a new person from a network of their own


def _page(label: str, kind: str, per_page: int, share: int | None) -> Ask:
    """The first page, or the last full one of a list that holds one in `share` of the campaign's
    people.
    """

    def path(campaign: Campaign) -> str:
        page = 1 if share is None else campaign.size // share // per_page
        return f"{campaign.path}?type={kind}&page={page}&per_page={per_page}"

    return Ask(label, path)


def _brought(label: str, *, last: bool) -> Ask:
    def path(campaign: Campaign) -> str:
        page = campaign.size // 10 // 50 if last else 1
        return f"{campaign.path}/{campaign.person_id(0)}/referrals?page={page}&per_page=50"

    return Ask(label, path)


def _dashboard(label: str, path: str, shows: bytes = b"") -> Ask:
    """A page that reads more the larger the campaign is, within a limit."""
    return Ask(label, lambda campaign: path, shows, PAGE_MS)


_LANE = b"1 Hive Lane"

ASKS = (
    _page("totals (a page of 1)", "all", 1, None),
    _page("page 1 of 50", "all", 50, None),
    _page("page 1 of 200", "all", 200, None),
    _page("last page of 200", "all", 200, 1),
    _page("type=referrals, page 1", "referrals", 50, None),
    _page("type=referrals, deep page", "referrals", 50, 2),
    _page("type=advocates, page 1", "advocates", 50, None),
    _page("type=advocates, last page", "advocates", 50, 10),
    _brought("top advocate's referrals, page 1", last=False),
    _brought("top advocate's referrals, last page", last=True),
    Ask("the dashboard's shipments", lambda campaign: "/shipments", _LANE),
    Ask("the same for one reward", lambda c: f"/shipments?reward={c.later_id(0, 1)}", _LANE),
    Ask("the dashboard's sent shipments", lambda campaign: "/shipments?show=sent", b"the API<"),
    _dashboard("Home, 30 days", "/?range=30d", b"comb"),
    _dashboard("Home, 12 months", "/?range=year", b"comb"),
    _dashboard("Home, 30 days, by site", "/?range=30d&by=site", b"comb"),
    _dashboard("Home, what is new", "/overview/new"),
    _dashboard("the dashboard's subscribers", "/subscribers", b"subscribers"),
    _dashboard("subscribers, part of an address", "/subscribers?q=person12", b"subscribers"),
    _dashboard("subscribers, nobody found", "/subscribers?q=zzzzzz", b"subscribers"),
    _dashboard("search everywhere", "/search?q=person12", b"search"),
    _dashboard("review, in groups", "/review", b"Review"),
    _dashboard("programs", "/program", b"rogram"),
    _dashboard("earnings", "/earnings", b"arn"),
    _dashboard("team", "/team", b"Team"),
    _dashboard("change log", "/account/changes?q=zzzzzz", b"Change log"),
    Ask(
        "top advocate's page and panel",
        lambda campaign: f"/subscribers/{campaign.person_id(0)}",
        b"Person 0",
        PAGE_MS,
    ),
    Ask("top advocate's referral page", lambda campaign: campaign.top_hub, b"Leaderboard"),
    Ask(
        "signup page with their code",
        lambda campaign: f"/join/{campaign.slug}?ref={campaign.top_code}",
        b"A friend invited you",
    ),
    Ask("signup with their code", lambda campaign: f"/join/{campaign.slug}", b"", is_signup=True),
)
_numbers = count()


def _ask(connection: http.client.HTTPConnection, ask: Ask, campaign: Campaign) -> float:
    path, method, body, expected = ask.path(campaign), "GET", None, 200
    headers = {"X-Api-Key": campaign.keys[0], "Cookie": f"hg_session={campaign.session}"}
    if ask.is_signup:
        n = next(_numbers)
        method, expected, body = "POST", 303, _signup_form(connection, path, campaign, n)
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Forwarded-For": f"198.18.{n // 256 % 256}.{n % 256}",
        }
    began = time.perf_counter()
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    shown = answer.read()
    took = time.perf_counter() - began
    if answer.status != expected or ask.shows not in shown:
        raise RuntimeError(f"{path} was answered {answer.status}: {shown[:300]!r}")
    return took * 1000


def _signup_form(
    connection: http.client.HTTPConnection, path: str, campaign: Campaign, n: int
) -> str:
    connection.request("GET", path)
    token = re.search(rb'name="token" value="([^"]+)"', connection.getresponse().read())
    assert token is not None
    email = f"reader{n}@example.org"
    return urlencode({"token": token[1].decode(), "email": email, "ref": campaign.top_code})


Medians = dict[tuple[str, str], float]


def _latencies(
    bench: Bench, port: int, campaigns: dict[str, Campaign], tick: Callable[[], None]
) -> Medians:
    """Small and large in turn, request by request, so that both meet the same disturbances."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(bench.size.rounds):
        for ask in ASKS:
            for _ in range(bench.size.samples):
                for name, campaign in campaigns.items():
                    found[ask.label, name].append(_ask(connection, ask, campaign))
            tick()
    return {key: statistics.median(values) for key, values in found.items()}


def _table(engine: str, rows: int, medians: Medians) -> Table:
    columns = (
        "request",
        f"{SMALL:,} subscribers",
        f"{rows:,} subscribers",
        "ratio",
        "created in one hour",
        "ratio",
        "target",
        "reached",
    )
    lines = []
    for ask in ASKS:
        small, spread, day = (medians[ask.label, name] for name in ("small", "spread", "day"))
        target = WITHIN if ask.most_ms is None else ask.most_ms
        worst = max(spread, day) / (small if ask.most_ms is None else 1)
        lines.append(
            (
                ask.label,
                f"{small:.2f} ms",
                f"{spread:.2f} ms",
                f"{spread / small:.2f}",
                f"{day:.2f} ms",
                f"{day / small:.2f}",
                *verdict(worst, target, at_most=True),
            )
        )
    title = {"sqlite": "SQLite", "postgres": "PostgreSQL"}[engine]
    note = (
        "Median latency over HTTP. Created in one hour: 19 of 20 subscribers have times within one "
        "hour, many of them equal. The target is a ratio; that of pages which read more is in "
        "milliseconds."
    )
    return Table(title, columns, lines, note)


def run(bench: Bench) -> list[Table]:
    tables = []
    plans = [
        people.Plan("small", SMALL),
        people.Plan("spread", bench.size.rows),
        people.Plan("day", bench.size.rows, one_day=True),
    ]
    for engine in bench.engines:
        with progress() as bar:
            making = bar.add_task(
                f"{engine}: people put in and folded", total=2 * sum(plan.size for plan in plans)
            )
            url = bench.database_url(engine, "million")
            database = people.make(url, plans, partial(bar.advance, making))
            for campaign in database.campaigns.values():
                shipments.add(url, campaign)
                clicks.add(url, campaign)
            measuring = bar.add_task(f"{engine}: requests", total=bench.size.rounds * len(ASKS))
            people.open_to_readers(database)
            with servers.honeyguide(
                url, bench.folder, rate_limit=0, trusted_proxies="127.0.0.1"
            ) as port:
                tick = partial(bar.advance, measuring)
                found = _latencies(bench, port, database.campaigns, tick)
        tables.append(_table(engine, bench.size.rows, found))
    return tables
