"""Which process serves an integration: one at a time, so that the platform's pace holds however
many there are. A lease is on the integration's row and ends by itself if the process dies. Leases
and the pace run in real time, not by the test clock.
"""

from __future__ import annotations

from honeyguide.integrations import integrations
from honeyguide.integrations.integrations import ACTIVE, FAILED, Integration
from honeyguide.kernel.clock import system_clock
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


async def due(tx: Tx, *, now_ms: int) -> list[str]:
    """Integrations with something to do. What is due depends on the test clock."""
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
    tx: Tx,
    integration: Integration,
    token: str,
    problem: str,
    *,
    after_s: int | None,
    is_final: bool,
) -> None:
    """Records a problem: wait and try again, or stop until somebody acts."""
    backoff_s = BACKOFF_S[min(integration.failures, len(BACKOFF_S) - 1)]
    now_ms = system_clock()
    await tx.run(
        _WAIT,
        id=integration.id,
        token=token,
        status=FAILED if is_final else ACTIVE,
        next_call_ms=now_ms + max(after_s or 0, backoff_s if after_s is None else 1) * 1000,
        problem=problem,
        now_ms=now_ms,
    )
