"""The `webhooks` part of the OpenAPI document: every event that a receiver can get."""

from __future__ import annotations

from typing import Any

from honeyguide.api import openapi_schemas
from honeyguide.api.event_views import PAYLOADS
from honeyguide.api.openapi_schemas import REF, Schema, name_of
from honeyguide.api.webhook_views import MoreEvents, WebhookEventsV2
from honeyguide.events import outbox, samples

_HEADERS = {
    "webhook-id": ("The event's `id`: store it to drop duplicates.", {"type": "string"}),
    "webhook-timestamp": (
        "Time of this attempt in Unix seconds. Refuse anything older than five minutes.",
        {"type": "string"},
    ),
    "webhook-signature": (
        "`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` with the webhook's secret. "
        "Several, separated by spaces, after a rotation.",
        {"type": "string"},
    ),
}
_ANSWERS = {
    "2XX": "You have the event. Answer within 15 seconds.",
    "410": "Disables the webhook at once.",
    "default": "Anything else is a failure, and the event is sent again later.",
}
_TEST = "Sent when you ask for a test event, whatever the webhook's events."


def section() -> dict[str, Any]:
    """By type of event."""
    schemas = openapi_schemas.of_routes((), [WebhookEventsV2, MoreEvents])
    flags = {
        **schemas["WebhookEventsV2"]["properties"],
        **schemas["MoreEvents"]["properties"],
        outbox.TEST: {"description": _TEST},
    }
    return {kind: {"post": _event(kind, flags[kind]["description"])} for kind in PAYLOADS}


def _event(kind: str, description: str) -> dict[str, Any]:
    shapes: list[Schema] = [{"$ref": REF + name_of(each)} for each in PAYLOADS[kind]]
    return {
        "operationId": "receive" + "".join(word.capitalize() for word in kind.split("_")),
        "tags": ["Webhooks"],
        "summary": f"Event `{kind}`",
        "description": description,
        # The signature proves where it comes from.
        "security": [],
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": text, "schema": schema}
            for name, (text, schema) in _HEADERS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": shapes[0] if len(shapes) == 1 else {"anyOf": shapes},
                    "example": samples.sample(kind),
                }
            },
        },
        "responses": {
            status: {"description": description} for status, description in _ANSWERS.items()
        },
    }
