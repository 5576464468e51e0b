"""A real PostgreSQL cluster on loopback: etcd, and three nodes of PostgreSQL under Patroni in
synchronous mode, all of Debian's packages, which `make servers` installs. TCP proxies stand between
the nodes, etcd and clients, so that a primary can be cut off.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from .network import Network
from .postgres import clean_environment, free_port, unprivileged_user
from .scratch import parent_for_any_user

NODES = 3
TTL_S, LOOP_WAIT_S, RETRY_S = 20, 5, 7
# The lock of a lost primary expires, and a standby takes it in its next round at the latest.
FAILOVER_S = TTL_S + LOOP_WAIT_S
# Starting, rejoining and catching up, on a machine that does other things as well.
READY_S = 240.0
# A node that Patroni has not brought back by then is made anew, as an operator would do it.
REJOIN_S = 100.0

# No node loses power, so commits need not wait for the disk.
PARAMETERS = {
    "fsync": "off",
    "max_connections": 100,
    "shared_buffers": "64MB",
    "timezone": "UTC",
    # A primary that is cut off shuts down once its standbys have all or time out. If that takes
    # longer than Patroni's next round, Patroni 3.0 shuts it down a second time and loses track.
    "wal_sender_timeout": "4s",
    "wal_receiver_timeout": "8s",
}


class Server:
    """A program that runs as an unprivileged user, since PostgreSQL refuses root, and is told to
    end when this process dies.
    """

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self._log = folder / "log"
        with open(self._log, "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *arguments],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=clean_environment() | environment,
                **unprivileged_user(),
            )

    @property
    def output(self) -> str:
        return self._log.read_text()[-4_000:]

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(30)


def owned_folder(path: Path) -> Path:
    path.mkdir(mode=0o700)
    if user := unprivileged_user():
        os.chown(path, user["user"], user["group"])
    return path


def wait_until(what: str, is_true: Callable[[], bool], seconds: float = READY_S) -> None:
    give_up = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < give_up, f"not within {seconds:g} s: {what}"
        time.sleep(0.1)


def debian_programs() -> Path:
    """Where Debian puts the programs of PostgreSQL's newest version that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[-2]))
    assert found, "PostgreSQL is not installed; `make test-failover` installs it on Debian"
    return found[-1]


class Node:
    """PostgreSQL and its Patroni. Proxies stand between it and other nodes, clients and etcd."""

    def __init__(self, name: str, folder: Path, network: Network, etcd_port: int) -> None:
        self.name = name
        self.folder = owned_folder(folder)
        self.port, self.rest_port = free_port(), free_port()
        self._network = network
        self.for_clients = network.proxy(self.port)
        self._for_nodes = network.proxy(self.port)
        self.for_health_checks = network.proxy(self.rest_port)
        self._to_etcd = network.proxy(etcd_port)
        self._patroni: Server | None = None
        (self.folder / "patroni.json").write_text(json.dumps(self._settings()))

    def _settings(self) -> dict[str, Any]:
        # Patroni reads YAML, of which JSON is a part.
        return {
            "scope": "honeyguide",
            "name": self.name,
            "restapi": {
                "listen": f"127.0.0.1:{self.rest_port}",
                "connect_address": f"127.0.0.1:{self.for_health_checks.port}",
            },
            # The older interface: with the newer one, Patroni 3.0 once named no synchronous standby
            # for minutes on a busy machine. And it must not ask etcd for its addresses, which lead
            # past the proxy.
            "etcd": {"hosts": f"127.0.0.1:{self._to_etcd.port}", "use_proxies": True},
            "bootstrap": {
                "dcs": {
                    "ttl": TTL_S,
                    "loop_wait": LOOP_WAIT_S,
                    "retry_timeout": RETRY_S,
                    "synchronous_mode": True,
                    "postgresql": {"use_pg_rewind": True, "parameters": PARAMETERS},
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "no-sync"],
            },
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}",
                "connect_address": f"127.0.0.1:{self._for_nodes.port}",
                "data_dir": str(self.folder / "data"),
                "bin_dir": str(debian_programs()),
                "pgpass": str(self.folder / "pgpass"),
                "authentication": {
                    "superuser": {"username": "postgres"},
                    "replication": {"username": "replicator"},
                },
                "parameters": {"unix_socket_directories": str(self.folder)},
                "pg_hba": [
                    "local all all trust",
                    "host all all 127.0.0.1/32 trust",
                    "host replication all 127.0.0.1/32 trust",
                ],
                "basebackup": [{"checkpoint": "fast"}, "no-sync"],
                "remove_data_directory_on_rewind_failure": True,
                "remove_data_directory_on_diverged_timelines": True,
            },
        }

    def start(self) -> None:
        self._patroni = Server(self.folder, "patroni", "patroni.json")

    @property
    def output(self) -> str:
        return self._patroni.output if self._patroni else ""

    def _pids(self) -> list[int]:
        """Patroni, PostgreSQL and everything that they started: whatever runs in our folder."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (process / "cwd").readlink().is_relative_to(self.folder):
                    found.append(int(process.name))
        return found

    def _signal(self, number: int) -> None:
        # Twice: they may have started another process meanwhile.
        for _ in range(2):
            for pid in self._pids():
                with suppress(ProcessLookupError):
                    os.kill(pid, number)

    def kill(self) -> None:
        assert self._patroni is not None
        self._signal(signal.SIGKILL)
        self._patroni.process.wait(30)

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def cut_off(self) -> None:
        self.cut_off_from_cluster()
        self._network.cut(self.for_clients)

    def cut_off_from_cluster(self) -> None:
        """Clients still reach it, the other nodes and etcd do not."""
        self._network.cut(self._for_nodes, self.for_health_checks, self._to_etcd)

    def heal(self) -> None:
        self._network.restore(
            self._for_nodes, self.for_health_checks, self._to_etcd, self.for_clients
        )

    def rebuild(self) -> None:
        """A new replica of whoever is the primary."""
        self.kill()
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        self.start()

    def stop(self) -> None:
        if self._patroni is not None:
            self.kill()

    def rest(self, path: str) -> Any:
        """What Patroni's own interface answers, or None. Not through a proxy."""
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.rest_port}{path}", timeout=2
            ) as answer:
                return json.load(answer)
        except OSError:
            return None


class Cluster:
    """`with Cluster() as cluster: cluster.create_database("x"); connect(cluster.url("x"))`"""

    def __init__(self) -> None:
        self.folder = Path(
            tempfile.mkdtemp(prefix="honeyguide-cluster-", dir=parent_for_any_user())
        )
        self.folder.chmod(0o755)
        self._stack = ExitStack()
        self.nodes: list[Node] = []

    def __enter__(self) -> Cluster:
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
            network = stack.enter_context(Network())
            etcd_port = self._start_etcd(stack)
            for number in range(1, NODES + 1):
                name = f"node{number}"
                node = Node(name, self.folder / name, network, etcd_port)
                stack.callback(node.stop)
                self.nodes.append(node)
                node.start()
            self.wait_until_healthy()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _start_etcd(self, stack: ExitStack) -> int:
        clients, peers = free_port(), free_port()
        url, peer_url = f"http://127.0.0.1:{clients}", f"http://127.0.0.1:{peers}"
        etcd = Server(
            owned_folder(self.folder / "etcd"),
            *("etcd", "--data-dir", "data", "--enable-v2"),
            *("--listen-client-urls", url, "--advertise-client-urls", url),
            *("--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url),
            *("--initial-cluster", f"default={peer_url}"),
            ETCD_UNSUPPORTED_ARCH="arm64",  # which Debian 12's etcd wants to be asked for
        )
        stack.callback(etcd.stop)

        def answers() -> bool:
            assert etcd.process.poll() is None, etcd.output
            with suppress(OSError):
                urllib.request.urlopen(f"{url}/health", timeout=2).close()
                return True
            return False

        wait_until("etcd answers", answers)
        return clients

    def primary(self) -> Node | None:
        """The node that has Patroni's lock and is a primary."""
        return next((node for node in self.nodes if node.rest("/primary") is not None), None)

    def has_replaced(self, lost: Node) -> bool:
        """Whether another node has become the primary. The lost one may still think it is."""
        return any(node.rest("/primary") is not None for node in self.nodes if node is not lost)

    def wait_until_healthy(self) -> Node:
        """Three nodes, one of them a synchronous standby: the next primary may be lost."""
        give_up = time.monotonic() + REJOIN_S
        while not (is_steady := self._is_steady()) and time.monotonic() < give_up:
            time.sleep(0.1)
        if not is_steady:
            self._rebuild_lost_nodes()
            wait_until("the cluster is healthy", self._is_steady)
        primary = self.primary()
        assert primary is not None
        return primary

    def _is_steady(self) -> bool:
        """Healthy through a round of Patroni: a standby with a wrong history follows for a moment,
        too.
        """
        began_s = time.monotonic()
        while self._is_healthy():
            if time.monotonic() - began_s > LOOP_WAIT_S:
                return True
            time.sleep(0.5)
        return False

    def _rebuild_lost_nodes(self) -> None:
        primary = self.primary()
        assert primary is not None, [node.output for node in self.nodes]
        streaming = self._streaming(primary)
        for node in self.nodes:
            if node is not primary and node.name not in streaming:
                print(f"{node.name} did not rejoin and is made anew: {node.output}", flush=True)
                node.rebuild()

    def _streaming(self, primary: Node) -> set[str]:
        """The standbys that follow."""
        sql = "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'"
        names = {node.name for node in self.nodes}
        return names & {name for (name,) in self.ask(sql, node=primary)}

    def _is_healthy(self) -> bool:
        primary = self.primary()
        if primary is None:
            return False
        members = (primary.rest("/cluster") or {"members": []})["members"]
        if sorted(member["role"] for member in members) != ["leader", "replica", "sync_standby"]:
            return False
        return len(self._streaming(primary)) == NODES - 1

    def url(self, database: str) -> str:
        hosts = ",".join(f"127.0.0.1:{node.for_clients.port}" for node in self.nodes)
        return f"postgresql://postgres@{hosts}/{database}?target_session_attrs=read-write"

    def create_database(self, name: str) -> None:
        self.ask(f'CREATE DATABASE "{name}"')

    def ask(
        self, sql: str, database: str = "postgres", *, node: Node | None = None
    ) -> list[tuple[str, ...]]:
        """The rows that the primary answers, or those of a certain node, as text."""
        asked = node or self.primary()
        assert asked is not None, "there is no primary"
        url = f"postgresql://postgres@127.0.0.1:{asked.port}/{database}"
        done = subprocess.run(
            [debian_programs() / "psql", "-XqAt", "-F", "\t", "-v", "ON_ERROR_STOP=1", url],
            env=clean_environment() | {"PGCONNECT_TIMEOUT": "5"},
            input=sql,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0 or node is not None, done.stderr
        return [tuple(line.split("\t")) for line in done.stdout.splitlines()]
