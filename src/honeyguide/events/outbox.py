"""Events are stored in the transaction of the change that they report, with their exact bytes and
one delivery per webhook. Nothing is sent here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.kernel.ids import new_id
from honeyguide.store.purging import Purge
from honeyguide.store.reading import AccountReading, Reading
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
PARTNER_REFERRAL_REVERSED = "partner_referral_reversed"
TEST = "test"
TEST_MESSAGE = "This is a test event from Honeyguide."
# The `events` of a webhook in the specification, and those we added.
TYPES = (NEW_REFERRAL, NEW_PARTNER_REFERRAL, REWARD_UNLOCKED, REWARD_REDEEMED)
MORE_TYPES = (
    NEW_SUBSCRIBER,
    SUBSCRIBER_UNSUBSCRIBED,
    REFERRAL_VERIFIED,
    REFERRAL_REJECTED,
    PARTNER_REFERRAL_REVERSED,
)
ALL_TYPES = TYPES + MORE_TYPES

# The topic that wakes the dispatchers.
DELIVERIES = "deliveries"
# The topic that makes dispatchers check claimed deliveries again: a subscriber was erased, or a
# webhook changed or was deleted.
RECALLS = "recalls"
KEPT_MS = 30 * DAY_MS
PURGE_BATCH = 200


class Event(NamedTuple):
    """Something that happened, to be told to webhooks of this account."""

    account_id: str
    type: str
    facts: dict[str, Any]
    to: list[str]
    """The webhooks."""
    subscriber_id: str | None
    referrer_id: str | None = None
    """Erasure finds the event by the IDs of the subscribers that it names."""


Listeners = dict[str, list[str]]


class StoredBody(NamedTuple):
    id: str
    body: str


_sql = beside(__file__)
_LISTENERS = _sql.query("listeners", lambda *columns: columns)
_INSERT_EVENTS = _sql.command("insert_events")
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


async def listeners(at: Reading) -> Listeners:
    """The webhooks of an account by the types of events that they want, also disabled ones, which
    can replay them after they are enabled. An event that nobody wants need not be built.
    """
    return await listeners_of(at)


async def listeners_of(at: AccountReading) -> Listeners:
    found: Listeners = {}
    for webhook_id, *flags in await at.all(_LISTENERS):
        for kind, is_on in zip(ALL_TYPES, flags, strict=True):
            if is_on:
                found.setdefault(kind, []).append(webhook_id)
    return found


async def emit(tx: Tx, events: Sequence[Event]) -> list[str]:
    """Store the events with their deliveries, and return the IDs of the deliveries."""
    by_account: dict[str, list[Event]] = {}
    for event in events:
        by_account.setdefault(event.account_id, []).append(event)
    made = list[str]()
    for account_id, of_account in by_account.items():
        made += await _emit(tx, account_id, of_account)
        tx.wake(DELIVERIES)
    return made


async def _emit(tx: Tx, account_id: str, events: list[Event]) -> list[str]:
    rows, deliveries = list[dict[str, Any]](), list[dict[str, str]]()
    for event in events:
        event_id = f"msg_{new_id()}"
        body = {"type": event.type, "timestamp": iso(tx.now_ms), "id": event_id, **event.facts}
        rows.append(
            {
                "id": event_id,
                "type": event.type,
                "body": _encode(body).decode(),
                "subscriber_id": event.subscriber_id,
                "referrer_id": event.referrer_id,
            }
        )
        deliveries += [
            {"id": new_id(), "webhook_id": to, "event_id": event_id, "type": event.type}
            for to in event.to
        ]
    await tx.put(_INSERT_EVENTS, account_id=account_id, events=rows)
    await tx.put(_INSERT_DELIVERIES, account_id=account_id, deliveries=deliveries)
    return [delivery["id"] for delivery in deliveries]


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
