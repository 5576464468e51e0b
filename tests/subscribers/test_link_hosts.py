"""Link hosts over their life: asked for, verified through DNS, checked daily, turned off."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from honeyguide.events.name_servers import TextRecords
from honeyguide.kernel.clock import DAY_MS, day
from honeyguide.kernel.errors import Fault, Unavailable
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.tx import Tx
from honeyguide.subscribers import link_host_map, link_hosts
from honeyguide.subscribers.link_host_map import LinkHostMap
from honeyguide.subscribers.link_hosts import LinkHost
from tests.support.changes import SITE
from tests.support.name_server import NameServer, use_name_server
from tests.support.prizes import tenant_of
from tests.support.readings import reading
from tests.support.service import ENGINES, Service, until
from tests.support.stores import OpenStore, statement
from tests.support.web import Operator, operator

DAY_S = DAY_MS // 1000


class World:
    def __init__(self, service: Service, names: NameServer) -> None:
        self.service, self.names = service, names
        self.days = 0

    def check(self, days: float = 0) -> None:
        """Days later, the job looks up what is due."""
        self.days += days
        self.service.set_clock(self.days * DAY_S)
        (job,) = [job for job in self.service.services.loop.jobs if job.name == link_hosts.CHECKING]
        self.service.run_job(job)

    def put_record(self, *hosts: LinkHost) -> None:
        self.names.texts[hosts[0].record_name] = [host.token for host in hosts]


@pytest.fixture(scope="module", params=ENGINES)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with NameServer() as names, Service(request.param, work=False) as service:
        use_name_server(service, names)
        yield World(service, names)


def ask(who: Operator, host: str) -> LinkHost:
    return who.make(link_hosts.add, host)[0]  # type: ignore[no-any-return]


def host_of(who: Operator) -> LinkHost:
    (host,) = who.service.read(lambda tx: link_hosts.of_account(reading(tx, tenant_of(who))))
    return host


def notified(who: Operator, kind: str = "link_host_off") -> list[str]:
    sql = "SELECT sentence FROM notice WHERE account_id = :id AND kind = :kind"
    params = {"id": who.account_id, "kind": kind}
    return [row[0] for row in who.service.read(lambda tx: tx.all(statement(sql), **params))]


def test_a_host_is_verified_once_its_record_is_found(world: World) -> None:
    alice = operator(world.service)
    asked = ask(alice, "GO.first.example.")
    assert asked.host == "go.first.example" and asked.record_name == "_honeyguide.go.first.example"
    assert len(asked.token) == 32 and not asked.is_verified
    world.check()
    assert host_of(alice).checked_ms is None, "a name server would remember that it is not there"
    world.check(days=0.01)
    waiting = host_of(alice)
    assert not waiting.is_verified and "was not found" in (waiting.problem or "")
    world.names.texts[asked.record_name] = ["v=spf1", asked.token.upper()]
    world.check(days=0.05)
    assert "has another value" in (host_of(alice).problem or "")
    world.put_record(asked)
    world.check(days=0.05)
    assert host_of(alice).is_verified and host_of(alice).problem is None
    assert notified(alice) == []


def test_a_record_that_vanishes_turns_the_host_off_after_a_week(world: World) -> None:
    alice = operator(world.service)
    asked = ask(alice, "go.vanishing.example")
    world.put_record(asked)
    world.check(days=0.01)
    seen_ms = host_of(alice).seen_ms or 0
    world.names.texts.pop(asked.record_name)
    for _ in range(6):
        world.check(days=1.001)
        kept = host_of(alice)
        assert kept.is_verified and kept.off_ms == seen_ms + 7 * DAY_MS
        until = day(seen_ms + 7 * DAY_MS)
        warning = f"go.vanishing.example will stop serving your links on {until}"
        assert notified(alice, "link_host_failing") == [warning]
    world.check(days=1.001)
    assert not host_of(alice).is_verified and host_of(alice).off_ms is None
    assert notified(alice) == ["go.vanishing.example no longer serves your links"]
    world.check(days=1.001)
    assert len(notified(alice)) == 1
    world.put_record(asked)
    world.check(days=1.001)
    assert host_of(alice).is_verified


def test_name_servers_that_do_not_answer_turn_nothing_off(world: World) -> None:
    alice = operator(world.service)
    asked = ask(alice, "go.silent.example")
    world.put_record(asked)
    world.check(days=0.01)
    world.names.broken.add(asked.record_name)
    for _ in range(9):
        world.check(days=1.001)
    kept = host_of(alice)
    assert kept.is_verified and "did not answer" in (kept.problem or "")
    assert notified(alice, "link_host_failing") == []


def test_a_host_is_one_accounts_and_goes_where_the_record_goes(world: World) -> None:
    alice, bob = operator(world.service), operator(world.service, "bob")
    hers, his = ask(alice, "go.moving.example"), ask(bob, "go.moving.example")
    assert hers.token != his.token
    world.put_record(hers)
    world.check(days=0.01)
    assert host_of(alice).is_verified and not host_of(bob).is_verified
    world.put_record(hers, his)
    world.check(days=1.001)
    assert host_of(alice).is_verified and not host_of(bob).is_verified
    assert "Another account" in (host_of(bob).problem or "")
    world.put_record(his)
    world.check(days=1.001)
    assert host_of(bob).is_verified and not host_of(alice).is_verified
    assert notified(alice) == ["go.moving.example no longer serves your links"]
    assert notified(bob) == []


def test_two_accounts_that_verify_one_host_at_once_do_not_both_have_it(world: World) -> None:
    both = [operator(world.service), operator(world.service, "bob")]
    service = world.service

    def check(who: Operator, host: LinkHost) -> None:
        records = TextRecords(tuple(each.token for each in asked))
        who.make(link_hosts.record_check, host.id, records)

    with ThreadPoolExecutor(2) as pool:
        for number in range(15):
            asked = [ask(who, f"go{number}.parallel.example") for who in both]
            list(pool.map(check, both, asked))
    verified = service.read(link_hosts.all_verified)
    found = [each.host for each in verified if each.host.endswith(".parallel.example")]
    assert sorted(found) == sorted({f"go{number}.parallel.example" for number in range(15)})


def test_an_account_has_at_most_twenty_hosts(world: World) -> None:
    alice = operator(world.service)
    for number in range(link_hosts.MOST):
        ask(alice, f"go{number}.many.example")
    again = alice.make(link_hosts.add, "go7.many.example")
    assert again[1] is False
    with pytest.raises(Fault, match="at most 20 link hosts"):
        ask(alice, "go20.many.example")


def test_asking_again_for_a_host_looks_it_up_at_once() -> None:
    with NameServer() as names, Service("sqlite") as service:
        use_name_server(service, names)
        alice = operator(service)
        asked = ask(alice, "go.again.example")
        names.texts[asked.record_name] = [asked.token]
        ask(alice, "go.again.example")
        until(lambda: host_of(alice).is_verified)


def test_a_host_that_is_removed_while_the_map_is_read_is_gone_at_the_next_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On SQLite nothing else happens meanwhile."""
    with OpenStore("postgres", pool_size=2) as opened:
        campaign_id, _ = opened.account_with_key()
        ((account_id,),) = opened.ask("SELECT account_id FROM campaign")
        add_host(opened, account_id, campaign_id)

        async def remove(tx: Tx) -> None:
            await tx.run(statement("DELETE FROM link_host"))
            tx.wake(link_hosts.HOSTS)

        async def scenario() -> None:
            now_ms, tenant = [0], Tenant(account_id, campaign_id)
            hosts = LinkHostMap(opened.store, SITE, lambda: now_ms[0])
            read = link_hosts.all_verified

            async def read_slowly(tx: Tx) -> Any:
                found = await read(tx)
                monkeypatch.undo()
                await opened.store.write(remove)
                return found

            monkeypatch.setattr(link_host_map, "all_verified", read_slowly)
            assert await hosts.find("go.example.org") == tenant
            assert await hosts.find("go.example.org") is None

        opened.run(scenario())


def add_host(opened: OpenStore, account_id: str, campaign_id: str) -> None:
    opened.do(
        "INSERT INTO link_host (id, account_id, campaign_id, host, token, verified_ms, "
        "due_ms, created_ms) VALUES ('h', :account_id, :campaign_id, 'go.example.org', 't', "
        "1, 1, 1)",
        account_id=account_id,
        campaign_id=campaign_id,
    )


def test_known_hosts_are_served_on_while_the_database_is_away() -> None:
    """An SQLite file does not go away."""
    with OpenStore("postgres") as opened:
        campaign_id, _ = opened.account_with_key()
        ((account_id,),) = opened.ask("SELECT account_id FROM campaign")
        add_host(opened, account_id, campaign_id)

        async def scenario() -> None:
            now_ms, tenant = [0], Tenant(account_id, campaign_id)
            hosts = LinkHostMap(opened.store, SITE, lambda: now_ms[0])
            assert await hosts.find("go.example.org") == tenant
            await opened.store.close()
            now_ms[0] += LinkHostMap.KEPT_MS
            with pytest.raises(Unavailable):
                await opened.store.read(link_hosts.all_verified)
            assert await hosts.find("go.example.org") == tenant

        opened.run(scenario())
