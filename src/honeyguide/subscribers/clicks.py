"""Clicks on shared links, counted once per visitor and hour. All that is kept of a visitor, for two
days, is a hash with a salt that changes daily. Requests only queue a click; many are written
together shortly after.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.kernel.isolation import do_all
from honeyguide.kernel.site import Site
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.purging import Purge
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

log = logging.getLogger("honeyguide.clicks")

# The days of every time zone begin at a quarter of an hour.
QUARTER_MS = 15 * MINUTE_MS
FLUSH_S = 0.5
# Sites that are told apart in one quarter of an hour of an account. A visitor can claim any.
MOST_HOSTS = 30
# The others together. No host has such a name.
OTHER_HOSTS = "(other)"
# How many are written in one transaction, and how many may wait while the store is down; more than
# that are lost.
BATCH = 500
MOST_WAITING = 50_000
# A click that cannot be written is lost after this many tries.
MOST_TRIES = 5
KEPT_MS = 2 * DAY_MS
PURGE_BATCH = 1_000


class Click(NamedTuple):
    account_id: str
    target_id: str
    code: str
    hour_ms: int
    visitor: str
    quarter_ms: int = 0
    host: str = ""


class DayCount(NamedTuple):
    day_ms: int
    n: int


class _Fresh(NamedTuple):
    account_id: str
    target_id: str
    code: str
    hour_ms: int
    visitor: str


class _KnownHost(NamedTuple):
    account_id: str
    quarter_ms: int
    host: str


class _OldClick(NamedTuple):
    target_id: str
    code: str
    hour_ms: int
    visitor: str


_sql = beside(__file__)
_ADD = _sql.query("add", _Fresh)
_COUNT = _sql.command("count")
_KNOWN_HOSTS = _sql.query("known_hosts", _KnownHost)
_COUNT_SOURCES = _sql.command("count_sources")
_OF_VISITOR = _sql.value("of_visitor", int)
_BY_DAY = _sql.query("by_day", DayCount)
_TOTAL = _sql.value("total", int)
_ERASE = _sql.command("erase")
_ERASE_DAYS = _sql.command("erase_days")
_OLD = _sql.query("old", _OldClick)
_PURGE = _sql.command("purge")


def visitor_hash(site: Site, address: str, user_agent: str, now_ms: int) -> str:
    """The day is part of the salt, so that nobody can be followed from one day to the next."""
    return site.keyed_hash(f"visitor {now_ms // DAY_MS}", f"{address}\0{user_agent}")[:32]


def visitor_hashes(site: Site, address: str, user_agent: str, now_ms: int) -> tuple[str, str]:
    """Of one visitor, today and yesterday."""
    return (
        visitor_hash(site, address, user_agent, now_ms),
        visitor_hash(site, address, user_agent, now_ms - DAY_MS),
    )


def click(
    site: Site,
    *,
    account_id: str,
    target_id: str,
    code: str,
    address: str,
    user_agent: str,
    now_ms: int,
    referrer: str = "",
) -> Click:
    """`target_id` is the campaign, or the partner's campaign, that the link belongs to. `referrer`
    is the URL of the page that it was on, of which only the host is kept."""
    return Click(
        account_id=account_id,
        target_id=target_id,
        code=code,
        hour_ms=now_ms // HOUR_MS * HOUR_MS,
        visitor=visitor_hash(site, address, user_agent, now_ms),
        quarter_ms=now_ms // QUARTER_MS * QUARTER_MS,
        host=host_of(referrer),
    )


_HOST = re.compile(r"https?://(?:www\.)?([a-z0-9.-]{1,253})(?:[:/?#]|$)", re.IGNORECASE).match


def host_of(url: str) -> str:
    """`example.org`, or nothing if it is no web address."""
    found = _HOST(url)
    return found[1].lower().strip(".") if found else ""


async def count_clicks(tx: Tx, clicks: Sequence[Click]) -> int:
    """Writes clicks and returns how many of them were the visitor's first in that hour."""
    if not clicks:
        return 0
    # One order for all writers, so that two of them never wait for each other.
    first: dict[_Fresh, Click] = {}
    for click in sorted(clicks):
        first.setdefault(_Fresh(*click[:5]), click)
    fresh = await tx.all(_ADD, clicks=[click._asdict() for click in first.values()])
    counts: Counter[tuple[str, str, int, str]] = Counter()
    sources: Counter[tuple[str, int, str]] = Counter()
    for each in fresh:
        sources[each.account_id, first[each].quarter_ms, first[each].host] += 1
        day_ms = each.hour_ms // DAY_MS * DAY_MS
        for code in (each.code, ""):  # the empty code is the total over all links
            counts[each.target_id, code, day_ms, each.account_id] += 1
    if counts:
        columns = ("target_id", "code", "day_ms", "account_id")
        rows = [dict(zip(columns, key, strict=True), n=n) for key, n in sorted(counts.items())]
        await tx.run(_COUNT, counts=rows)
        await _count_sources(tx, sources)
    return len(fresh)


async def _count_sources(tx: Tx, sources: Counter[tuple[str, int, str]]) -> None:
    quarters = sorted({source[:2] for source in sources})
    rows = [{"account_id": account_id, "quarter_ms": at} for account_id, at in quarters]
    known: dict[tuple[str, int], set[str]] = {quarter: set() for quarter in quarters}
    for each in await tx.all(_KNOWN_HOSTS, quarters=rows):
        known[each.account_id, each.quarter_ms].add(each.host)
    counts: Counter[tuple[str, int, str]] = Counter()
    for (account_id, at, host), n in sources.most_common():
        hosts = known[account_id, at]
        if host not in hosts and len(hosts) >= MOST_HOSTS:
            host = OTHER_HOSTS
        hosts.add(host)
        counts[account_id, at, host] += n
    columns = ("account_id", "quarter_ms", "host")
    rows = [dict(zip(columns, key, strict=True), n=n) for key, n in sorted(counts.items())]
    await tx.run(_COUNT_SOURCES, counts=rows)


async def has_clicked(
    at: AccountReading, target_id: str, code: str, *, visitors: Sequence[str]
) -> bool:
    """Whether the visitor followed the link within a day."""
    this_hour_ms = at.now_ms // HOUR_MS * HOUR_MS
    return bool(
        await at.one(
            _OF_VISITOR,
            target_id=target_id,
            code=code,
            hours=[{"hour_ms": this_hour_ms - ago * HOUR_MS} for ago in range(25)],
            visitors=list(visitors),
        )
    )


async def by_day(
    at: AccountReading, target_id: str, *, code: str = "", since_ms: int
) -> list[DayCount]:
    """Clicks per day, days without any left out; of one link, or of all (no code)."""
    return await at.all(_BY_DAY, target_id=target_id, code=code, since_ms=since_ms)


async def total(at: AccountReading, target_id: str, code: str = "") -> int:
    return await at.one(_TOTAL, target_id=target_id, code=code) or 0


async def erase(change: Change, target_id: str, code: str) -> None:
    """How often one person's link was followed is theirs; the campaign's totals stay."""
    for statement in (_ERASE, _ERASE_DAYS):
        await change.run(statement, target_id=target_id, code=code)


# Forgets visitors of two days ago.
purge = Purge(_OLD, _PURGE, lambda now_ms: {"before_ms": now_ms - KEPT_MS}, batch=PURGE_BATCH)


class ClickCounter:
    """Takes clicks off the request's path and writes them in batches."""

    name = "count clicks"

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[Click, int] = {}  # how often it was tried
        self._flushing = asyncio.Lock()

    def add(self, click: Click) -> None:
        if len(self._waiting) < MOST_WAITING:
            self._waiting.setdefault(click, 0)

    def begin(self) -> None:
        pass

    async def step(self) -> None:
        await self.flush()

    async def rest(self) -> None:
        await asyncio.sleep(FLUSH_S)

    async def end(self) -> None:
        await self.flush()

    async def flush(self) -> None:
        """Writes all that wait. Raises the error of those that cannot be written; they are tried
        again."""
        async with self._flushing:  # two at once would count a click twice
            await self._write_waiting()

    async def _write_waiting(self) -> None:
        clicks = list(self._waiting)
        failed: dict[Click, Exception] = {}
        for start in range(0, len(clicks), BATCH):
            batch = clicks[start : start + BATCH]
            failed |= await do_all(batch, lambda some: self._store.write(count_clicks, some))
            for each in batch:
                if each not in failed:
                    del self._waiting[each]
        for each, error in failed.items():
            self._waiting[each] += 1
            if self._waiting[each] == MOST_TRIES:
                log.error("A click could not be counted", exc_info=error)
                del self._waiting[each]
        for error in failed.values():
            raise error
