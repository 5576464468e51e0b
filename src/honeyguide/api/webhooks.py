"""Webhook endpoints. A v1 webhook belongs to a campaign and has two of the four flags."""

from __future__ import annotations

from typing import Any

import msgspec

from honeyguide.api import bodies
from honeyguide.api.call import Call, Listed
from honeyguide.api.views import Message
from honeyguide.api.webhook_views import (
    DeliveryList,
    DeliveryMeta,
    OneDelivery,
    OneMoreEvents,
    OneWebhook,
    OneWebhookV2,
    ReplayedEvents,
    SparkLoopTokenView,
    WebhookList,
    WebhookListV2,
    WebhookSecret,
    delivery_view,
    more_events_view,
    webhook_view,
    webhook_view_v2,
)
from honeyguide.events import webhooks
from honeyguide.events.webhooks import Flags, Webhook
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Required
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading


def _scope(call: Call[Any]) -> str:
    """The campaign in a v1 path; empty for v2."""
    return call.path.get("campaign_uuid", "")


def _one(call: Call[Any], hook: Webhook) -> OneWebhook | OneWebhookV2:
    return OneWebhook(webhook_view(hook)) if _scope(call) else OneWebhookV2(webhook_view_v2(hook))


def _flags(body: Any) -> Flags:
    """Flags can be in the body or under `events`. If both set one, the body wins."""
    nested = body.events if isinstance(body.events, msgspec.Struct) else None
    chosen = {}
    for name in Flags.__struct_fields__:
        value = getattr(body, name, msgspec.UNSET)
        chosen[name] = getattr(nested, name, msgspec.UNSET) if value is msgspec.UNSET else value
    return Flags(**chosen)


async def _get(at: Reading, call: Call[Any]) -> Webhook:
    return await webhooks.get(at, _scope(call), call.path["uuid"])


async def create_webhook(
    change: Change, call: Call[bodies.WebhookCreate | bodies.WebhookCreateV2]
) -> OneWebhook | OneWebhookV2:
    """Create a webhook.

    Events of the chosen types are sent to the URL, signed with a secret of its own, which `GET
    …/secret` returns. If the service has an https base URL, so must the webhook.
    """
    if not call.body.url:
        raise Required("url")
    hook = await webhooks.create(
        change, _scope(call), call.body.url, _flags(call.body), policy=call.policy
    )
    return _one(call, hook)


async def list_webhooks(at: Reading, call: Call[None]) -> WebhookList | WebhookListV2:
    """List webhooks.

    All of them, newest first.
    """
    hooks = await webhooks.of_account(at, _scope(call))
    if _scope(call):
        return WebhookList([webhook_view(hook) for hook in hooks])
    return WebhookListV2([webhook_view_v2(hook) for hook in hooks])


async def get_webhook(at: Reading, call: Call[None]) -> OneWebhook | OneWebhookV2:
    """Get a webhook.

    Its URL and the events it receives. Whether it was disabled is among its deliveries.
    """
    return _one(call, await _get(at, call))


async def update_webhook(
    change: Change, call: Call[bodies.WebhookUpdate | bodies.WebhookUpdateV2]
) -> OneWebhook | OneWebhookV2:
    """Update a webhook.

    Also re-enables a disabled webhook.
    """
    hook = await webhooks.update(
        change,
        _scope(call),
        call.path["uuid"],
        call.body.url,
        _flags(call.body),
        policy=call.policy,
    )
    return _one(call, hook)


async def delete_webhook(change: Change, call: Call[None]) -> Message:
    """Delete a webhook.

    Nothing more is sent to it, pending deliveries included.
    """
    await webhooks.delete(change, _scope(call), call.path["uuid"])
    return Message("The webhook was deleted.")


async def get_more_events(at: Reading, call: Call[None]) -> OneMoreEvents:
    """Get a webhook's other events.

    Events beyond the four of the webhook itself.
    """
    return more_events_view(await _get(at, call))


async def update_more_events(change: Change, call: Call[bodies.MoreEventsUpdate]) -> OneMoreEvents:
    """Update a webhook's other events.

    Only the flags you send change; null clears one. Also re-enables a disabled webhook.
    """
    hook = await webhooks.update(
        change,
        "",
        call.path["uuid"],
        msgspec.UNSET,
        Flags(**msgspec.structs.asdict(call.body)),
        policy=call.policy,
    )
    return more_events_view(hook)


async def get_webhook_secret(at: Reading, call: Call[None]) -> WebhookSecret:
    """Get the signing secret.

    Verify the signature of every delivery with it. Signatures follow the Standard Webhooks
    specification, so there is a library for most languages.
    """
    return WebhookSecret((await _get(at, call)).secret)


async def rotate_webhook_secret(change: Change, call: Call[bodies.EmptyBody]) -> WebhookSecret:
    """Rotate the signing secret.

    For 24 hours, deliveries are signed with both the old and the new secret.
    """
    hook_id = call.path["uuid"]
    return WebhookSecret(await webhooks.rotate_secret(change, _scope(call), hook_id))


async def get_sparkloop_token(at: Reading, call: Call[None]) -> SparkLoopTokenView:
    """Get the SparkLoop token.

    Null if the header `SparkLoop-Token` is not sent.
    """
    return SparkLoopTokenView((await _get(at, call)).sparkloop_token)


async def set_sparkloop_token(
    change: Change, call: Call[bodies.SparkLoopTokenUpdate]
) -> SparkLoopTokenView:
    """Set the SparkLoop token.

    For receivers that compare the header `SparkLoop-Token`. Null: the header is not sent. Also
    re-enables a disabled webhook.
    """
    token = call.body.sparkloop_token
    if token is msgspec.UNSET:
        return SparkLoopTokenView((await _get(change, call)).sparkloop_token)
    hook = await webhooks.set_sparkloop_token(change, _scope(call), call.path["uuid"], token)
    return SparkLoopTokenView(hook.sparkloop_token)


async def send_test_event(change: Change, call: Call[bodies.EmptyBody]) -> OneDelivery:
    """Send a test event.

    Sends an event of the type `test` to this webhook, whatever its events. List its deliveries to
    see the response of your server.
    """
    sent = await webhooks.send_test(change, _scope(call), call.path["uuid"])
    return OneDelivery(delivery_view(*sent))


async def list_deliveries(at: Reading, call: Call[None]) -> Listed[DeliveryList]:
    """List deliveries and their attempts.

    Newest first, as far back as 30 days. Each has all its attempts, with the responses of your
    server.
    """
    page = call.page
    hook = await _get(at, call)
    rows, total = await webhooks.page_of_deliveries(at, _scope(call), hook.id, page)
    shown = DeliveryList(
        disabled_at=iso(hook.disabled_ms) if hook.disabled_ms else None,
        deliveries=[delivery_view(*row) for row in rows],
        meta=DeliveryMeta(page.per_page, page.page, page.total_pages(total), total),
    )
    return Listed(shown, page, total)


async def resend_delivery(change: Change, call: Call[bodies.EmptyBody]) -> OneDelivery:
    """Resend a delivery.

    Sends the same event again now, with the same ID, and tries again as often as for a new one.
    """
    again = await webhooks.resend(
        change,
        _scope(call),
        call.path["uuid"],
        call.path["delivery_uuid"],
    )
    return OneDelivery(delivery_view(*again))


async def replay_events(change: Change, call: Call[bodies.ReplayInput]) -> ReplayedEvents:
    """Replay events since a time.

    Sends every event since then again, delivered or not, unless it is still being sent.
    """
    hook_id, since = call.path["uuid"], call.body.since
    return ReplayedEvents(await webhooks.replay(change, _scope(call), hook_id, since))
