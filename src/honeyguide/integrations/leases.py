"""Which process serves an integration: one at a time, so that the platform's pace holds however
many there are. A lease is on the integration's row and ends by itself if the process dies. Leases
and the pace run in real time, not by the test clock.
"""

from __future__ import annotations

from honeyguide.accounts import accounts
from honeyguide.integrations import integrations
from honeyguide.integrations.integrations import Integration
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.site import Site
from honeyguide.mail import integration_texts, notifications
from honeyguide.mail.notification_kinds import INTEGRATION_STOPPED
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

LEASE_MS = 60_000
# How long to wait after so many failures in a row, unless the platform says.
BACKOFF_S = (5, 15, 60, 300, 900, 1800, 3600)


class LostLease(Exception):
    """Somebody paused or disconnected the integration, or another process serves it now."""


_sql = beside(__file__)
_DUE = _sql.value("due", str)
_CLAIM = _sql.command("claim")
_RENEW = _sql.command("renew")
_RELEASE = _sql.command("release")
_LOCK = _sql.value("lock", str)
_WAIT = _sql.command("wait")
_STOP = _sql.command("stop")


async def due(tx: Tx, *, now_ms: int) -> list[str]:
    """Integrations with something to do. The test clock decides what is due."""
    return await tx.all(_DUE, now_ms=now_ms, today_ms=system_clock())


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


async def lock(tx: Tx, integration: Integration, token: str) -> None:
    """Makes sure that the lease is ours until the transaction ends."""
    if not await tx.lock(_LOCK, account_id=integration.account_id, id=integration.id, token=token):
        raise LostLease


async def wait(
    tx: Tx, integration: Integration, token: str, problem: str, *, after_s: int | None = None
) -> None:
    """Records a problem that passes by itself: try again after a while."""
    backoff_s = BACKOFF_S[min(integration.failures, len(BACKOFF_S) - 1)]
    now_ms = system_clock()
    await tx.run(
        _WAIT,
        id=integration.id,
        token=token,
        next_call_ms=now_ms + max(after_s or 0, backoff_s if after_s is None else 1) * 1000,
        problem=problem,
        now_ms=now_ms,
    )


async def stop(
    tx: Tx, site: Site, integration: Integration, token: str, problem: str, *, now_ms: int
) -> None:
    """Records a problem that needs somebody: nothing is tried until they act. The operator is
    notified."""
    if not await tx.run(
        _STOP,
        account_id=integration.account_id,
        id=integration.id,
        token=token,
        problem=problem,
        today_ms=system_clock(),
    ):
        return
    page = "/integrations"
    message = integration_texts.integration_stopped(
        platform=integrations.name_of(integration.platform),
        problem=problem,
        page=f"{site.base_url}{page}",
    )
    account = await accounts.get(tx, integration.account_id)
    await notifications.notify(
        tx,
        integration.account_id,
        account.email,
        INTEGRATION_STOPPED.name,
        f"{INTEGRATION_STOPPED.name}:{integration.id}:{now_ms}",
        message,
        link=page,
        base_url=site.base_url,
        now_ms=now_ms,
    )
