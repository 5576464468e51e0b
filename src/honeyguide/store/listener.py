"""Hears what other processes commit, through PostgreSQL's LISTEN, and notices when the server
hangs.

A server that was killed closes its connections, so whoever uses one finds out at once. A server
that is paused or cut off from us closes nothing: without this check, every statement under way
would wait for its own limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import asyncpg

from honeyguide.store.connections import DOWN_ERRORS, Servers

CHANNEL = "honeyguide"
CHECK_EVERY_S = 1.0
ANSWER_S = 4.0


class Listener:
    """`on_hang` is called when the server has stopped answering, or takes no writes any more."""

    name = "listen to the database"

    def __init__(
        self,
        servers: Servers,
        callbacks: Mapping[str, list[Callable[[], None]]],
        on_hang: Callable[[], None],
    ) -> None:
        self._servers = servers
        self._callbacks = callbacks
        self._on_hang = on_hang
        self._connection: Any = None

    def wake(self, topic: str) -> None:
        for callback in self._callbacks.get(topic, ()):
            callback()

    def begin(self) -> None:
        pass

    async def step(self) -> None:
        is_well = False
        try:
            if self._connection is None:
                await self._connect()
            is_well = await self._is_primary(self._connection)
        except (*DOWN_ERRORS, asyncpg.PostgresError):
            pass
        finally:
            if not is_well:
                await self.end()

    async def rest(self) -> None:
        await asyncio.sleep(CHECK_EVERY_S)

    async def end(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _connect(self) -> None:
        self._connection = await self._servers.connect(
            server_settings={"application_name": "honeyguide-listener"}
        )
        await self._connection.add_listener(CHANNEL, self._notified)
        for topic in self._callbacks:  # notifications may have been missed
            self.wake(topic)

    def _notified(self, _connection: Any, _pid: int, _channel: str, topic: str) -> None:
        self.wake(topic)

    async def _is_primary(self, connection: Any) -> bool:
        hang = asyncio.get_running_loop().call_later(ANSWER_S, self._hang, connection)
        try:
            if await connection.fetchval("SELECT pg_is_in_recovery()"):
                self._on_hang()
                return False
        finally:
            hang.cancel()
        return True

    def _hang(self, connection: Any) -> None:
        connection.terminate()
        self._on_hang()
