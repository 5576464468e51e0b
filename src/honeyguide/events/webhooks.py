"""Webhooks: where an account receives which events, signed with which secret, and the log of what
was sent.

A v1 webhook belongs to the campaign, a v2 one to the account. `scope` is the campaign's ID or
empty, and each API version sees only its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.events import change_log, outbox, signature
from honeyguide.events.addresses import OutboundPolicy, check_url
from honeyguide.kernel import fields
from honeyguide.kernel.clock import DAY_MS, parse_past
from honeyguide.kernel.errors import Invalid, Missing, Required
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.kernel.paging import Page
from honeyguide.mail.emails import Backlog
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

UNKNOWN = "There is no such webhook."
# A receiver may verify with the old secret for this long after a rotation.
OVERLAP_MS = DAY_MS
TOKEN_LIMIT = 255
# What every HTTP library sends and reads unchanged in a header.
_TOKEN = re.compile(r"[!-~]+")


class Webhook(NamedTuple):
    id: str
    url: str
    new_referral: bool | None
    new_partner_referral: bool | None
    reward_unlocked: bool | None
    reward_redeemed: bool | None
    new_subscriber: bool | None
    subscriber_unsubscribed: bool | None
    referral_verified: bool | None
    referral_rejected: bool | None
    partner_referral_reversed: bool | None
    secret: str
    failing_since_ms: int | None
    disabled_ms: int | None
    disabled_reason: str | None
    created_ms: int
    sparkloop_token: str | None


class Delivery(NamedTuple):
    id: str
    event_id: str
    type: str
    status: str
    due_ms: int
    created_ms: int


class Attempt(NamedTuple):
    delivery_id: str
    at_ms: int
    status_code: int | None
    latency_ms: int
    error: str | None
    response: str | None


class DueDeliveries(NamedTuple):
    """What is due for webhooks that are failing, or for those that are not."""

    is_failing: bool
    n: int
    since_ms: int | None


Flag = bool | None | UnsetType


class Flags(msgspec.Struct, frozen=True):
    """Which events a webhook gets: true, false, or null for unset. UNSET leaves a flag as it is."""

    new_referral: Flag = UNSET
    new_partner_referral: Flag = UNSET
    reward_unlocked: Flag = UNSET
    reward_redeemed: Flag = UNSET
    new_subscriber: Flag = UNSET
    subscriber_unsubscribed: Flag = UNSET
    referral_verified: Flag = UNSET
    referral_rejected: Flag = UNSET
    partner_referral_reversed: Flag = UNSET


_sql = beside(__file__, webhook=Webhook._fields, flags=fields.columns(Flags))
_BACKLOG = _sql.query("backlog", Backlog)
_DUE = _sql.query("due", DueDeliveries)
_LOCK_ACCOUNT = _sql.value("lock_account", str)
_COUNT = _sql.value("count", int)
_INSERT = _sql.command("insert")
_LIST = _sql.query("list", Webhook)
_BY_ID = _sql.query("by_id", Webhook)
_LOCK = _sql.value("lock", str)
_DISABLED_MS = _sql.value("disabled_ms", int)
_UPDATE = _sql.command("update")
_SET_SPARKLOOP_TOKEN = _sql.command("set_sparkloop_token")
_ROTATE = _sql.command("rotate")
_DELETE = _sql.command("delete")
_COUNT_DELIVERIES = _sql.value("count_deliveries", int)
_DELIVERIES = _sql.query("deliveries", Delivery)
_COUNT_FAILED = _sql.value("count_failed", int)
_FAILED = _sql.query("failed", Delivery)
_DELIVERY = _sql.query("delivery", Delivery)
_BODIES = _sql.query("bodies", lambda event_id, body: (event_id, body))
_ATTEMPTS = _sql.query("attempts", Attempt)
_ATTEMPTS_OF = _sql.query("attempts_of", Attempt)
_RESEND = _sql.command("resend")
_REPLAY = _sql.command("replay")


async def create(
    change: Change, scope: str, url: str, flags: Flags, *, policy: OutboundPolicy
) -> Webhook:
    check_url(url, policy)
    # The lock lets two requests at once count one after the other.
    await change.lock(_LOCK_ACCOUNT)
    if (await change.one(_COUNT) or 0) >= policy.webhooks_per_account:
        raise Invalid(
            "You can have at most {most} webhooks; delete one you no longer need.",
            most=policy.webhooks_per_account,
        )
    webhook_id = new_id()
    given = {"url": url, **fields.defaults(Flags), **fields.checked(Flags, flags)}
    await change.run(
        _INSERT,
        id=webhook_id,
        campaign_id=scope or None,
        secret=signature.new_secret(),
        **given,
    )
    await change_log.record(change, "webhook.created", webhook_id, None, given)
    return await get(change, scope, webhook_id)


async def of_account(at: AccountReading, scope: str) -> list[Webhook]:
    return await at.all(_LIST, campaign_id=scope)


async def get(at: AccountReading, scope: str, webhook_id: str) -> Webhook:
    webhook = await at.one(_BY_ID, campaign_id=scope, id=webhook_id) if is_id(webhook_id) else None
    if webhook is None:
        raise Missing(UNKNOWN)
    return webhook


async def get_locked(change: Change, scope: str, webhook_id: str) -> tuple[Webhook, str]:
    """Lock the webhook, with its old secrets, for a change that depends on its current state."""
    webhook = await get(change, scope, webhook_id)
    locked = await change.lock(_LOCK, "update", id=webhook.id)
    if not locked:
        raise Missing(UNKNOWN)
    return await get(change, scope, webhook_id), locked[0]


async def update(
    change: Change,
    scope: str,
    webhook_id: str,
    url: str | UnsetType,
    flags: Flags,
    *,
    policy: OutboundPolicy,
) -> Webhook:
    """Saving a URL, even the same one, enables the webhook again."""
    old, _ = await get_locked(change, scope, webhook_id)
    if url is not UNSET:
        check_url(url, policy)
    kept = fields.as_stored(old, ("url", *fields.columns(Flags)))
    given = kept | fields.checked(Flags, flags) | ({} if url is UNSET else {"url": url})
    await change.run(_UPDATE, id=old.id, **given)
    change.tx.wake(outbox.RECALLS)
    new = await get(change, scope, webhook_id)
    before, after = (_logged(each) for each in (old, new))
    await change_log.record(change, "webhook.changed", new.id, before, after)
    return new


def _logged(webhook: Webhook) -> dict[str, Any]:
    return fields.as_stored(webhook, ("url", *fields.columns(Flags), "disabled_reason"))


async def delete(change: Change, scope: str, webhook_id: str) -> None:
    webhook = await get(change, scope, webhook_id)
    await change.run(_DELETE, id=webhook.id)
    change.tx.wake(outbox.RECALLS)
    await change_log.record(change, "webhook.deleted", webhook.id, {"url": webhook.url})


async def rotate_secret(change: Change, scope: str, webhook_id: str) -> str:
    """A new secret; for a day every delivery is signed with the old one as well."""
    webhook, old_secrets = await get_locked(change, scope, webhook_id)
    secret = signature.new_secret()
    until_ms = change.now_ms + OVERLAP_MS
    old_secrets = signature.retire(
        webhook.secret, old_secrets, now_ms=change.now_ms, until_ms=until_ms
    )
    await change.run(_ROTATE, id=webhook.id, secret=secret, old_secrets=old_secrets)
    await change_log.record(change, "webhook.secret_rotated", webhook.id)
    return secret


async def set_sparkloop_token(
    change: Change, scope: str, webhook_id: str, token: str | None
) -> Webhook:
    """What is sent as `SparkLoop-Token`, which receivers written for SparkLoop compare; None for
    nothing. Like any change, it enables the webhook again.
    """
    if token is not None:
        check_sparkloop_token(token)
    webhook, _ = await get_locked(change, scope, webhook_id)
    await change.run(_SET_SPARKLOOP_TOKEN, id=webhook.id, sparkloop_token=token)
    change.tx.wake(outbox.RECALLS)
    if token != webhook.sparkloop_token:
        await change_log.record(change, "webhook.sparkloop_token_changed", webhook.id)
    return await get(change, scope, webhook_id)


def check_sparkloop_token(token: str) -> None:
    if len(token) > TOKEN_LIMIT or not _TOKEN.fullmatch(token):
        raise Invalid(
            "{field} must be 1 to {most} ASCII letters, digits and punctuation marks, "
            "without spaces.",
            param="sparkloop_token",
            most=TOKEN_LIMIT,
        )


async def send_test(change: Change, scope: str, webhook_id: str) -> tuple[Delivery, list[Attempt]]:
    """An event of type `test`, to this webhook alone, whatever its flags."""
    webhook = await get_enabled(change, scope, webhook_id)
    facts = {"message": outbox.TEST_MESSAGE}
    event = outbox.Event(change.account_id, outbox.TEST, facts, [webhook.id], subscriber_id=None)
    made = await outbox.emit(change.tx, [event])
    return await get_delivery(change, webhook.id, made[0])


async def get_enabled(change: Change, scope: str, webhook_id: str) -> Webhook:
    webhook = await get(change, scope, webhook_id)
    if any(await change.lock(_DISABLED_MS, "key share", id=webhook.id)):
        raise Invalid(
            "This webhook is disabled. Change its URL, or save the same one again, to enable it.",
            code="disabled",
        )
    return webhook


async def page_of_deliveries(
    at: AccountReading,
    scope: str,
    webhook_id: str,
    page: Page,
    *,
    only_failed: bool = False,
    count_up_to: int = 2**62,
) -> tuple[list[tuple[Delivery, list[Attempt]]], int]:
    """The log, newest first, each delivery with its attempts in order, and how many there are."""
    count, listed = (_COUNT_FAILED, _FAILED) if only_failed else (_COUNT_DELIVERIES, _DELIVERIES)
    webhook = await get(at, scope, webhook_id)
    values: dict[str, Any] = {"account_id": at.account_id, "webhook_id": webhook.id}
    total = await at.one(count, **values, most=count_up_to) or 0
    rows = await at.all(listed, **values, most=page.per_page, skip=page.skip)
    by_delivery: dict[str, list[Attempt]] = {row.id: [] for row in rows}
    for attempt in await at.all(_ATTEMPTS, ids=list(by_delivery)):
        by_delivery[attempt.delivery_id].append(attempt)
    return [(row, by_delivery[row.id]) for row in rows], total


async def bodies_of(at: AccountReading, deliveries: Iterable[Delivery]) -> dict[str, str]:
    """What is sent, byte for byte, by the ID of its event. Erasing a subscriber removes it."""
    ids = [delivery.event_id for delivery in deliveries]
    return dict(await at.all(_BODIES, ids=ids))


async def get_delivery(
    at: AccountReading, webhook_id: str, delivery_id: str
) -> tuple[Delivery, list[Attempt]]:
    row = await at.one(_DELIVERY, webhook_id=webhook_id, id=delivery_id)
    if row is None:
        raise Missing("There is no such delivery.")
    return row, await at.all(_ATTEMPTS_OF, delivery_id=row.id)


async def resend(
    change: Change, scope: str, webhook_id: str, delivery_id: str
) -> tuple[Delivery, list[Attempt]]:
    """The same event again: same id, same bytes, a new timestamp."""
    webhook = await get_enabled(change, scope, webhook_id)
    row, _ = await get_delivery(change, webhook.id, delivery_id if is_id(delivery_id) else "")
    if not await change.run(_RESEND, webhook_id=webhook.id, id=row.id):
        raise Invalid(
            "The subscriber in this event was erased, so it cannot be sent again.", code="erased"
        )
    change.tx.wake(outbox.DELIVERIES)
    return await get_delivery(change, webhook.id, row.id)


async def replay(change: Change, scope: str, webhook_id: str, since: str | None) -> int:
    """Send everything since a time again, whatever its status, as far as the log reaches back."""
    webhook = await get_enabled(change, scope, webhook_id)
    if not since:
        raise Required("since", "{field} is required, such as 2026-11-15T00:00:00Z.")
    since_ms = parse_past(since, param="since", now_ms=change.now_ms)
    count = await change.run(_REPLAY, webhook_id=webhook.id, since_ms=since_ms)
    if count:
        change.tx.wake(outbox.DELIVERIES)
    return count


async def backlog(tx: Tx) -> Backlog:
    """Of all accounts, for the administrator."""
    return await tx.one(_BACKLOG) or Backlog(0, None)


async def due(tx: Tx, *, most: int) -> list[DueDeliveries]:
    """Of all accounts, in a time that does not depend on how many there are: at most so many are
    counted per webhook.
    """
    return await tx.all(_DUE, most=most)
