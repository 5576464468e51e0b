"""Webhooks and their deliveries. A v1 webhook has two of the four flags."""

from __future__ import annotations

from typing import Annotated

from honeyguide.api.views import META, PageMeta, Total, View, filler
from honeyguide.events import outbox
from honeyguide.events.webhooks import Attempt, Delivery, Webhook
from honeyguide.kernel import public
from honeyguide.kernel.clock import iso
from honeyguide.kernel.public import doc


class WebhookEvents(View, frozen=True):
    new_referral: public.NewReferral | None
    reward_unlocked: public.RewardUnlocked | None


class WebhookEventsV2(View, frozen=True):
    new_referral: public.NewReferral | None
    new_partner_referral: public.NewPartnerReferral | None
    reward_unlocked: public.RewardUnlocked | None
    reward_redeemed: public.RewardRedeemed | None


class WebhookView(View, frozen=True):
    uuid: public.Uuid
    url: public.WebhookUrl
    events: Annotated[WebhookEvents, public.EVENTS]


class WebhookViewV2(View, frozen=True):
    uuid: public.Uuid
    url: public.WebhookUrl
    events: Annotated[WebhookEventsV2, public.EVENTS]


class OneWebhook(View, frozen=True):
    webhook: WebhookView


class OneWebhookV2(View, frozen=True):
    webhook: WebhookViewV2


class WebhookList(View, frozen=True):
    webhooks: list[WebhookView]


class WebhookListV2(View, frozen=True):
    webhooks: list[WebhookViewV2]


class MoreEvents(View, frozen=True):
    new_subscriber: public.NewSubscriberEvent | None
    subscriber_unsubscribed: public.SubscriberUnsubscribed | None
    referral_verified: public.ReferralVerified | None
    referral_rejected: public.ReferralRejected | None
    partner_referral_reversed: public.PartnerReferralReversed | None


class OneMoreEvents(View, frozen=True):
    more_events: Annotated[MoreEvents, doc("Which of these events are sent; null means not set.")]


class WebhookSecret(View, frozen=True):
    secret: Annotated[
        str,
        doc(
            "Signing secret for everything we send to this webhook.",
            "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
        ),
    ]


class SparkLoopTokenView(View, frozen=True):
    sparkloop_token: public.SparkLoopToken | None


class DeliveryAttemptView(View, frozen=True):
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
    type: Annotated[
        str, doc("Event type.", outbox.NEW_REFERRAL, enum=[*outbox.ALL_TYPES, outbox.TEST])
    ]
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
    attempts: list[DeliveryAttemptView]


class OneDelivery(View, frozen=True):
    delivery: DeliveryView


class DeliveryMeta(PageMeta, frozen=True):
    total_deliveries: Total


class DeliveryList(View, frozen=True):
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


class ReplayedEvents(View, frozen=True):
    replayed: Annotated[int, doc("Number of deliveries that are sent again.", 12, minimum=0)]


_fill_events = filler(WebhookEvents, Webhook)
_fill_events_v2 = filler(WebhookEventsV2, Webhook)
_fill_more_events = filler(MoreEvents, Webhook)
_fill_delivery = filler(DeliveryView, Delivery)
_fill_attempt = filler(DeliveryAttemptView, Attempt, at=("at_ms", iso))


def webhook_view(hook: Webhook) -> WebhookView:
    return WebhookView(hook.id, hook.url, _fill_events(hook))


def webhook_view_v2(hook: Webhook) -> WebhookViewV2:
    return WebhookViewV2(hook.id, hook.url, _fill_events_v2(hook))


def more_events_view(hook: Webhook) -> OneMoreEvents:
    return OneMoreEvents(_fill_more_events(hook))


def delivery_view(row: Delivery, attempts: list[Attempt]) -> DeliveryView:
    return _fill_delivery(
        row,
        next_attempt_at=iso(row.due_ms) if row.status == "pending" else None,
        attempts=[_fill_attempt(attempt) for attempt in attempts],
    )
