"""Whether this process can serve, and if not, the one reason why."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable

from honeyguide.kernel.background import Background
from honeyguide.kernel.errors import Fault, Unavailable
from honeyguide.store import Store, health
from honeyguide.store.tx import Tx

log = logging.getLogger("honeyguide.readiness")

ANSWER_S = 5.0
# With less room than this, SQLite cannot even grow its log.
LEAST_FREE_BYTES = 1024 * 1024
MOST_LAG_S = 5.0


async def _check(tx: Tx) -> None:
    await health.clock_skew_ms(tx)
    await health.check_schema(tx)


class Readiness:
    def __init__(
        self,
        store: Store,
        background: Background,
        is_overloaded: Callable[[], bool],
        lag_s: Callable[[], float],
    ) -> None:
        self._store = store
        self._background = background
        self._is_overloaded = is_overloaded
        self._lag_s = lag_s

    async def problem(self) -> Fault | None:
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._store.read(_check)
                await self._check_writes()
        except TimeoutError:
            return Unavailable("The database is not responding.")
        except Unavailable as error:
            return error
        except Exception:
            log.exception("The database could not be checked")
            return Unavailable("The database cannot be used. The log has the details.")
        if self._is_overloaded() or self._lag_s() > MOST_LAG_S:
            return Unavailable("This process is overloaded.", code="overloaded")
        if failing := self._background.failing:
            return Unavailable(
                "Background work keeps failing: {names}. The log has the details.",
                code="background_work",
                names=", ".join(loop.name for loop in failing),
            )
        return None

    async def _check_writes(self) -> None:
        """Tries to write only if there is a reason to, so that a probe usually changes nothing."""
        path = self._store.path
        if path is not None and shutil.disk_usage(path.parent).free < LEAST_FREE_BYTES:
            raise Unavailable(
                "The disk of the database is full. Free some space.", code="disk_full"
            )
        if not self._store.watch.is_suspect:
            return
        try:
            await self._store.write(health.try_to_write)
        except Unavailable as error:
            raise Unavailable(
                "The database cannot be written to. Check its disk and permissions.",
                code="cannot_write",
            ) from error
        self._store.watch.is_suspect = False
