"""Which server takes the mail of a domain: DNS as it may be, asked by a job, once a day each."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from honeyguide import app, settings
from honeyguide.events.addresses import OutboundPolicy
from honeyguide.events.outbound import Outbound
from honeyguide.kernel.clock import DAY_MS
from honeyguide.screening import mail_hosts
from honeyguide.store import Store
from honeyguide.store.tx import timed
from honeyguide.work.decisions import HOSTS as BATCH
from honeyguide.work.items import Items
from honeyguide.work.jobs import mail_host_jobs
from tests.support.changes import SITE
from tests.support.items import run_items
from tests.support.name_server import NameServer
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.trade import NOON_MS, on

ASKING = replace(SITE, asks_mail_hosts=True)
HOSTS = statement("SELECT domain, mx_domain, network, looked_ms FROM mail_host ORDER BY domain")
LATER_MS = NOON_MS + DAY_MS + 1


async def ask(
    store: Store, names: NameServer, *domains: str, now_ms: int = NOON_MS
) -> dict[str, tuple[str | None, str | None]]:
    await store.write(timed(mail_hosts.want, now_ms), domains)
    outbound = Outbound(OutboundPolicy(https_only=False, loopback_ok=True), lookup_s=0.5)
    outbound.resolver.names = names.lookup(timeout=0.2, tries=1)
    try:
        (job,) = mail_host_jobs(ASKING, outbound)
        assert isinstance(job.work, tuple)
        (items,) = job.work
        assert isinstance(items, Items)
        await run_items(store, items, now_ms)
    finally:
        await outbound.close()
    rows = await store.read(lambda tx: tx.all(HOSTS))
    assert all(row[3] == now_ms for row in rows if row[0] in domains)
    return {row[0]: (row[1], row[2]) for row in rows}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_mail_server_tells_the_host(engine: str) -> None:
    with NameServer() as names:
        names.exchangers = {
            "a.example": [(20, "backup.elsewhere.example"), (10, "mx1.Farm.co.uk")],
            "b.example": [(10, "mx.six.example")],
            "c.example": [(10, "mx.gone.example")],
            "null.example": [(0, "")],
        }
        names.addresses = {"mx1.farm.co.uk": ["8.8.4.9", "8.8.4.8"]}
        names.addresses["mx.six.example"] = ["2a02:1:2:3::9"]
        names.texts["d.example"] = ["no mail here"]

        async def scenario(store: Store) -> None:
            domains = ["a.example", "b.example", "c.example", "d.example", "null.example"]
            assert await ask(store, names, *domains) == {
                "a.example": ("farm.co.uk", "8.8.4.0/24"),
                "b.example": ("six.example", "2a02:1:2::/48"),
                "c.example": ("gone.example", None),
                "d.example": (None, None),
                "null.example": (None, None),
            }

        on(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_resolver_that_lies_makes_nothing_of_private_networks_or_garbage(engine: str) -> None:
    with NameServer() as names:
        names.exchangers = {
            "in.example": [(1, "mx.in.example")],
            "g.example": [(1, "g.mx.example")],
        }
        names.addresses = {"mx.in.example": ["127.0.0.1"]}
        names.garbled = {"bad.example", "g.mx.example"}

        async def scenario(store: Store) -> None:
            found = await ask(store, names, "in.example")
            assert found == {"in.example": ("in.example", None)}
            found = await ask(store, names, "bad.example", "g.example")
            assert found["bad.example"] == (None, None) and found["g.example"][1] is None

        on(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_silent_resolver_delays_nobody_and_what_is_known_stays(engine: str) -> None:
    with NameServer() as names:
        names.exchangers = {"a.example": [(10, "mx.farm.example")]}
        names.addresses = {"mx.farm.example": ["8.8.4.8"]}
        known = ("farm.example", "8.8.4.0/24")

        async def scenario(store: Store) -> None:
            assert await ask(store, names, "a.example") == {"a.example": known}
            silent = [f"s{number}.example" for number in range(BATCH - 1)]
            names.silent = {"a.example", *silent}
            began = time.monotonic()
            found = await ask(store, names, "a.example", *silent, now_ms=LATER_MS)
            assert time.monotonic() - began < 5, "they are asked at the same time"
            assert found["a.example"] == known and found["s1.example"] == (None, None)

        on(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_domain_is_asked_for_once_a_day(engine: str) -> None:
    with NameServer() as names:

        async def scenario(store: Store) -> None:
            await ask(store, names, "a.example")
            asked = len(names.asked)
            await store.write(timed(mail_hosts.want, NOON_MS + 1), ["a.example"])
            assert await store.read(timed(mail_hosts.due, LATER_MS - 2), most=9) == []
            assert await store.read(timed(mail_hosts.due, LATER_MS), most=9) == ["a.example"]
            assert len(names.asked) == asked
            purged_ms = NOON_MS + 1 + mail_hosts.KEPT_MS
            for now_ms, left in ((purged_ms, 1), (purged_ms + 1, 0)):
                await store.write(timed(mail_hosts.purge, now_ms))
                assert len(await store.read(lambda tx: tx.all(HOSTS))) == left

        on(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("is_old", "chosen", "asks"),
    [
        (False, "", True),
        (True, "", False),
        (True, "on", True),
        (False, "off", False),
    ],
)
def test_an_installation_from_before_asks_only_if_it_is_told_to(
    engine: str, is_old: bool, chosen: str, asks: bool
) -> None:
    async def scenario(store: Store) -> None:
        if is_old:  # as the migration leaves it where there are accounts
            old = statement("INSERT INTO mail_host_default (is_off) VALUES (1)")
            await store.write(lambda tx: tx.run(old))
        read = settings.read({}, mail_hosts=chosen)
        site = await app.site_of(store, read)
        assert site.asks_mail_hosts is asks
        assert (
            len(mail_host_jobs(site, Outbound(OutboundPolicy(https_only=False, loopback_ok=True))))
            == asks
        )

    on(engine, scenario)
