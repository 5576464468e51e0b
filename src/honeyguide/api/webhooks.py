"""Webhook endpoints of v1 and v2. A v1 webhook belongs to a campaign and has two of the four flags; the rest is shared."""

from __future__ import annotations

from typing import Any

import msgspec

from honeyguide.api import bodies
from honeyguide.api.call import Call, Listed, Route
from honeyguide.api.views import Message, View
from honeyguide.events import webhooks
from honeyguide.events.webhooks import Attempt, Delivery, Flags, Webhook
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Required
from honeyguide.store.tx import Tx


class EventsV1(View, frozen=True):
    new_referral: bool | None
    reward_unlocked: bool | None


class Events(View, frozen=True):
    new_referral: bool | None
    new_partner_referral: bool | None
    reward_unlocked: bool | None
    reward_redeemed: bool | None


class WebhookViewV1(View, frozen=True):
    uuid: str
    url: str
    events: EventsV1


class WebhookView(View, frozen=True):
    uuid: str
    url: str
    events: Events


class OneWebhookV1(View, frozen=True):
    webhook: WebhookViewV1


class OneWebhook(View, frozen=True):
    webhook: WebhookView


class WebhooksV1(View, frozen=True):
    webhooks: list[WebhookViewV1]


class Webhooks(View, frozen=True):
    webhooks: list[WebhookView]


class Secret(View, frozen=True):
    secret: str


class AttemptView(View, frozen=True):
    at: str
    status_code: int | None
    latency_ms: int
    error: str | None
    response: str | None


class DeliveryView(View, frozen=True):
    uuid: str
    event_id: str
    type: str
    status: str
    next_attempt_at: str | None
    attempts: list[AttemptView]


class OneDelivery(View, frozen=True):
    delivery: DeliveryView


class DeliveryMeta(View, frozen=True):
    per_page: int
    page: int
    total_pages: int
    total_deliveries: int


class Deliveries(View, frozen=True):
    deliveries: list[DeliveryView]
    meta: DeliveryMeta


class Replayed(View, frozen=True):
    replayed: int


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _shown(call: Call, hook: Webhook) -> WebhookViewV1 | WebhookView:
    if _scope(call):
        return WebhookViewV1(
            hook.id, hook.url, EventsV1(_flag(hook.new_referral), _flag(hook.reward_unlocked))
        )
    flags = (
        hook.new_referral,
        hook.new_partner_referral,
        hook.reward_unlocked,
        hook.reward_redeemed,
    )
    return WebhookView(hook.id, hook.url, Events(*map(_flag, flags)))


def _one(call: Call, hook: Webhook) -> Any:
    shown = _shown(call, hook)
    return OneWebhookV1(shown) if isinstance(shown, WebhookViewV1) else OneWebhook(shown)


def _delivery(row: Delivery, attempts: list[Attempt]) -> DeliveryView:
    return DeliveryView(
        row.id,
        row.event_id,
        row.type,
        row.status,
        iso(row.due_ms) if row.status == "pending" else None,
        [
            AttemptView(iso(a.at_ms), a.status_code, a.latency_ms, a.error, a.response)
            for a in attempts
        ],
    )


def _scope(call: Call) -> str:
    """The campaign in a v1 path; empty for v2."""
    return call.path.get("campaign_uuid", "")


def _flags(body: Any) -> Flags:
    """Flags can be in the body or under `events`. If both set one, the body wins."""
    nested = body.events if isinstance(body.events, msgspec.Struct) else None
    chosen = {}
    for name in Flags.__struct_fields__:
        value = getattr(body, name, msgspec.UNSET)
        chosen[name] = getattr(nested, name, msgspec.UNSET) if value is msgspec.UNSET else value
    return Flags(**chosen)


async def create(tx: Tx, call: Call) -> Any:
    if not call.body.url:
        raise Required("url")
    hook = await webhooks.create(
        tx,
        call.tenant.account_id,
        _scope(call),
        call.body.url,
        _flags(call.body),
        policy=call.policy,
        now_ms=call.now_ms,
    )
    return _one(call, hook)


async def list_all(tx: Tx, call: Call) -> Any:
    shown: list[Any] = [
        _shown(call, hook)
        for hook in await webhooks.of_account(tx, call.tenant.account_id, _scope(call))
    ]
    return WebhooksV1(shown) if _scope(call) else Webhooks(shown)


async def get(tx: Tx, call: Call) -> Any:
    return _one(
        call, await webhooks.get(tx, call.tenant.account_id, _scope(call), call.path["uuid"])
    )


async def update(tx: Tx, call: Call) -> Any:
    hook = await webhooks.update(
        tx,
        call.tenant.account_id,
        _scope(call),
        call.path["uuid"],
        call.body.url,
        _flags(call.body),
        policy=call.policy,
    )
    return _one(call, hook)


async def delete(tx: Tx, call: Call) -> Message:
    await webhooks.delete(tx, call.tenant.account_id, _scope(call), call.path["uuid"])
    return Message("The webhook was deleted.")


async def secret(tx: Tx, call: Call) -> Secret:
    return Secret(
        (await webhooks.get(tx, call.tenant.account_id, _scope(call), call.path["uuid"])).secret
    )


async def rotate_secret(tx: Tx, call: Call) -> Secret:
    hook_id = call.path["uuid"]
    return Secret(
        await webhooks.rotate_secret(
            tx, call.tenant.account_id, _scope(call), hook_id, now_ms=call.now_ms
        )
    )


async def test(tx: Tx, call: Call) -> OneDelivery:
    sent = await webhooks.send_test(
        tx, call.tenant.account_id, _scope(call), call.path["uuid"], now_ms=call.now_ms
    )
    return OneDelivery(_delivery(*sent))


async def deliveries(tx: Tx, call: Call) -> Listed:
    page = call.page
    rows, total = await webhooks.page_of_deliveries(
        tx, call.tenant.account_id, _scope(call), call.path["uuid"], page
    )
    meta = DeliveryMeta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(Deliveries([_delivery(*row) for row in rows], meta), page, total)


async def resend(tx: Tx, call: Call) -> OneDelivery:
    again = await webhooks.resend(
        tx,
        call.tenant.account_id,
        _scope(call),
        call.path["uuid"],
        call.path["delivery_uuid"],
        now_ms=call.now_ms,
    )
    return OneDelivery(_delivery(*again))


async def replay(tx: Tx, call: Call) -> Replayed:
    hook_id, since = call.path["uuid"], call.body.since
    return Replayed(
        await webhooks.replay(
            tx, call.tenant.account_id, _scope(call), hook_id, since, now_ms=call.now_ms
        )
    )


def _routes(
    base: str, one: type[View], many: type[View], new: type[bodies.Body], changed: type[bodies.Body]
) -> tuple[Route, ...]:
    hook = f"{base}/{{uuid}}"
    return (
        Route("POST", base, create, "Create a webhook", one, new, 201),
        Route("GET", base, list_all, "List webhooks", many, detail="All of them, newest first."),
        Route("GET", hook, get, "Get a webhook", one),
        Route(
            "PUT",
            hook,
            update,
            "Update a webhook",
            one,
            changed,
            detail="Also re-enables a disabled webhook.",
        ),
        Route("DELETE", hook, delete, "Delete a webhook", Message),
        Route("GET", f"{hook}/secret", secret, "Get the signing secret", Secret),
        Route(
            "POST",
            f"{hook}/rotate_secret",
            rotate_secret,
            "Rotate the signing secret",
            Secret,
            bodies.Nothing,
            detail="For 24 hours, deliveries are signed with both the old and the new secret.",
        ),
        Route("POST", f"{hook}/test", test, "Send a test event", OneDelivery, bodies.Nothing),
        Route(
            "GET",
            f"{hook}/deliveries",
            deliveries,
            "List deliveries and their attempts",
            Deliveries,
            query=("page", "per_page"),
            snapshot=True,
        ),
        Route(
            "POST",
            f"{hook}/deliveries/{{delivery_uuid}}/resend",
            resend,
            "Resend a delivery",
            OneDelivery,
            bodies.Nothing,
        ),
        Route(
            "POST", f"{hook}/replay", replay, "Replay events since a time", Replayed, bodies.Replay
        ),
    )


ROUTES = (
    *_routes(
        "/v1/campaigns/{campaign_uuid}/webhooks",
        OneWebhookV1,
        WebhooksV1,
        bodies.WebhookCreateV1,
        bodies.WebhookUpdateV1,
    ),
    *_routes("/v2/webhooks", OneWebhook, Webhooks, bodies.WebhookCreate, bodies.WebhookUpdate),
)
