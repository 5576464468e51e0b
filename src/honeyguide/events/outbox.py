"""Events are stored in the transaction of the change that they report, with their exact bytes and
one delivery per webhook. Nothing is sent here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.kernel.ids import new_id
from honeyguide.store.purging import Purge
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

NEW_REFERRAL = "new_referral"
NEW_PARTNER_REFERRAL = "new_partner_referral"
REWARD_UNLOCKED = "reward_unlocked"
REWARD_REDEEMED = "reward_redeemed"
NEW_SUBSCRIBER = "new_subscriber"
SUBSCRIBER_UNSUBSCRIBED = "subscriber_unsubscribed"
REFERRAL_VERIFIED = "referral_verified"
REFERRAL_REJECTED = "referral_rejected"
TEST = "test"
# The `events` of a webhook in the specification, and those we added.
TYPES = (NEW_REFERRAL, NEW_PARTNER_REFERRAL, REWARD_UNLOCKED, REWARD_REDEEMED)
MORE_TYPES = (NEW_SUBSCRIBER, SUBSCRIBER_UNSUBSCRIBED, REFERRAL_VERIFIED, REFERRAL_REJECTED)

# The topic that wakes the dispatchers.
DELIVERIES = "deliveries"
# The topic that makes dispatchers check claimed deliveries again: a subscriber was erased, or a
# webhook changed or was deleted.
RECALLS = "recalls"
KEPT_MS = 30 * DAY_MS
PURGE_BATCH = 200


class StoredBody(NamedTuple):
    id: str
    body: str


_sql = beside(__file__)
_LISTENERS = _sql.value("listeners", str)
_INSERT_EVENT = _sql.command("insert_event")
_INSERT_DELIVERIES = _sql.command("insert_deliveries")
_CANCEL_ABOUT = _sql.command("cancel_about")
_DROP_ANSWERS_ABOUT = _sql.command("drop_answers_about")
_DROP_BODIES_ABOUT = _sql.command("drop_bodies_about")
_OLD = _sql.value("old", str)
_PURGE = _sql.command("purge")
_AT_THAT_TIME = _sql.query("at_that_time", StoredBody)
_REPLACE_BODY = _sql.command("replace_body")
_DROP_ANSWERS_TO = _sql.command("drop_answers_to")

_encode = msgspec.json.Encoder(decimal_format="number").encode


async def listeners(tx: Tx, account_id: str, kind: str) -> list[str]:
    """The webhooks that want this type of event, also disabled ones, which can replay it after they
    are enabled. If there are none, the event need not be built.
    """
    return await tx.all(_LISTENERS, account_id=account_id, type=kind)


async def emit(
    tx: Tx,
    account_id: str,
    kind: str,
    facts: dict[str, Any],
    *,
    to: list[str],
    subscriber_id: str | None,
    referrer_id: str | None = None,
    now_ms: int,
) -> list[str]:
    """Store the event and its deliveries, and return their IDs. Erasure finds the event by the IDs
    of the subscribers it names.
    """
    if not to:
        return []
    event_id = f"msg_{new_id()}"
    body = _encode({"type": kind, "timestamp": iso(now_ms), "id": event_id, **facts}).decode()
    await tx.put(
        _INSERT_EVENT,
        id=event_id,
        account_id=account_id,
        type=kind,
        body=body,
        subscriber_id=subscriber_id,
        referrer_id=referrer_id,
        now_ms=now_ms,
    )
    made = [new_id() for _ in to]
    rows = [
        {"id": delivery_id, "webhook_id": webhook_id}
        for delivery_id, webhook_id in zip(made, to, strict=True)
    ]
    deliveries = _encode(rows).decode()
    await tx.put(
        _INSERT_DELIVERIES,
        account_id=account_id,
        event_id=event_id,
        type=kind,
        deliveries=deliveries,
        now_ms=now_ms,
    )
    tx.wake(DELIVERIES)
    return made


async def erase(tx: Tx, account_id: str, subscriber_id: str) -> None:
    """Erase a subscriber from events, in any role: cancel deliveries, delete stored bodies and
    responses.
    """
    for statement in (_CANCEL_ABOUT, _DROP_ANSWERS_ABOUT, _DROP_BODIES_ABOUT):
        await tx.run(statement, account_id=account_id, subscriber_id=subscriber_id)
    tx.wake(RECALLS)


async def remove_shipping_details(
    tx: Tx, account_id: str, subscriber_id: str, *, created_ms: int
) -> None:
    """Remove the postal address from the event about a claim at that time, and the responses to it,
    which may repeat it."""
    about: dict[str, Any] = {"account_id": account_id, "subscriber_id": subscriber_id}
    for event in await tx.all(_AT_THAT_TIME, **about, type=REWARD_REDEEMED, created_ms=created_ms):
        body = msgspec.json.decode(event.body) | {"shipping_details": None}
        await tx.run(_REPLACE_BODY, account_id=account_id, id=event.id, body=_encode(body).decode())
        await tx.run(_DROP_ANSWERS_TO, account_id=account_id, event_id=event.id)


# The log is kept for thirty days; what still waits is kept longer.
purge = Purge(_OLD, _PURGE, lambda now_ms: {"before_ms": now_ms - KEPT_MS}, batch=PURGE_BATCH)
