"""Contacts that older versions wrote to a platform though they had not confirmed their address.
The operator sees who they are and can have them removed there: they are unsubscribed and our fields
are emptied, by the ordinary queue. Once they confirm, they are written like everybody else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.events import change_log, changes
from honeyguide.integrations import integrations
from honeyguide.integrations.integrations import MOST_COUNTED, Integration
from honeyguide.kernel.paging import Page
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

BATCH = 500


class UnconfirmedContact(NamedTuple):
    subscriber_id: str
    email: str
    name: str | None
    synced_ms: int


_sql = beside(__file__)
_COUNT = _sql.value("count_unconfirmed", int)
_UNCONFIRMED = _sql.query("unconfirmed", UnconfirmedContact)
_NEXT = _sql.value("next_unconfirmed", str)
_MARK = _sql.command("mark_removed")


async def page_of(
    tx: Tx, integration: Integration, page: Page
) -> tuple[list[UnconfirmedContact], int]:
    """A page of them, and how many there are, counted up to `MOST_COUNTED`."""
    bound = _bound(integration)
    rows = await tx.all(_UNCONFIRMED, most=page.per_page, skip=page.skip, **bound)
    return rows, await tx.one(_COUNT, most=MOST_COUNTED, **bound) or 0


async def remove_batch(change: Change) -> int:
    """Has some of them removed there. Returns how many; none if nobody is left."""
    integration = await integrations.get(change)
    ids = await change.all(_NEXT, most=BATCH, id=integration.id)
    if ids:
        await change.run(_MARK, ids=ids, id=integration.id)
        for subscriber_id in ids:
            await changes.record(change, subscriber_id)
        change.tx.wake(integrations.TOPIC)
        asked = {"contacts": len(ids)}
        await change_log.record(
            change, "integration.unconfirmed_removed", integration.id, None, asked
        )
    return len(ids)


def _bound(integration: Integration) -> dict[str, Any]:
    tenant = integration.tenant
    return {
        "id": integration.id,
        "account_id": tenant.account_id,
        "campaign_id": tenant.campaign_id,
    }
