"""Webhook endpoints. A v1 webhook belongs to a campaign and has two of the four flags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from honeyguide.accounts.permissions import Right
from honeyguide.api import bodies
from honeyguide.api.call import Call, Listed, Route, in_v2, resource
from honeyguide.api.decoding import Body
from honeyguide.api.views import Message, View
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


def _scope(call: Call) -> str:
    """The campaign in a v1 path; empty for v2."""
    return call.path.get("campaign_uuid", "")


def _one(call: Call, hook: Webhook) -> OneWebhookV2 | OneWebhook:
    return OneWebhook(webhook_view(hook)) if _scope(call) else OneWebhookV2(webhook_view_v2(hook))


def _flags(body: Any) -> Flags:
    """Flags can be in the body or under `events`. If both set one, the body wins."""
    nested = body.events if isinstance(body.events, msgspec.Struct) else None
    chosen = {}
    for name in Flags.__struct_fields__:
        value = getattr(body, name, msgspec.UNSET)
        chosen[name] = getattr(nested, name, msgspec.UNSET) if value is msgspec.UNSET else value
    return Flags(**chosen)


async def create_webhook(change: Change, call: Call) -> OneWebhookV2 | OneWebhook:
    if not call.body.url:
        raise Required("url")
    hook = await webhooks.create(
        change, _scope(call), call.body.url, _flags(call.body), policy=call.policy
    )
    return _one(call, hook)


async def list_webhooks(at: Reading, call: Call) -> WebhookListV2 | WebhookList:
    hooks = await webhooks.of_account(at, _scope(call))
    if _scope(call):
        return WebhookList([webhook_view(hook) for hook in hooks])
    return WebhookListV2([webhook_view_v2(hook) for hook in hooks])


async def get_webhook(at: Reading, call: Call) -> OneWebhookV2 | OneWebhook:
    return _one(call, await webhooks.get(at, _scope(call), call.path["uuid"]))


async def update_webhook(change: Change, call: Call) -> OneWebhookV2 | OneWebhook:
    hook = await webhooks.update(
        change,
        _scope(call),
        call.path["uuid"],
        call.body.url,
        _flags(call.body),
        policy=call.policy,
    )
    return _one(call, hook)


async def delete_webhook(change: Change, call: Call) -> Message:
    await webhooks.delete(change, _scope(call), call.path["uuid"])
    return Message("The webhook was deleted.")


async def get_more_events(at: Reading, call: Call) -> OneMoreEvents:
    hook = await webhooks.get(at, "", call.path["uuid"])
    return more_events_view(hook)


async def update_more_events(change: Change, call: Call) -> OneMoreEvents:
    hook = await webhooks.update(
        change,
        "",
        call.path["uuid"],
        msgspec.UNSET,
        Flags(**msgspec.structs.asdict(call.body)),
        policy=call.policy,
    )
    return more_events_view(hook)


async def get_webhook_secret(at: Reading, call: Call) -> WebhookSecret:
    return WebhookSecret((await webhooks.get(at, _scope(call), call.path["uuid"])).secret)


async def rotate_webhook_secret(change: Change, call: Call) -> WebhookSecret:
    hook_id = call.path["uuid"]
    return WebhookSecret(await webhooks.rotate_secret(change, _scope(call), hook_id))


async def get_sparkloop_token(at: Reading, call: Call) -> SparkLoopTokenView:
    hook = await webhooks.get(at, _scope(call), call.path["uuid"])
    return SparkLoopTokenView(hook.sparkloop_token)


async def set_sparkloop_token(change: Change, call: Call) -> SparkLoopTokenView:
    token = call.body.sparkloop_token
    if token is msgspec.UNSET:
        return await get_sparkloop_token(change, call)
    hook = await webhooks.set_sparkloop_token(change, _scope(call), call.path["uuid"], token)
    return SparkLoopTokenView(hook.sparkloop_token)


async def send_test_event(change: Change, call: Call) -> OneDelivery:
    sent = await webhooks.send_test(change, _scope(call), call.path["uuid"])
    return OneDelivery(delivery_view(*sent))


async def list_deliveries(at: Reading, call: Call) -> Listed:
    page = call.page
    hook = await webhooks.get(at, _scope(call), call.path["uuid"])
    rows, total = await webhooks.page_of_deliveries(at, _scope(call), hook.id, page)
    shown = DeliveryList(
        disabled_at=iso(hook.disabled_ms) if hook.disabled_ms else None,
        deliveries=[delivery_view(*row) for row in rows],
        meta=DeliveryMeta(page.per_page, page.page, page.total_pages(total), total),
    )
    return Listed(shown, page, total)


async def resend_delivery(change: Change, call: Call) -> OneDelivery:
    again = await webhooks.resend(
        change, _scope(call), call.path["uuid"], call.path["delivery_uuid"]
    )
    return OneDelivery(delivery_view(*again))


async def replay_events(change: Change, call: Call) -> ReplayedEvents:
    hook_id, since = call.path["uuid"], call.body.since
    return ReplayedEvents(await webhooks.replay(change, _scope(call), hook_id, since))


_webhooks = resource("Webhooks", right=Right.WEBHOOKS)
_webhooks_v2 = resource("Webhooks", right=Right.WEBHOOKS, twin=in_v2)


def _routes(
    row: Callable[..., Route],
    base: str,
    *,
    one: type[View],
    many: type[View],
    new: type[Body],
    changed: type[Body],
) -> tuple[Route, ...]:
    hook = f"{base}/{{uuid}}"
    return (
        row(
            "POST",
            base,
            create_webhook,
            summary="Create a webhook",
            detail="Events of the chosen types are sent to the URL, signed with a secret of its "
            "own, which `GET …/secret` returns. If the service has an https base URL, so "
            "must the webhook.",
            body=new,
            answer=one,
            status=201,
        ),
        row(
            "GET",
            base,
            list_webhooks,
            summary="List webhooks",
            detail="All of them, newest first.",
            answer=many,
        ),
        row(
            "GET",
            hook,
            get_webhook,
            summary="Get a webhook",
            detail="Its URL and the events it receives. Whether it was disabled is among its "
            "deliveries.",
            answer=one,
        ),
        row(
            "PUT",
            hook,
            update_webhook,
            summary="Update a webhook",
            detail="Also re-enables a disabled webhook.",
            body=changed,
            answer=one,
        ),
        *_common_routes(row, hook),
        *_delivery_routes(row, hook),
    )


def _common_routes(row: Callable[..., Route], hook: str) -> tuple[Route, ...]:
    return (
        row(
            "DELETE",
            hook,
            delete_webhook,
            summary="Delete a webhook",
            detail="Nothing more is sent to it, pending deliveries included.",
            answer=Message,
        ),
        row(
            "GET",
            f"{hook}/secret",
            get_webhook_secret,
            summary="Get the signing secret",
            detail="Verify the signature of every delivery with it. Signatures follow the Standard "
            "Webhooks specification, so there is a library for most languages.",
            right=Right.WEBHOOKS,
            answer=WebhookSecret,
        ),
        row(
            "POST",
            f"{hook}/rotate_secret",
            rotate_webhook_secret,
            summary="Rotate the signing secret",
            detail="For 24 hours, deliveries are signed with both the old and the new secret.",
            body=bodies.EmptyBody,
            answer=WebhookSecret,
        ),
        row(
            "GET",
            f"{hook}/sparkloop_token",
            get_sparkloop_token,
            summary="Get the SparkLoop token",
            detail="Null if the header `SparkLoop-Token` is not sent.",
            right=Right.WEBHOOKS,
            answer=SparkLoopTokenView,
        ),
        row(
            "PUT",
            f"{hook}/sparkloop_token",
            set_sparkloop_token,
            summary="Set the SparkLoop token",
            detail="For receivers that compare the header `SparkLoop-Token`. Null: the header is "
            "not sent. Also re-enables a disabled webhook.",
            body=bodies.SparkLoopTokenUpdate,
            answer=SparkLoopTokenView,
        ),
    )


def _delivery_routes(row: Callable[..., Route], hook: str) -> tuple[Route, ...]:
    return (
        row(
            "POST",
            f"{hook}/test",
            send_test_event,
            summary="Send a test event",
            detail="Sends an event of the type `test` to this webhook, whatever its events. List "
            "its deliveries to see the response of your server.",
            body=bodies.EmptyBody,
            answer=OneDelivery,
        ),
        row(
            "GET",
            f"{hook}/deliveries",
            list_deliveries,
            summary="List deliveries and their attempts",
            detail="Newest first, as far back as 30 days. Each has all its attempts, with the "
            "responses of your server.",
            query=("page", "per_page"),
            answer=DeliveryList,
            snapshot=True,
        ),
        row(
            "POST",
            f"{hook}/deliveries/{{delivery_uuid}}/resend",
            resend_delivery,
            summary="Resend a delivery",
            detail="Sends the same event again now, with the same ID, and tries again as often "
            "as for a new one.",
            body=bodies.EmptyBody,
            answer=OneDelivery,
        ),
        row(
            "POST",
            f"{hook}/replay",
            replay_events,
            summary="Replay events since a time",
            detail="Sends every event since then again, delivered or not, unless it is still "
            "being sent.",
            body=bodies.ReplayInput,
            answer=ReplayedEvents,
        ),
    )


_MORE_EVENTS = "/v2/webhooks/{uuid}/more_events"

ROUTES = (
    *_routes(
        _webhooks,
        "/v1/campaigns/{campaign_uuid}/webhooks",
        one=OneWebhook,
        many=WebhookList,
        new=bodies.WebhookCreate,
        changed=bodies.WebhookUpdate,
    ),
    *_routes(
        _webhooks_v2,
        "/v2/webhooks",
        one=OneWebhookV2,
        many=WebhookListV2,
        new=bodies.WebhookCreateV2,
        changed=bodies.WebhookUpdateV2,
    ),
    _webhooks(
        "GET",
        _MORE_EVENTS,
        get_more_events,
        summary="Get a webhook's other events",
        detail="Events beyond the four of the webhook itself.",
        answer=OneMoreEvents,
    ),
    _webhooks(
        "PUT",
        _MORE_EVENTS,
        update_more_events,
        summary="Update a webhook's other events",
        detail="Only the flags you send change; null clears one. "
        "Also re-enables a disabled webhook.",
        body=bodies.MoreEventsUpdate,
        answer=OneMoreEvents,
    ),
)
