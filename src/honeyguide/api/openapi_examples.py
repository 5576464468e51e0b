"""Examples in the OpenAPI document that are valid together: the UUID in a path is the one that the
answer has, and a body made of the examples is accepted."""

from __future__ import annotations

import re
from typing import Any

from honeyguide.api.call import Route
from honeyguide.kernel import public
from honeyguide.kernel.public import EXAMPLE_IDS

Schema = dict[str, Any]

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
                return EXAMPLE_IDS[thing]
    before = path.split(f"/{{{name}}}", maxsplit=1)[0].rsplit("/", 1)[1]
    return EXAMPLE_IDS.get(singular(before), public.SUBSCRIBER_UUID)


def id_in_schema(schema: str, field: str) -> str | None:
    """The example of a field that holds a UUID, or None if the field has its own."""
    if field == "uuid":
        name = _IN_SCHEMAS.get(schema) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", schema).lower()
        name = name.replace("referred_subscriber", "subscriber")
        return EXAMPLE_IDS.get(name) or EXAMPLE_IDS.get(name.removesuffix("_v2"))
    return EXAMPLE_IDS.get(field.removesuffix("_uuid")) if field.endswith("_uuid") else None


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
