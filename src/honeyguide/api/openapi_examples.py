"""Examples in the OpenAPI document that are valid together: the UUID in a path is the one that the
answer has, and a body made of the examples is accepted."""

from __future__ import annotations

import re
from typing import Any

from honeyguide.api.call import Route
from honeyguide.kernel import public

Schema = dict[str, Any]

# The UUID of each kind of thing in the examples. The reference replaces them by those of the
# account that is signed in, so no two kinds share one, except where it is the same thing.
_EARNED = "019a8c3e-6a10-7e02-8b4d-2f9c1d7a5e34"
IDS: dict[str, str] = {
    "campaign": public.CAMPAIGN_UUID,
    "subscriber": public.SUBSCRIBER_UUID,
    "reward": "019a8c3e-60c4-7a1b-9d27-8e5f3a6b1c02",
    "earned_reward": _EARNED,
    "shipment": _EARNED,
    "adjustment": "019a8c3e-61d8-7c55-a0f3-4b7e9d2c6a18",
    "link_host": "019a8c3e-62ea-7f30-8c91-5d0a7b3e4f26",
    "webhook": "019a8c3e-63fc-7b84-9e62-6c1f8a5d3b70",
    "webhook_v2": "019a8c3e-6510-7d19-a7b3-7e2a9c6f4d81",
    "delivery": "019a8c3e-6622-7a6e-8f04-8b3c1d7e5a92",
    "publication": "019a8c3e-6734-7c03-9015-9a4d2e8f6ba3",
    "partner_program": "019a8c3e-6846-7e58-a126-0b5e3f9a7cb4",
    "network_program": "019a8c3e-6958-7b2d-8237-1c6f4a0b8dc5",
    "partner_campaign": "019a8c3e-6b7c-7d92-9348-2d7a5b1c9ed6",
    "program_partner": "019a8c3e-6c8e-7f47-a459-3e8b6c2d0fe7",
    "partner_referral": "019a8c3e-6da0-7a1c-856a-4f9c7d3e1af8",
    "payout": "019a8c3e-6eb2-7c61-967b-5a0d8e4f2ba9",
}
# What is named otherwise than its collection, or its schema, is called.
_IN_PATHS = {
    r"/rewards/\{uuid\}/": "earned_reward",
    r"\{reward_uuid\}": "earned_reward",
    r"^/v2/webhooks/\{uuid\}": "webhook_v2",
    r"/partner_network/partner_programs/\{uuid\}": "network_program",
    r"/partners/\{partner_campaign_uuid\}": "program_partner",
    r"\{referral_uuid\}": "partner_referral",
}
_IN_SCHEMAS = {"Recipient": "subscriber", "SavedSubscriber": "subscriber"}


def singular(things: str) -> str:
    """`partner_programs` as `partner_program`, `deliveries` as `delivery`."""
    return f"{things.removesuffix('ies')}y" if things.endswith("ies") else things.removesuffix("s")


def id_in_path(path: str, name: str) -> str:
    """The example of a path parameter."""
    for pattern, thing in _IN_PATHS.items():
        for match in re.finditer(pattern, path):
            if f"{{{name}}}" in match[0]:
                return IDS[thing]
    before = path.split(f"/{{{name}}}", maxsplit=1)[0].rsplit("/", 1)[1]
    return IDS.get(singular(before), public.SUBSCRIBER_UUID)


def id_in_schema(schema: str, field: str) -> str | None:
    """The example of a field that holds a UUID, or None if the field has its own."""
    if field == "uuid":
        name = _IN_SCHEMAS.get(schema) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", schema).lower()
        name = name.replace("referred_subscriber", "subscriber")
        return IDS.get(name) or IDS.get(name.removesuffix("_v2"))
    return IDS.get(field.removesuffix("_uuid")) if field.endswith("_uuid") else None


def of_body(schema: Schema) -> Schema:
    """A body with every field that has an example. A field whose example is null is left out:
    it does not go with the others."""
    found = {}
    for name, field in schema.get("properties", {}).items():
        example = next(iter(field.get("examples", ())), None)
        if example is not None:
            found[name] = example
    return found


def links(route: Route, routes: tuple[Route, ...]) -> Schema:
    """What can be done next with what this request made, by its UUID."""
    if route.status != 201:
        return {}
    (key,) = route.answer.__struct_fields__
    collection = (f"{key}s", "{uuid}")
    next_routes = [
        other
        for other in routes
        if other.segments[-2:] == collection
        and other.segments[0] == route.segments[0]
        and set(other.names) - {"uuid"} <= set(route.names)
    ]
    return {
        other.operation_id: {
            "operationId": other.operation_id,
            "description": f"{other.summary}, by the UUID in this response.",
            "parameters": {
                name: f"$response.body#/{key}/uuid" if name == "uuid" else f"$request.path.{name}"
                for name in other.names
            },
        }
        for other in next_routes
    }
