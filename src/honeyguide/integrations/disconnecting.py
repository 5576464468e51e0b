"""Disconnecting a platform. The key goes at once; what is kept about its subscribers and its
webhooks goes in batches, so that nobody waits for a long list to be deleted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.events import change_log, changes
from honeyguide.integrations import integrations
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.integrations import NewIntegration
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# Wakes the job that deletes the rest.
TOPIC = "disconnected integrations"
BATCH = 500


class _Disconnected(NamedTuple):
    id: str
    account_id: str
    campaign_id: str


_sql = beside(__file__)
_DELETE = _sql.command("delete")
_INSERT = _sql.command("insert")
_NEXT = _sql.query("next", _Disconnected)
_DELETE_EVENTS = _sql.command("delete_events")
_DELETE_VALUES = _sql.command("delete_values")
_DELETE_SUBSCRIBERS = _sql.command("delete_subscribers")
_FINISH = _sql.command("finish")


async def disconnect(change: Change) -> None:
    """Erases the key. The platform's fields stay there, and another one can be connected."""
    integration = await integrations.get(change)
    await change.run(_DELETE, id=integration.id)
    await change.run(_INSERT, id=integration.id)
    change.tx.scrub()
    change.tx.wake(TOPIC)
    before = integrations.logged(integration)
    await change_log.record(change, "integration.disconnected", integration.id, before)


async def change_list(change: Change, keys: EncryptionKeys, new: NewIntegration) -> None:
    """Another list of the same platform, which is logged as one disconnected and one connected.
    What was written to the old one says nothing about it, so the first sync begins again."""
    before = await integrations.get(change)
    await disconnect(change)
    await integrations.connect(change, keys, new, created_ms=before.created_ms)


async def disconnected(tx: Tx, *, most: int) -> list[str]:
    return [gone.id for gone in await tx.all(_NEXT, only="", most=most)]


async def delete_batch(tx: Tx, *, only: str = "") -> bool:
    """Deletes some of what is kept about a disconnected platform, this one or the next. Tells
    whether to go on."""
    gone = await tx.one(_NEXT, only=only, most=1)
    if gone is None:
        return False
    bound: dict[str, Any] = {"id": gone.id, "account_id": gone.account_id}
    deleted = await tx.run(_DELETE_SUBSCRIBERS, most=BATCH, **bound)
    deleted += await tx.run(_DELETE_VALUES, most=BATCH, **bound)
    deleted += await tx.run(_DELETE_EVENTS, most=BATCH, **bound)
    deleted += await changes.forget(tx, Tenant(gone.account_id, gone.campaign_id), most=BATCH)
    if not deleted:
        await tx.run(_FINISH, **bound)
    tx.scrub()
    return True
