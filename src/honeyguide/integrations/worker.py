"""Keeps integrations in sync, in the background: it applies webhooks that came, reads what changed
there, and writes what changed here.

    due ──claim──▶ leased ──▶ apply webhooks, read a page, write a batch, and again ──▶ released
     ▲                │
     └────────────────┘  the lease ends: the process died

One process serves an integration at a time, and each integration is served by a task of its own, so
no platform delays another, nor anything else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging

from honeyguide.events.outbound import Outbound
from honeyguide.integrations import incoming, integrations, leases
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.leases import Lease, LostLease
from honeyguide.integrations.problems import (
    AudienceGone,
    PlatformError,
    TryLater,
    WrongCredentials,
)
from honeyguide.integrations.sync import IntegrationSync
from honeyguide.kernel.clock import Clock, system_clock
from honeyguide.kernel.errors import Fault, Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.site import Site
from honeyguide.store import Store
from honeyguide.store.tx import timed

log = logging.getLogger("honeyguide.integrations")

POLL_S = 1.0
MOST_AT_ONCE = 50
# How long one task goes on.
SERVE_S = 60.0


class IntegrationWorker:
    name = "sync integrations"

    def __init__(
        self, store: Store, outbound: Outbound, clock: Clock, site: Site, keys: EncryptionKeys
    ) -> None:
        self._store = store
        self._outbound = outbound
        self._clock = clock
        self._site = site
        self._keys = keys
        self._serving: dict[str, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()

    def begin(self) -> None:
        for topic in (integrations.TOPIC, incoming.TOPIC):
            self._store.listen(topic, self._wake.set)

    async def step(self) -> None:
        self._wake.clear()
        await self.begin_due()

    async def rest(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(POLL_S):
                await self._wake.wait()

    async def end(self) -> None:
        for task in self._serving.values():
            task.cancel()
        await asyncio.gather(*self._serving.values(), return_exceptions=True)

    async def begin_due(self) -> None:
        """Starts a task for each integration that has something to do."""
        for integration_id in await self._store.read(timed(leases.due, self._clock())):
            if integration_id not in self._serving and len(self._serving) < MOST_AT_ONCE:
                task = asyncio.create_task(self._serve(integration_id))
                self._serving[integration_id] = task
                task.add_done_callback(
                    lambda _, served=integration_id: self._serving.pop(served, None)  # type: ignore[misc]
                )

    async def finish(self) -> None:
        """Waits for the tasks that `begin_due` started."""
        await asyncio.gather(*self._serving.values())

    async def _serve(self, integration_id: str) -> None:
        """Raises nothing: whatever happens, the lease ends, and the integration is due again."""
        token = new_id()
        try:
            integration = await self._store.write(leases.claim, integration_id, token)
            if integration is not None:
                await self._serve_claimed(
                    Lease(self._store, self._site, self._clock, integration, token)
                )
        except LostLease:
            pass
        except Unavailable as error:
            log.warning("Integration will be tried again: %s", error)
        except Exception:
            log.exception("Integration failed")

    async def _serve_claimed(self, lease: Lease) -> None:
        heartbeat = asyncio.create_task(self._keep(lease))
        try:
            await self._work(lease)
        except (LostLease, Unavailable):
            raise
        except Exception:
            problem = "Something went wrong on our side. It has been logged, and we will try again."
            await lease.change(leases.wait, problem)
            raise
        finally:
            heartbeat.cancel()
            await asyncio.gather(heartbeat, return_exceptions=True)
            await lease.release()

    async def _keep(self, lease: Lease) -> None:
        """Renews the lease while a slow platform keeps us waiting."""
        with contextlib.suppress(LostLease):
            while True:
                await asyncio.sleep(leases.LEASE_MS / 3000)
                await lease.renewed()

    async def _work(self, lease: Lease) -> None:
        loop = asyncio.get_running_loop()
        until_s = loop.time() + SERVE_S
        try:
            access = integrations.access_to(
                lease.integration, self._keys, self._outbound, now_ms=system_clock()
            )
        except Fault as error:  # it cannot be decrypted, or this version lacks the platform
            await lease.change(leases.stop, error.message)
            return
        while loop.time() < until_s:
            lease = await lease.renewed()
            try:
                if not await IntegrationSync(lease, access).step():
                    return
            except (WrongCredentials, AudienceGone) as error:
                await lease.change(leases.stop, error.reason)
                return
            except PlatformError as error:
                after_s = error.after_s if isinstance(error, TryLater) else None
                await lease.change(leases.wait, error.reason, after_s=after_s)
                return
