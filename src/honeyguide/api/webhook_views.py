"""Webhooks and their deliveries. A v1 webhook has two of the four flags."""

from __future__ import annotations

from typing import Annotated

import msgspec

from honeyguide.api.views import META, PageMeta, Total, View
from honeyguide.events.webhooks import Attempt, Delivery, Webhook
from honeyguide.kernel import public
from honeyguide.kernel.clock import iso
from honeyguide.kernel.public import doc


class EventsV1(View, frozen=True):
    new_referral: public.NewReferral | None
    reward_unlocked: public.RewardUnlocked | None


class Events(View, frozen=True):
    new_referral: public.NewReferral | None
    new_partner_referral: public.NewPartnerReferral | None
    reward_unlocked: public.RewardUnlocked | None
    reward_redeemed: public.RewardRedeemed | None


class WebhookViewV1(View, frozen=True):
    uuid: public.Uuid
    url: public.WebhookUrl
    events: Annotated[EventsV1, public.EVENTS]


class WebhookView(View, frozen=True):
    uuid: public.Uuid
    url: public.WebhookUrl
    events: Annotated[Events, public.EVENTS]


class OneWebhookV1(View, frozen=True):
    webhook: WebhookViewV1


class OneWebhook(View, frozen=True):
    webhook: WebhookView


class WebhooksV1(View, frozen=True):
    webhooks: list[WebhookViewV1]


class Webhooks(View, frozen=True):
    webhooks: list[WebhookView]


class MoreEvents(View, frozen=True):
    new_subscriber: public.NewSubscriberEvent | None
    subscriber_unsubscribed: public.SubscriberUnsubscribed | None
    referral_verified: public.ReferralVerified | None
    referral_rejected: public.ReferralRejected | None
    partner_referral_reversed: public.PartnerReferralReversed | None


class OneMoreEvents(View, frozen=True):
    more_events: Annotated[MoreEvents, doc("Which of these events are sent; null means not set.")]


class Secret(View, frozen=True):
    secret: Annotated[
        str,
        doc(
            "Signing secret for everything we send to this webhook.",
            "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
        ),
    ]


class AttemptView(View, frozen=True):
    at: Annotated[public.Time, doc("When we called your server.")]
    status_code: Annotated[int | None, doc("HTTP status of your server's response.", 200)]
    latency_ms: Annotated[int, doc("Response time of your server, in milliseconds.", 84)]
    error: Annotated[str | None, doc("Why there was no response, if there was none.", None)]
    response: Annotated[str | None, doc("The beginning of your server's response.", "ok")]


class DeliveryView(View, frozen=True):
    uuid: public.Uuid
    event_id: Annotated[
        str,
        doc(
            "The same for every attempt. Use it to detect duplicates.",
            f"msg_{public.SUBSCRIBER_UUID}",
        ),
    ]
    type: Annotated[str, doc("Event type.", "new_referral")]
    status: Annotated[
        str,
        doc(
            "What became of it so far.",
            "delivered",
            enum=["pending", "delivered", "failed", "cancelled"],
        ),
    ]
    next_attempt_at: Annotated[
        public.Time | None, doc("When we try again; null if no further attempt is planned.", None)
    ]
    attempts: list[AttemptView]


class OneDelivery(View, frozen=True):
    delivery: DeliveryView


class DeliveryMeta(PageMeta, frozen=True):
    total_deliveries: Total


class Deliveries(View, frozen=True):
    disabled_at: Annotated[
        public.Time | None,
        doc(
            "When the webhook was disabled because deliveries to it failed; null if it is enabled. "
            "Update the webhook to enable it again.",
            None,
        ),
    ]
    deliveries: list[DeliveryView]
    meta: Annotated[DeliveryMeta, META]


class Replayed(View, frozen=True):
    replayed: Annotated[int, doc("Number of deliveries that are sent again.", 12, minimum=0)]


def webhook_view_v1(hook: Webhook) -> WebhookViewV1:
    # `strict=False`, because flags are stored as 0 and 1.
    events = msgspec.convert(hook._asdict(), EventsV1, strict=False)
    return WebhookViewV1(hook.id, hook.url, events)


def webhook_view(hook: Webhook) -> WebhookView:
    events = msgspec.convert(hook._asdict(), Events, strict=False)
    return WebhookView(hook.id, hook.url, events)


def more_events_view(hook: Webhook) -> OneMoreEvents:
    return OneMoreEvents(msgspec.convert(hook._asdict(), MoreEvents, strict=False))


def delivery_view(row: Delivery, attempts: list[Attempt]) -> DeliveryView:
    return DeliveryView(
        uuid=row.id,
        event_id=row.event_id,
        type=row.type,
        status=row.status,
        next_attempt_at=iso(row.due_ms) if row.status == "pending" else None,
        attempts=[
            AttemptView(iso(a.at_ms), a.status_code, a.latency_ms, a.error, a.response)
            for a in attempts
        ],
    )
