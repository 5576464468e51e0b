"""Debian's HAProxy in front of a cluster: one port that always leads to the primary, which it finds
by asking each node's Patroni.
"""

from __future__ import annotations

import shutil
import socket
from contextlib import suppress

from .cluster import Cluster, Server, owned_folder, wait_until
from .postgres import free_port

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
