"""How fast the driver alone runs the statements of one request: no HTTP, no JSON, no log. Nothing
built on it can be faster.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import asyncpg

from bench.people import Campaign, statement
from bench.plan import Bench
from honeyguide.accounts import admission, keys  # noqa: F401 - its statements are in the registry
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.ids import new_code, new_id
from honeyguide.store import sqlite_path
from honeyguide.store.postgres import SETTINGS
from honeyguide.store.sqlite import connect
from honeyguide.subscribers.page_index import TOP

GROUP = 32  # writers that share a sync, as many as there are connections
POOL = 10
S = "signups.lifecycle."
P = "subscribers.subscribers."


@dataclass
class Values:
    """Parameters for every statement below, by name; `n` makes them differ."""

    campaign: Campaign
    digest: str | None

    def of(self, n: int) -> dict[str, Any]:
        campaign, now_ms = self.campaign, system_clock()
        person = n % min(1000, campaign.advocates)
        email = f"{new_id()}@limit.example.org"
        return {
            "digest": self.digest,
            "digests": [self.digest],
            "asked_ms": [now_ms],
            "now_ms": now_ms,
            "most": 1_000_000,
            "window_ms": 60_000,
            "code": campaign.code(person),
            "campaign_id": campaign.id,
            "account_id": campaign.account_id,
            "owner_id": campaign.id,
            "list": f"{campaign.id}/all",
            "below_ms": TOP[0],
            "below_id": TOP[1],
            "skip": 0,
            "id": campaign.person_id(person),
            "email": email,
            "email_key": email,
            "person_key": email,
            "name": None,
            "ref_code": new_code(12),
            "status": "active",
            "must_confirm": 0,
            "referrer_code": campaign.code(person),
            "claimed_code": None,
            "referrer_id": campaign.person_id(person),
            "referral_status": "verified",
            "referral_reason": None,
            "referral_due_ms": None,
            "referral_behind": None,
            "ip_address": "192.0.2.1",
            "network": "192.0.2.1",
            "user_agent": "Mozilla/5.0",
            "origin": "api",
            "utm_source": None,
            "utm_campaign": None,
            "created_ms": now_ms,
            "received_ms": now_ms,
        }


def _values(campaign: Campaign) -> Values:
    return Values(campaign, keys.digest(campaign.keys[0]))


# The statements of each request after the admission, per engine where the transaction differs.
CASES: dict[str, tuple[str, ...]] = {
    "read": (f"{P}by_id",),
    "list": ("subscribers.page_index.total", f"{P}list_all"),
    "create": (f"{S}find_referrer", f"{S}insert"),
}

_OWN: dict[str, Callable[[], dict[str, Any]]] = {
    "create": lambda: {"id": new_id()},
    "list": lambda: {"most": 50},
}


def sqlite(url: str, campaign: Campaign, case: str, seconds: float) -> float:
    """apsw in a loop: key and statements; writes share a synced commit as they do in the store."""
    path = sqlite_path(url)
    assert path is not None
    connection = connect(path)
    statements = [statement(name) for name in ("accounts.admission.find_caller", *CASES[case])]
    values, done, began = _values(campaign), 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        if case == "create":
            connection.execute("BEGIN IMMEDIATE")
        for _ in range(GROUP):
            given = values.of(done) | _OWN.get(case, dict)()
            for one in statements:
                connection.execute(
                    one.sqlite, [given.get(name) for name in one.sqlite_order]
                ).fetchall()
            done += 1
        if case == "create":
            connection.execute("COMMIT")
    took = time.perf_counter() - began
    connection.close()
    return done / took


def postgres(url: str, campaign: Campaign, case: str, seconds: float) -> float:
    """asyncpg in a loop on as many connections as the service's pool has."""
    admit = statement("accounts.admission.admit")
    statements = [statement(name) for name in CASES[case]]
    values = _values(campaign)

    async def loop(connection: Any, first: int, until: float) -> int:
        done = 0
        while time.perf_counter() < until:
            given = values.of(first + done)
            await connection.fetchrow(
                admit.postgres, *[given.get(name) for name in admit.postgres_order]
            )
            given |= _OWN.get(case, dict)()
            for one in statements:
                await connection.fetch(
                    one.postgres, *[given.get(name) for name in one.postgres_order]
                )
            done += 1
        return done

    async def all_loops() -> float:
        pool = [await asyncpg.connect(url, server_settings=SETTINGS) for _ in range(POOL)]
        began = time.perf_counter()
        done = await asyncio.gather(
            *(loop(one, n * 10_000_000, began + seconds) for n, one in enumerate(pool))
        )
        took = time.perf_counter() - began
        for one in pool:
            await one.close()
        return sum(done) / took

    return asyncio.run(all_loops())


def pgbench(bench: Bench, url: str, campaign: Campaign, case: str, seconds: float) -> float:
    """The same statements sent by a C client; on a machine with few cores it takes less of them
    than Python does.
    """
    assert bench.postgres is not None
    script = bench.folder / f"{case}.pgbench"
    script.write_text(_script(campaign, case))
    options = [
        "-n",
        "-M",
        "prepared",
        "-c",
        str(POOL),
        "-j",
        "1",
        "-T",
        str(max(1, round(seconds))),
        "-f",
        str(script),
    ]
    command = [str(bench.postgres.pgbench), *options, url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"tps = ([\d.]+)", done.stdout)
    if done.returncode or found is None:
        raise RuntimeError(f"pgbench failed: {done.stderr[-2000:]}")
    return float(found[1])


def _script(campaign: Campaign, case: str) -> str:
    """Every parameter as an SQL expression; `:p` is one of the first thousand people, `:n` is drawn
    anew.
    """
    person = f"'{campaign.prefix}-0000-7000-8000-' || lpad(:p::text, 12, '0')"
    code = f"'{campaign.prefix[-4:]}' || lpad(:p::text, 8, '0')"
    values = _values(campaign)
    sample = values.of(0) | {"most": 50}
    now = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    drawn = {
        "now_ms": now,
        "asked_ms": f"ARRAY[{now}]",
        "digests": f"ARRAY['{values.digest}']",
        "id": person,
        "code": code,
        "referrer_code": code,
        "referrer_id": person,
    }
    fresh = {
        "id": "'0193' || :n",
        "ref_code": "'b' || :n",
        "email": "'b' || :n",
        "email_key": "'b' || :n",
        "person_key": "'b' || :n",
    }
    lines = [
        f"\\set p random(0, {min(1000, campaign.advocates) - 1})",
        "\\set n random(1, 4000000000000000000)",
    ]
    for name in ("accounts.admission.admit", *CASES[case]):
        one = statement(name)
        known = {**drawn, **(fresh if name.endswith(".insert") else {})}
        if name.endswith(".admit"):
            known["most"] = "1000000"
        text = re.sub(
            r"\$(\d+)",
            lambda match, one=one, known=known: _expression(
                one.postgres_order[int(match[1]) - 1], known, sample
            ),
            one.postgres,
        )
        lines.append(" ".join(text.split()) + ";")
    return "\n".join(lines) + "\n"


def _expression(name: str, known: dict[str, str], sample: dict[str, Any]) -> str:
    if name in known:
        return f"({known[name]})"
    value = sample.get(name)
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else f"'{value}'"
