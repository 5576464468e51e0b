"""The `webhooks` of the OpenAPI document have every event, with exactly the fields that
docs/webhooks.md shows. That real events have these fields too is in
tests/events/test_more_events.py and tests/events/test_delivery.py.
"""

from typing import Any

import jsonschema_rs
import pytest

from honeyguide.api.openapi import document
from honeyguide.api.routes import ROUTES
from honeyguide.events import outbox, samples
from tests.support.payloads import PAYLOADS

DOCUMENT = document(ROUTES, "https://go.example.org")
WEBHOOKS = DOCUMENT["webhooks"]
SCHEMAS = DOCUMENT["components"]["schemas"]


def schema_of(kind: str) -> dict[str, Any]:
    content: dict[str, Any] = WEBHOOKS[kind]["post"]["requestBody"]["content"]
    return content["application/json"]["schema"]  # type: ignore[no-any-return]


def is_valid(schema: dict[str, Any], value: Any) -> bool:
    whole = {**schema, "components": DOCUMENT["components"]}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True).is_valid(value)


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """The object that a schema is about, if it is about one."""
    options = [each for each in schema.get("anyOf", [schema]) if each.get("type") != "null"]
    name = options[0].get("$ref", "").rsplit("/", 1)[-1]
    return SCHEMAS[name] if name else {}


def compare(schema: dict[str, Any], value: dict[str, Any], where: str) -> None:
    known = described(schema)
    assert set(known["required"]) <= set(value) <= set(known["properties"]), where
    for name, inner in value.items():
        if isinstance(inner, dict):
            compare(known["properties"][name], inner, f"{where}.{name}")


def test_every_event_is_in_the_document() -> None:
    assert set(WEBHOOKS) == {*outbox.ALL_TYPES, outbox.TEST}
    ids = [each["post"]["operationId"] for each in WEBHOOKS.values()]
    assert len(set(ids)) == len(ids) and "receiveNewReferral" in ids
    assert all(each["post"]["description"] for each in WEBHOOKS.values())


@pytest.mark.parametrize("kind", outbox.ALL_TYPES)
def test_an_event_has_the_fields_that_the_guide_shows(kind: str) -> None:
    for event in (PAYLOADS[kind], samples.sample(kind)):
        assert is_valid(schema_of(kind), event), kind
        compare(schema_of(kind), event, kind)
    assert list(samples.sample(kind)) == list(PAYLOADS[kind])
    missing = {key: value for key, value in PAYLOADS[kind].items() if key != "subscriber"}
    assert not is_valid(schema_of(kind), missing)


@pytest.mark.parametrize("kind", [outbox.NEW_PARTNER_REFERRAL, outbox.PARTNER_REFERRAL_REVERSED])
def test_a_partner_gets_the_event_without_the_person(kind: str) -> None:
    whole = PAYLOADS[kind]
    shown = ("id", "referred", "referral_status", "created_at")
    theirs = {key: value for key, value in whole.items() if key != "campaign_id"}
    theirs["subscriber"] = {key: whole["subscriber"][key] for key in shown}
    assert is_valid(schema_of(kind), theirs)
    assert not is_valid(schema_of(kind), theirs | {"subscriber": {}})


def test_a_test_event_is_described() -> None:
    assert is_valid(schema_of(outbox.TEST), samples.sample(outbox.TEST))
