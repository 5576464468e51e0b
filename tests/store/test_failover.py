"""The primary of a real PostgreSQL cluster is killed, paused and cut off under load, ten times in a
random order: nothing acknowledged is lost, nothing is charged twice, no month is closed twice, and
writes are back within Patroni's failover time and five seconds. Honeyguide is not restarted.
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from tests.cli.test_cli_server import children
from tests.partners.test_end_to_end_money import month_after, seconds_until
from tests.store.test_pgbouncer import doctors_advice
from tests.support.cluster import FAILOVER_S, Cluster, Node, Server, owned_folder, wait_until
from tests.support.failover_load import BUSY, LASTING_FEE_CENTS, NO_ANSWER, Load, PartnerNetwork
from tests.support.pgbouncer import pgbouncer
from tests.support.postgres import free_port
from tests.support.process import Serving, command
from tests.support.service import until

SETTINGS = """
defaults
    mode tcp
    timeout connect 2s
    timeout client 1h
    timeout server 1h
    timeout check 2s

listen primary
    bind 127.0.0.1:{port}
    option httpchk GET /primary
    http-check expect status 200
    # Connections to a primary that was lost are closed, so that nobody waits for its answer.
    default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
"""


class HAProxy:
    def __init__(self, cluster: Cluster) -> None:
        self.port = free_port()
        self.folder = owned_folder(cluster.folder / f"haproxy{self.port}")
        servers = "".join(
            f"    server {node.name} 127.0.0.1:{node.for_clients.port}"
            f" check port {node.for_health_checks.port}\n"
            for node in cluster.nodes
        )
        (self.folder / "settings").write_text(SETTINGS.format(port=self.port) + servers)

    def __enter__(self) -> HAProxy:
        program = shutil.which("haproxy", path="/usr/sbin:/usr/bin:/usr/local/sbin")
        assert program, "HAProxy is not installed; `make test-failover` installs it on Debian"
        self._server = Server(self.folder, program, "-db", "-f", "settings")
        wait_until("HAProxy listens", self._is_listening)
        return self

    def _is_listening(self) -> bool:
        assert self._server.process.poll() is None, self._server.output
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
            return True
        return False

    def __exit__(self, *_: object) -> None:
        self._server.stop()


FAILOVERS = 10
GRACE_S = 5.0
# The load runs before a fault, and is watched for so many signups after it.
BEFORE, AFTER = 50, 200

# PgBouncer waits 15 s after a failed connection and two minutes for a free one unless it is told.
LIMITS = {"server_login_retry": "1", "server_connect_timeout": "3", "query_wait_timeout": "5"}

FAILURES: dict[str, tuple[Callable[[Node], None], Callable[[Node], None]]] = {
    "killed": (Node.kill, Node.start),
    "paused": (Node.pause, Node.resume),
    "cut off": (Node.cut_off, Node.heal),
    "cut off from the other nodes only": (Node.cut_off_from_cluster, Node.heal),
}


class Failovers:
    """A server under load on a cluster, and the faults that it has to survive."""

    def __init__(
        self, cluster: Cluster, database: str, server: Serving, load: Load, dice: random.Random
    ) -> None:
        self.cluster, self.database = cluster, database
        self.server, self.load, self.dice = server, load, dice
        self.month = datetime.now(UTC).strftime("%Y-%m")
        self.closed: dict[str, str] = {}

    def survive(self, kind: str) -> None:
        fail, recover = FAILURES[kind]
        primary = self.cluster.primary()
        assert primary is not None
        self.load.wait_for_more(BEFORE, seconds=60)
        self._end_month(primary)
        time.sleep(self.dice.uniform(0, 0.5))  # the job that closes it may be anywhere
        failed_s = time.monotonic()
        fail(primary)
        self.load.note_fault()
        until(lambda: self.load.first_acknowledged_s is not None, seconds=FAILOVER_S + 60)
        back_s = (self.load.first_acknowledged_s or 0) - failed_s
        until(lambda: self.cluster.has_replaced(primary), seconds=FAILOVER_S + 60)
        self.load.wait_for_more(AFTER, seconds=60)
        refused_s = max(self.load.last_refused_s - failed_s, 0)
        recover(primary)
        self.cluster.wait_until_healthy()
        print(
            f"{primary.name} {kind}: first write after {back_s:.1f} s, last refused one sent "
            f"after {refused_s:.1f} s, three nodes again after "
            f"{time.monotonic() - failed_s:.0f} s; load average {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        assert back_s <= FAILOVER_S + GRACE_S, self.server.output[-4_000:]
        assert refused_s <= FAILOVER_S + GRACE_S, "writes were back, and then were not"
        self._check_months()

    def _end_month(self, primary: Node) -> None:
        """The job that closes the month runs now, in whichever process comes first."""
        self.month = month_after(self.month)
        self.server.set_clock(seconds_until(self.month) + 3_700)
        self.cluster.ask("SELECT pg_notify('honeyguide', 'clock set')", self.database, node=primary)

    def wait_for_months(self) -> None:
        """The job runs at most once a minute, and waits for the lease of a run that was cut."""
        until(lambda: self._check_months() >= FAILOVERS, seconds=180)

    def _check_months(self) -> int:
        """How many months were closed. Each stays as it was closed."""
        rows = self.cluster.ask(
            "SELECT month, closed_ms, paid_out_ms FROM period WHERE paid_out_ms IS NOT NULL",
            self.database,
        )
        found = {month: f"{closed} {paid_out}" for month, closed, paid_out in rows}
        assert self.closed.items() <= found.items()
        self.closed = found
        return len(found)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster


def survive_failovers(cluster: Cluster, database: str, server: Serving) -> None:
    seed = random.randrange(10**6)
    dice = random.Random(seed)
    kinds = [*FAILURES] * 2 + dice.sample([*FAILURES], FAILOVERS - 2 * len(FAILURES))
    dice.shuffle(kinds)
    print(f"\nseed {seed}; limit {FAILOVER_S} s for Patroni and {GRACE_S:g} s", flush=True)
    partner_network = PartnerNetwork(server, cluster.url(database))
    pids = {server.process.pid, *children(server.process.pid)}
    assert len(pids) == 3, "a parent and two workers"
    with Load(partner_network, dice) as load:
        failovers = Failovers(cluster, database, server, load, dice)
        for kind in kinds:
            failovers.survive(kind)
        failovers.wait_for_months()
    assert {server.process.pid, *children(server.process.pid)} == pids, server.output
    print(load.summary(), flush=True)
    assert set(load.outcomes) <= {201, "unavailable", NO_ANSWER, BUSY}
    assert "Traceback" not in server.output
    check_everything(cluster, database, load)
    settings = {"database_url": server.database_url, **server.settings}
    done = command("verify", **settings)
    assert done.returncode == 0, done.stdout + done.stderr


def check_everything(cluster: Cluster, database: str, load: Load) -> None:
    rows = cluster.ask("SELECT email, id FROM subscriber", database)
    there = dict(rows)
    assert len(rows) == len(there), "somebody is there twice"
    lost = {email: uuid for email, uuid in load.acknowledged.items() if there.get(email) != uuid}
    assert not lost, f"{len(lost)} of {len(load.acknowledged)} acknowledged signups are lost"
    assert set(there) <= set(load.acknowledged) | load.unsure, "nobody asked for these"
    # The promises of the schema and of `verify`, asked for directly.
    for promise, count in {
        "one charge per program and person": "SELECT count(*) FROM (SELECT 1 FROM charge "
        "GROUP BY program_id, person_key HAVING count(*) > 1) AS twice",
        "one charge for each referral where the budget lasts": "SELECT count(*) FROM (SELECT 1 "
        "FROM partner_referral AS r LEFT JOIN charge AS c ON c.partner_referral_id = r.id "
        f"WHERE r.fee_cents = {LASTING_FEE_CENTS} GROUP BY r.id HAVING count(c.id) <> 1) AS off",
        "no more than the caps": "SELECT count(*) FROM charge WHERE "
        "budget_spent_cents > budget_cap_cents OR partner_spent_cents > partner_cap_cents",
        "one payout per partner and month": "SELECT count(*) FROM (SELECT 1 FROM payout "
        "GROUP BY account_id, month HAVING count(*) > 1) AS twice",
        "payouts of what was earned": "SELECT count(*) FROM (SELECT month, partner_account_id, "
        "sum(fee_cents) AS cents FROM charge GROUP BY 1, 2) AS earned JOIN period USING (month) "
        "LEFT JOIN payout ON payout.account_id = partner_account_id AND payout.month = "
        "earned.month WHERE paid_out_ms IS NOT NULL AND amount_cents IS DISTINCT FROM cents",
    }.items():
        assert cluster.ask(count, database) == [("0",)], promise
    charged, closed = cluster.ask(
        "SELECT (SELECT count(*) FROM charge), "
        "(SELECT count(*) FROM period WHERE paid_out_ms IS NOT NULL)",
        database,
    )[0]
    print(f"{len(load.acknowledged)} signups acknowledged, {charged} charges, {closed} months")
    assert int(charged) > 0 and int(closed) >= FAILOVERS


@pytest.mark.long
def test_failovers_with_a_url_of_three_servers(cluster: Cluster) -> None:
    cluster.create_database("direct")
    with Serving(cluster.url("direct"), "--workers", "2") as server:
        survive_failovers(cluster, "direct", server)


@pytest.mark.long
def test_failovers_through_pgbouncer(cluster: Cluster) -> None:
    """PgBouncer cannot tell which server is the primary, so it asks HAProxy for it."""
    cluster.create_database("pooled")
    with (
        HAProxy(cluster) as proxy,
        pgbouncer(f"host=127.0.0.1 port={proxy.port}", **LIMITS) as port,
    ):
        url = f"postgresql://postgres@127.0.0.1:{port}/pooled"
        direct = {"database_direct_url": cluster.url("pooled")}
        for statement in doctors_advice({"database_url": url, **direct}):
            cluster.ask(statement)
        with Serving(url, "--workers", "2", **direct) as server:
            survive_failovers(cluster, "pooled", server)
