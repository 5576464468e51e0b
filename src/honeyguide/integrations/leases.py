"""Which process serves an integration: one at a time, so that the platform's pace holds however
many there are. A lease is on the integration's row and ends by itself if the process dies. Leases
and the pace run in real time, not by the test clock.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from honeyguide.accounts import accounts
from honeyguide.integrations import integrations
from honeyguide.integrations.integrations import Integration
from honeyguide.kernel.clock import Clock, system_clock
from honeyguide.kernel.site import Site
from honeyguide.mail import integration_texts
from honeyguide.mail.notification_kinds import INTEGRATION_STOPPED
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import Statement, beside
from honeyguide.store.tx import Tx

T = TypeVar("T")
P = ParamSpec("P")

LEASE_MS = 60_000
# How long to wait after so many failures in a row, unless the platform says.
BACKOFF_S = (5, 15, 60, 300, 900, 1800, 3600)


class LostLease(Exception):
    """Somebody paused or disconnected the integration, or another process serves it now."""


class LeasedIntegration(Change):
    """A change to an integration by the process that has its lease. Statements that run through it
    are also bound to the integration and to the lease."""

    __slots__ = ("integration",)

    def __init__(
        self, tx: Tx, site: Site, integration: Integration, token: str, now_ms: int
    ) -> None:
        super().__init__(tx, site, integration.tenant, integration.actor, now_ms)
        self.integration = integration
        self._bound |= {"integration_id": integration.id, "token": token}

    async def update(self, statement: Statement[Any], /, **params: Any) -> None:
        """Changes the integration's own row, which must be there and ours."""
        if not await self.run(statement, **params):
            raise LostLease

    async def lock_lease(self) -> None:
        """Makes sure that the lease is ours until the transaction ends."""
        if not await self.lock(_LOCK):
            raise LostLease


_sql = beside(__file__)
_DUE = _sql.value("due", str)
_CLAIM = _sql.command("claim")
_RENEW = _sql.command("renew")
_RELEASE = _sql.command("release")
_LOCK = _sql.value("lock", str)
_WAIT = _sql.command("wait")
_STOP = _sql.command("stop")


async def due(tx: Tx) -> list[str]:
    """Integrations with something to do. The test clock decides what is due."""
    return await tx.all(_DUE, today_ms=system_clock())


async def claim(tx: Tx, integration_id: str, token: str) -> Integration | None:
    today_ms = system_clock()
    claimed = await tx.run(
        _CLAIM, id=integration_id, token=token, until_ms=today_ms + LEASE_MS, today_ms=today_ms
    )
    return await integrations.get_by_id(tx, integration_id) if claimed else None


async def renew(tx: Tx, integration_id: str, token: str) -> Integration:
    """The integration as it is now."""
    until_ms = system_clock() + LEASE_MS
    if not await tx.run(_RENEW, id=integration_id, token=token, until_ms=until_ms):
        raise LostLease
    return await integrations.get_by_id(tx, integration_id)


async def release(tx: Tx, integration_id: str, token: str) -> None:
    await tx.run(_RELEASE, id=integration_id, token=token)


class Lease:
    """An integration, as it was when its lease was claimed or renewed, and the lease."""

    def __init__(
        self, store: Store, site: Site, clock: Clock, integration: Integration, token: str
    ) -> None:
        self.integration = integration
        self.clock = clock
        self._store = store
        self._site = site
        self._token = token

    async def read(
        self,
        unit: Callable[Concatenate[Reading, Integration, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        now_ms = self.clock()

        @wraps(unit)
        async def work(tx: Tx) -> T:
            at = Reading(tx, self._site, self.integration.tenant, now_ms)
            return await unit(at, self.integration, *args, **kwargs)

        return await self._store.read(work)

    async def change(
        self,
        unit: Callable[Concatenate[LeasedIntegration, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Runs `unit` in a transaction of its own."""
        now_ms = self.clock()

        @wraps(unit)
        async def work(tx: Tx) -> T:
            leased = LeasedIntegration(tx, self._site, self.integration, self._token, now_ms)
            return await unit(leased, *args, **kwargs)

        return await self._store.write(work)

    async def renewed(self) -> Lease:
        integration = await self._store.write(renew, self.integration.id, self._token)
        return Lease(self._store, self._site, self.clock, integration, self._token)

    async def release(self) -> None:
        await self._store.write(release, self.integration.id, self._token)


async def wait(leased: LeasedIntegration, problem: str, *, after_s: int | None = None) -> None:
    """Records a problem that passes by itself: try again after a while."""
    backoff_s = BACKOFF_S[min(leased.integration.failures, len(BACKOFF_S) - 1)]
    today_ms = system_clock()
    await leased.run(
        _WAIT,
        next_call_ms=today_ms + max(after_s or 0, backoff_s if after_s is None else 1) * 1000,
        problem=problem,
        today_ms=today_ms,
    )


async def stop(leased: LeasedIntegration, problem: str) -> None:
    """Records a problem that needs somebody: nothing is tried until they act. The operator is
    notified."""
    if not await leased.run(_STOP, problem=problem, today_ms=system_clock()):
        return
    integration, base_url, page = leased.integration, leased.site.base_url, "/integrations"
    message = integration_texts.integration_stopped(
        platform=integrations.name_of(integration.platform),
        problem=problem,
        page=f"{base_url}{page}",
    )
    cause = f"{integration.id}:{leased.now_ms}"
    await accounts.notify_owner(leased, INTEGRATION_STOPPED.name, cause, message, link=page)
