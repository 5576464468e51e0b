"""Webhook endpoints. A v1 webhook belongs to a campaign and has two of the four flags."""

from __future__ import annotations

from typing import Any

import msgspec

from honeyguide.accounts.permissions import Right
from honeyguide.api import bodies
from honeyguide.api.call import Call, Listed, Route, resource
from honeyguide.api.decoding import Body
from honeyguide.api.views import Message, View
from honeyguide.api.webhook_views import (
    Deliveries,
    DeliveryMeta,
    OneDelivery,
    OneMoreEvents,
    OneWebhook,
    OneWebhookV1,
    Replayed,
    Secret,
    SparkLoopTokenView,
    Webhooks,
    WebhooksV1,
    delivery_view,
    more_events_view,
    webhook_view,
    webhook_view_v1,
)
from honeyguide.events import webhooks
from honeyguide.events.webhooks import Flags, Webhook
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Required
from honeyguide.store.tx import Tx


def _scope(call: Call) -> str:
    """The campaign in a v1 path; empty for v2."""
    return call.path.get("campaign_uuid", "")


def _one(call: Call, hook: Webhook) -> OneWebhook | OneWebhookV1:
    return OneWebhookV1(webhook_view_v1(hook)) if _scope(call) else OneWebhook(webhook_view(hook))


def _flags(body: Any) -> Flags:
    """Flags can be in the body or under `events`. If both set one, the body wins."""
    nested = body.events if isinstance(body.events, msgspec.Struct) else None
    chosen = {}
    for name in Flags.__struct_fields__:
        value = getattr(body, name, msgspec.UNSET)
        chosen[name] = getattr(nested, name, msgspec.UNSET) if value is msgspec.UNSET else value
    return Flags(**chosen)


async def create(tx: Tx, call: Call) -> OneWebhook | OneWebhookV1:
    if not call.body.url:
        raise Required("url")
    hook = await webhooks.create(
        call.change(tx), _scope(call), call.body.url, _flags(call.body), policy=call.policy
    )
    return _one(call, hook)


async def list_all(tx: Tx, call: Call) -> Webhooks | WebhooksV1:
    hooks = await webhooks.of_account(tx, call.tenant.account_id, _scope(call))
    if _scope(call):
        return WebhooksV1([webhook_view_v1(hook) for hook in hooks])
    return Webhooks([webhook_view(hook) for hook in hooks])


async def get(tx: Tx, call: Call) -> OneWebhook | OneWebhookV1:
    return _one(
        call, await webhooks.get(tx, call.tenant.account_id, _scope(call), call.path["uuid"])
    )


async def update(tx: Tx, call: Call) -> OneWebhook | OneWebhookV1:
    hook = await webhooks.update(
        call.change(tx),
        _scope(call),
        call.path["uuid"],
        call.body.url,
        _flags(call.body),
        policy=call.policy,
    )
    return _one(call, hook)


async def delete(tx: Tx, call: Call) -> Message:
    await webhooks.delete(call.change(tx), _scope(call), call.path["uuid"])
    return Message("The webhook was deleted.")


async def get_more_events(tx: Tx, call: Call) -> OneMoreEvents:
    hook = await webhooks.get(tx, call.tenant.account_id, "", call.path["uuid"])
    return more_events_view(hook)


async def update_more_events(tx: Tx, call: Call) -> OneMoreEvents:
    hook = await webhooks.update(
        call.change(tx),
        "",
        call.path["uuid"],
        msgspec.UNSET,
        Flags(**msgspec.structs.asdict(call.body)),
        policy=call.policy,
    )
    return more_events_view(hook)


async def secret(tx: Tx, call: Call) -> Secret:
    return Secret(
        (await webhooks.get(tx, call.tenant.account_id, _scope(call), call.path["uuid"])).secret
    )


async def rotate_secret(tx: Tx, call: Call) -> Secret:
    hook_id = call.path["uuid"]
    return Secret(await webhooks.rotate_secret(call.change(tx), _scope(call), hook_id))


async def sparkloop_token(tx: Tx, call: Call) -> SparkLoopTokenView:
    hook = await webhooks.get(tx, call.tenant.account_id, _scope(call), call.path["uuid"])
    return SparkLoopTokenView(hook.sparkloop_token)


async def set_sparkloop_token(tx: Tx, call: Call) -> SparkLoopTokenView:
    token = call.body.sparkloop_token
    if token is msgspec.UNSET:
        return await sparkloop_token(tx, call)
    hook = await webhooks.set_sparkloop_token(
        call.change(tx), _scope(call), call.path["uuid"], token
    )
    return SparkLoopTokenView(hook.sparkloop_token)


async def test(tx: Tx, call: Call) -> OneDelivery:
    sent = await webhooks.send_test(
        tx, call.tenant.account_id, _scope(call), call.path["uuid"], now_ms=call.now_ms
    )
    return OneDelivery(delivery_view(*sent))


async def deliveries(tx: Tx, call: Call) -> Listed:
    page = call.page
    hook = await webhooks.get(tx, call.tenant.account_id, _scope(call), call.path["uuid"])
    rows, total = await webhooks.page_of_deliveries(
        tx, call.tenant.account_id, _scope(call), hook.id, page
    )
    shown = Deliveries(
        disabled_at=iso(hook.disabled_ms) if hook.disabled_ms else None,
        deliveries=[delivery_view(*row) for row in rows],
        meta=DeliveryMeta(page.per_page, page.page, page.total_pages(total), total),
    )
    return Listed(shown, page, total)


async def resend(tx: Tx, call: Call) -> OneDelivery:
    again = await webhooks.resend(
        tx,
        call.tenant.account_id,
        _scope(call),
        call.path["uuid"],
        call.path["delivery_uuid"],
        now_ms=call.now_ms,
    )
    return OneDelivery(delivery_view(*again))


async def replay(tx: Tx, call: Call) -> Replayed:
    hook_id, since = call.path["uuid"], call.body.since
    return Replayed(
        await webhooks.replay(
            tx, call.tenant.account_id, _scope(call), hook_id, since, now_ms=call.now_ms
        )
    )


_webhooks = resource("Webhooks", "webhooks", right=Right.WEBHOOKS)


def _routes(
    base: str,
    *,
    one: type[View],
    many: type[View],
    new: type[Body],
    changed: type[Body],
) -> tuple[Route, ...]:
    hook = f"{base}/{{uuid}}"
    return (
        _webhooks(
            "POST",
            base,
            create,
            summary="Create a webhook",
            body=new,
            answer=one,
            status=201,
        ),
        _webhooks(
            "GET",
            base,
            list_all,
            summary="List webhooks",
            detail="All of them, newest first.",
            answer=many,
        ),
        _webhooks(
            "GET",
            hook,
            get,
            summary="Get a webhook",
            answer=one,
        ),
        _webhooks(
            "PUT",
            hook,
            update,
            summary="Update a webhook",
            detail="Also re-enables a disabled webhook.",
            body=changed,
            answer=one,
        ),
        *_common_routes(hook),
        *_delivery_routes(hook),
    )


def _common_routes(hook: str) -> tuple[Route, ...]:
    return (
        _webhooks(
            "DELETE",
            hook,
            delete,
            summary="Delete a webhook",
            answer=Message,
        ),
        _webhooks(
            "GET",
            f"{hook}/secret",
            secret,
            summary="Get the signing secret",
            right=Right.WEBHOOKS,
            answer=Secret,
        ),
        _webhooks(
            "POST",
            f"{hook}/rotate_secret",
            rotate_secret,
            summary="Rotate the signing secret",
            detail="For 24 hours, deliveries are signed with both the old and the new secret.",
            body=bodies.Nothing,
            answer=Secret,
        ),
        _webhooks(
            "GET",
            f"{hook}/sparkloop_token",
            sparkloop_token,
            summary="Get the SparkLoop token",
            right=Right.WEBHOOKS,
            answer=SparkLoopTokenView,
        ),
        _webhooks(
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


def _delivery_routes(hook: str) -> tuple[Route, ...]:
    return (
        _webhooks(
            "POST",
            f"{hook}/test",
            test,
            summary="Send a test event",
            body=bodies.Nothing,
            answer=OneDelivery,
        ),
        _webhooks(
            "GET",
            f"{hook}/deliveries",
            deliveries,
            summary="List deliveries and their attempts",
            query=("page", "per_page"),
            answer=Deliveries,
            snapshot=True,
        ),
        _webhooks(
            "POST",
            f"{hook}/deliveries/{{delivery_uuid}}/resend",
            resend,
            summary="Resend a delivery",
            body=bodies.Nothing,
            answer=OneDelivery,
        ),
        _webhooks(
            "POST",
            f"{hook}/replay",
            replay,
            summary="Replay events since a time",
            body=bodies.Replay,
            answer=Replayed,
        ),
    )


_MORE_EVENTS = "/v2/webhooks/{uuid}/more_events"

ROUTES = (
    *_routes(
        "/v1/campaigns/{campaign_uuid}/webhooks",
        one=OneWebhookV1,
        many=WebhooksV1,
        new=bodies.WebhookCreateV1,
        changed=bodies.WebhookUpdateV1,
    ),
    *_routes(
        "/v2/webhooks",
        one=OneWebhook,
        many=Webhooks,
        new=bodies.WebhookCreate,
        changed=bodies.WebhookUpdate,
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
