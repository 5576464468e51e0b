"""Money: referrals verified and charged per second beside the same SQL through the driver alone;
and a month of a million charges closed, paid out and proved by the real commands.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import asyncpg

from bench.month import PER_PARTNER, Month, fill
from bench.people import statement
from bench.plan import Bench, progress
from bench.report import Table, verdict
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.ids import new_code, new_id
from honeyguide.partners import rules
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store import Store, migrate, open_store, sqlite_path
from honeyguide.store.postgres import SETTINGS
from honeyguide.store.sqlite import connect
from honeyguide.store.tx import timed
from tests.support.changes import changing
from tests.support.trade import SITE, Trade, publish

ABOUT = "Money: charges per second, and payouts for a month with a million charges"
TARGET = 0.40
MOST_S = 60.0
PROGRAMS = {"one program": 1, "ten programs": 10}
POOL, GROUP = 10, 32
FEE = 1
BIG = 100_000_000  # cents: no cap is met while we measure

# One referral, in the order in which the domain runs them.
STEPS = (
    "signups.signups.arrival",
    "signups.partner_signups.find",
    "signups.lifecycle.insert",
    "signups.partner_signups.insert",
    "events.outbox.listeners",
    "partners.ledger.lock_month",
    "partners.charges.lock_budget",
    "partners.charges.lock_partner_spend",
    "partners.charges.spend_budget",
    "partners.charges.spend_partner",
    "partners.charges.insert_charge",
    "partners.ledger.post",
    "partners.charges.mark_charged",
    "signups.consequence_writer.count_day",
)


# Columns that one referral leaves empty.
NULLS = (
    "nearly_ms",
    "name",
    "claimed_code",
    "referrer_id",
    "referral_reason",
    "referral_due_ms",
    "referral_behind",
    "ip_address",
    "network",
    "user_agent",
    "rule",
    "screening",
    "hold_until_ms",
    "utm_source",
    "utm_campaign",
    "reverses_id",
    "reversal_reason",
)


@dataclass
class Shop:
    """A database with programs to bring readers to."""

    url: str
    trades: list[Trade]
    month: str

    @classmethod
    async def open(cls, store: Store, url: str, count: int) -> Shop:
        now_ms = system_clock()
        terms = {"cpa": FEE, "total_budget": BIG, "max_payout": BIG, "now_ms": now_ms}
        trades = [await Trade.begin(store, **terms) for _ in range(count)]
        for trade in trades:
            await trade.arrive(now_ms=now_ms)  # begins the month and every counter
        return cls(url, trades, rules.month_of(now_ms))


async def _ours(store: Store, shop: Shop, seconds: float) -> float:
    """The domain's verb on the store, as many at once as there are connections to the service."""
    began = time.perf_counter()
    trades = [shop.trades[number % len(shop.trades)] for number in range(GROUP)]
    done = await asyncio.gather(*(_sign_up(store, trade, began + seconds) for trade in trades))
    return sum(done) / (time.perf_counter() - began)


async def _sign_up(store: Store, trade: Trade, until: float) -> int:
    done = 0
    while time.perf_counter() < until:
        new = NewSubscriber(
            email=f"{new_id()}@example.org", referrer_code=trade.partners[0].ref_code
        )
        sign_up = changing(signups.sign_up, SITE, trade.owner, system_clock())
        await store.write(sign_up, new)
        done += 1
    return done


def _values(shop: Shop, trade: Trade) -> dict[str, Any]:
    now_ms, email, partner = system_clock(), f"{new_id()}@example.org", trade.partners[0]
    charge_id, referral_id, subscriber_id = new_id(), new_id(), new_id()
    common = dict.fromkeys(NULLS) | {
        "now_ms": now_ms,
        "account_id": trade.owner.account_id,
        "campaign_id": trade.owner.campaign_id,
        "month": shop.month,
        "program_id": trade.program.id,
        "partner_campaign_id": partner.id,
        "partner_account_id": partner.account_id,
        "person_key": email,
        "fee_cents": FEE,
        "subscriber_id": subscriber_id,
        "code": partner.ref_code,
        "decided_ms": now_ms,
        "budget_cap_cents": BIG,
        "partner_cap_cents": BIG,
        "partner_referral_id": referral_id,
        "day": now_ms // 86_400_000,
        "verified": 1,
        "rejected": 0,
        "reversed": 0,
        "email": email,
        "email_key": email,
        "ref_code": new_code(12),
        "status": "active",
        "must_confirm": 0,
        "referrer_code": partner.ref_code,
        "referral_status": "verified",
        "origin": "api",
        "is_referred": 1,
        "is_own": 0,
        "created_ms": now_ms,
        "received_ms": now_ms,
        "kind": "charge",
        "reference": f"charge:{charge_id}",
        "debit": f"program:{trade.program.id}:receivable",
        "credit": f"partner:{partner.account_id}:payable",
        "amount_cents": FEE,
    }
    ids = {
        "signups.lifecycle.insert": subscriber_id,
        "signups.partner_signups.insert": referral_id,
        "partners.charges.insert_charge": charge_id,
        "partners.ledger.post": new_id(),
        "partners.charges.mark_charged": referral_id,
    }
    return {"common": common, "ids": ids}


def _bound(name: str, order: tuple[str, ...], given: dict[str, Any]) -> list[Any]:
    values = given["common"] | {"id": given["ids"].get(name)}
    return [values[parameter] for parameter in order]


def _learn(name: str, row: Any, given: dict[str, Any]) -> None:
    """What the locks give back decides what is written: the next steps of the budget, of the
    partner's share and of the person.
    """
    if name == "partners.charges.lock_budget":
        given["common"]["budget_spent_cents"] = row[1] + FEE
    elif name == "partners.charges.lock_partner_spend":
        given["common"]["partner_spent_cents"] = row[0] + FEE
        *steps, _shared_members = row[-4:]
        given["common"] |= zip(("budget_step", "partner_step", "person_step"), steps, strict=True)


def _sqlite_alone(shop: Shop, seconds: float) -> float:
    path = sqlite_path(shop.url)
    assert path is not None
    connection = connect(path)
    steps = [(name, statement(name)) for name in STEPS]
    done, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        connection.execute("BEGIN IMMEDIATE")
        for number in range(GROUP):
            given = _values(shop, shop.trades[number % len(shop.trades)])
            for name, step in steps:
                rows = connection.execute(
                    step.sqlite, _bound(name, step.sqlite_order, given)
                ).fetchall()
                _learn(name, rows[0] if rows else None, given)
            done += 1
        connection.execute("COMMIT")
    took = time.perf_counter() - began
    connection.close()
    return done / took


async def _postgres_alone(shop: Shop, seconds: float) -> float:
    steps = [(name, statement(name)) for name in STEPS]

    async def loop(connection: Any, number: int, until: float) -> int:
        done = 0
        while time.perf_counter() < until:
            given = _values(shop, shop.trades[number % len(shop.trades)])
            await connection.execute("BEGIN")
            for name, step in steps:
                row = await connection.fetchrow(
                    step.postgres, *_bound(name, step.postgres_order, given)
                )
                _learn(name, row, given)
            await connection.execute("COMMIT")
            done += 1
        return done

    pool = [await asyncpg.connect(shop.url, server_settings=SETTINGS) for _ in range(POOL)]
    began = time.perf_counter()
    done = await asyncio.gather(
        *(loop(one, number, began + seconds) for number, one in enumerate(pool))
    )
    took = time.perf_counter() - began
    for one in pool:
        await one.close()
    return sum(done) / took


async def _alone(shop: Shop, seconds: float) -> float:
    return (
        _sqlite_alone(shop, seconds)
        if shop.url.startswith("sqlite")
        else await _postgres_alone(shop, seconds)
    )


async def _charges(
    bench: Bench, engine: str, label: str, tick: Callable[[], None]
) -> tuple[float, float, float]:
    """Ours, the driver's and the median ratio of the two, in turn."""
    url = bench.database_url(engine, f"money_{PROGRAMS[label]}")
    await migrate(url)
    ours, alone = [], []
    for _ in range(bench.size.rounds):
        store = await open_store(url, pool_size=POOL)
        shop = await Shop.open(store, url, PROGRAMS[label])
        ours.append(await _ours(store, shop, bench.size.seconds))
        await store.close()
        alone.append(await _alone(shop, bench.size.seconds))
        tick()
    ratio = statistics.median(a / b for a, b in zip(ours, alone, strict=True))
    return statistics.median(ours), statistics.median(alone), ratio


# -- a month of a million charges, made by the database itself


@dataclass
class Ran:
    seconds: float
    peak_mb: float
    output: str


def _command(url: str, *label: str) -> Ran:
    """A real command, its time and the most memory it ever had."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("HONEYGUIDE_")
    }
    environment["HONEYGUIDE_DATABASE_URL"] = url
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "honeyguide", *label],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"honeyguide {' '.join(label)} failed: {output[-2000:]}")
    return Ran(time.perf_counter() - began, usage.ru_maxrss / 1024, output)


async def _plan(url: str, engine: str, charges: int) -> Month:
    await migrate(url)
    name = rules.previous_month(rules.previous_month(rules.month_of(system_clock())))
    store = await open_store(url)
    begin_ms = rules.month_bounds(name)[0]
    trade = await Trade.begin(store, partners=0, now_ms=begin_ms)
    owner, programs = trade.owner, [trade.program]
    for _ in range(9):
        programs.append(await store.write(timed(publish, begin_ms), owner))
    await store.close()
    return Month(
        engine=engine,
        url=url,
        name=name,
        charges=charges,
        account_id=owner.account_id,
        campaign_id=owner.campaign_id,
        programs=[program.id for program in programs],
    )


def _paid_out(bench: Bench, engine: str, charges: int, tick: Callable[[], None]) -> tuple[Ran, Ran]:
    url = bench.database_url(engine, f"month_{charges}")
    month = asyncio.run(_plan(url, engine, charges))
    # Elsewhere: the memory of a command is never counted as less than that of whoever starts it.
    filling = multiprocessing.get_context("spawn").Process(target=fill, args=(month,))
    filling.start()
    filling.join()
    if filling.exitcode:
        raise RuntimeError("the month could not be made")
    tick()
    paid = _command(url, "payouts", "make")
    tick()
    proved = _command(url, "verify")
    tick()
    return paid, proved


def run(bench: Bench) -> list[Table]:
    speed = Table(
        "Referrals verified and charged per second",
        ("", "Honeyguide", "driver alone", "ratio", "target", "reached"),
        note="A reader signs up through a partner's link, without a holding period: subscriber, "
        "referral, caps, charge, ledger and counters in one transaction. The driver alone sends "
        "the same statements on as many connections, with all values known in advance.",
    )
    paying = Table(
        "A month closed and paid out from the command line, then verified",
        (
            "",
            "charges",
            "partners",
            "payouts created in",
            "peak memory",
            "verify",
            "peak memory",
            "target",
            "reached",
        ),
        note="SQLite's memory includes its page caches, at most 64 MB for each of three "
        "connections; its verify also sorts in memory.",
    )
    sizes = sorted({min(100_000, max(1_000, bench.size.rows // 10)), bench.size.rows})
    for engine in bench.engines:
        title = {"sqlite": "SQLite", "postgres": "PostgreSQL"}[engine]
        with progress() as bar:
            charging = bar.add_task(f"{engine}: charges", total=bench.size.rounds * len(PROGRAMS))
            for label in PROGRAMS:
                ours, alone, ratio = asyncio.run(
                    _charges(bench, engine, label, partial(bar.advance, charging))
                )
                speed.rows.append(
                    (
                        f"{title}, {label}",
                        f"{ours:,.0f}",
                        f"{alone:,.0f}",
                        f"{ratio:.2f}",
                        *verdict(ratio, TARGET),
                    )
                )
            for charges in sizes:
                steps = bar.add_task(f"{engine}: {charges:,} charges", total=3)
                paid, proved = _paid_out(bench, engine, charges, partial(bar.advance, steps))
                paying.rows.append(
                    (
                        title,
                        f"{charges:,}",
                        f"{charges // PER_PARTNER:,}",
                        f"{paid.seconds:.1f} s",
                        f"{paid.peak_mb:.0f} MB",
                        f"{proved.seconds:.1f} s",
                        f"{proved.peak_mb:.0f} MB",
                        *verdict(paid.seconds, MOST_S, at_most=True),
                    )
                )
    return [speed, paying]
