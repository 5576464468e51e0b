"""Claims: which deliveries a process may send, and until when. A claim is a lease on the delivery's
row; only the holder of its token may record the outcome of the attempt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.ids import new_id
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class DueWebhook(NamedTuple):
    """A webhook with something to send."""

    id: str
    account_id: str
    is_failing: bool


class ClaimedDelivery(NamedTuple):
    """Everything that one attempt needs. Sorted, the longest due comes first. With an empty body it
    can never be sent: its subscriber was erased, or its webhook disabled.
    """

    due_ms: int
    id: str
    token: str
    tries: int
    event_id: str
    body: str
    webhook_id: str
    account_id: str
    url: str
    secret: str
    old_secrets: str
    sparkloop_token: str | None


_sql = beside(__file__)
_DUE_WEBHOOKS = _sql.query("due_webhooks", DueWebhook)
_CLAIM = _sql.query("claim", ClaimedDelivery)
_STILL_CLAIMED = _sql.query("still_claimed", ClaimedDelivery)
_CANCEL_UNSENDABLE = _sql.command("cancel_unsendable")
_GIVE_BACK = _sql.command("give_back")


async def due_webhooks(tx: Tx) -> list[DueWebhook]:
    return await tx.all(_DUE_WEBHOOKS, today_ms=system_clock())


async def claim(tx: Tx, counts: Mapping[str, int], *, lease_ms: int) -> list[ClaimedDelivery]:
    """Leases so many due deliveries of each webhook, and cancels what can never be sent.

    What is due depends on `now_ms`, the test clock's time; leases run in real time.
    """
    token, today_ms = new_id(), system_clock()
    webhooks_by_count: dict[int, list[str]] = defaultdict(list)
    for webhook_id, count in counts.items():
        webhooks_by_count[count].append(webhook_id)
    claimed: list[ClaimedDelivery] = []
    for count, webhook_ids in webhooks_by_count.items():
        claimed += await tx.all(
            _CLAIM,
            webhooks=webhook_ids,
            token=token,
            until_ms=today_ms + lease_ms,
            most=count,
            today_ms=today_ms,
        )
    unsendable = [delivery.id for delivery in claimed if not delivery.body]
    if unsendable:
        await tx.run(_CANCEL_UNSENDABLE, ids=unsendable, token=token)
    return sorted(delivery for delivery in claimed if delivery.body)


async def still_claimed(tx: Tx, delivery: ClaimedDelivery) -> ClaimedDelivery | None:
    """The delivery as it is now; None if it may no longer be sent, or not by us."""
    return await tx.one(_STILL_CLAIMED, id=delivery.id, token=delivery.token)


async def give_back(tx: Tx, unsent: Iterable[ClaimedDelivery]) -> None:
    """End the lease of deliveries that were not begun, so that they can be sent at once."""
    for delivery in unsent:
        await tx.run(_GIVE_BACK, id=delivery.id, token=delivery.token)
