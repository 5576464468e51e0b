"""Empties SQLite's write-ahead log after an erasure. The log holds old versions of pages, which
`secure_delete` does not reach, until later writes overwrite them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import closing

import apsw

log = logging.getLogger("honeyguide.store")

# Writers wait for at most about twice this long, while someone reads an old state of the database.
WAIT_MS = 50
# Then it is tried again after this long.
AGAIN_S = 1.0


class Scrubber:
    def __init__(self, connect: Callable[[], apsw.Connection]) -> None:
        self._connect = connect
        self._is_requested = False
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """In the background, as often as it takes."""
        self._is_requested = True
        if self._running is None or self._running.done():
            self._running = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while self._is_requested:
            self._is_requested = False
            if not await self._empty_log_apart():
                self._is_requested = True
                await asyncio.sleep(AGAIN_S)

    async def _empty_log_apart(self) -> bool:
        """A thread cannot be cancelled: wait until it has closed its connection."""
        emptying = asyncio.ensure_future(asyncio.to_thread(self._empty_log))
        try:
            return await asyncio.shield(emptying)
        except asyncio.CancelledError:
            await asyncio.wait([emptying])
            raise

    def _empty_log(self) -> bool:
        """False if it could not be done now. Most of the work is done without blocking writers."""
        try:
            with closing(self._connect()) as connection:
                connection.set_busy_timeout(WAIT_MS)
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                ((is_busy, _, _),) = connection.execute(
                    "PRAGMA wal_checkpoint(TRUNCATE)"
                ).fetchall()
                return not is_busy
        except apsw.Error as error:
            log.warning("The write-ahead log cannot be emptied just now: %s", error)
            return False

    async def stop(self) -> None:
        """Closing the last connection empties the log as well."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
