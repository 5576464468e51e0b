"""Choices, list sizes and examples in the OpenAPI document: the same as the rules that check them,
and valid together."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import jsonschema_rs
import pytest

from honeyguide.api.call import Route
from honeyguide.api.openapi import document
from honeyguide.api.openapi_examples import id_in_path, links
from honeyguide.api.routes import ROUTES
from honeyguide.kernel import checks, fields, public
from honeyguide.kernel.public import EXAMPLE_IDS
from honeyguide.partners import audience
from honeyguide.rewards import coupons, rewards
from honeyguide.subscribers import referral_states, tags

DOCUMENT = document(ROUTES, "https://go.example.org")
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
BODIES = {route.body.__name__: route.body for route in ROUTES if route.body is not None}
WITH_BODY = [route for route in ROUTES if route.body is not None and route.body.__struct_fields__]


def choices_of(schema: dict[str, Any]) -> list[str]:
    return [each for each in schema["enum"] if each is not None]


def chosen() -> Iterator[tuple[str, str, partial[Any]]]:
    """Every field of a body that must be one of some words, or some of them."""
    for name, body in BODIES.items():
        for field, info in fields.fields_of(body).items():
            rule = info.rule
            if isinstance(rule, partial) and rule.func in (checks.one_of, checks.some_of):
                yield name, field, rule


def test_what_is_checked_against_words_lists_them() -> None:
    found = list(chosen())
    assert len(found) >= 12
    for name, field, rule in found:
        schema, allowed = SCHEMAS[name]["properties"][field], list(rule.keywords["allowed"])
        if rule.func is checks.one_of:
            assert choices_of(schema) == allowed, (name, field)
            continue
        assert schema["items"]["enum"] == allowed, (name, field)
        assert schema["minItems"] == rule.keywords["least"]
        assert schema.get("maxItems") == rule.keywords["most"]


@pytest.mark.parametrize(
    ("name", "field", "limits"),
    [
        ("PublicationCreate", "categories", {"minItems": 1, "maxItems": audience.MOST_CATEGORIES}),
        ("PublicationUpdate", "income_levels", {"minItems": 1}),
        ("RewardCreate", "variants", {"maxItems": rewards.MOST_VARIANTS}),
        ("RewardCreate", "coupon_codes", {"maxItems": coupons.MOST_AT_ONCE}),
        ("RewardUpdate", "referrals", {"minimum": 1, "maximum": rewards.MOST_REFERRALS}),
        ("TagsInput", "tags", {"maxItems": tags.MOST_AT_ONCE}),
        (
            "CampaignSettingsUpdate",
            "hold_days",
            {"minimum": 0, "maximum": referral_states.LONGEST_HOLD_DAYS},
        ),
    ],
)
def test_limits_are_those_of_the_rules(name: str, field: str, limits: dict[str, int]) -> None:
    schema = SCHEMAS[name]["properties"][field]
    assert {key: schema[key] for key in limits} == limits


def test_a_publication_can_be_sent_as_a_form() -> None:
    for route in ROUTES:
        operation = DOCUMENT["paths"][route.path][route.method.lower()]
        content = operation.get("requestBody", {}).get("content", {})
        takes_form = route.body is not None and route.body.takes_form
        assert ("multipart/form-data" in content) == takes_form
    form, body = SCHEMAS["PublicationCreateForm"], SCHEMAS["PublicationCreate"]
    assert (set(form["properties"]), form["required"]) == (
        set(body["properties"]),
        body["required"],
    )
    assert form["properties"]["logo"]["format"] == "binary"
    assert "null" not in str(form)


def examples(route: Route) -> list[dict[str, Any]]:
    operation = DOCUMENT["paths"][route.path][route.method.lower()]
    content = operation["requestBody"]["content"]["application/json"]
    named = [each["value"] for each in content.get("examples", {}).values()]
    return named or [content["example"]]


@pytest.mark.parametrize("route", WITH_BODY, ids=lambda route: route.operation_id)
def test_every_body_has_an_example_that_fits(route: Route) -> None:
    """tests/pages/test_reference_samples.py sends them."""
    operation = DOCUMENT["paths"][route.path][route.method.lower()]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    whole = {**schema, "components": DOCUMENT["components"]}
    for example in examples(route):
        jsonschema_rs.Draft202012Validator(whole, validate_formats=True).validate(example)


def test_every_kind_of_reward_has_an_example() -> None:
    (create,) = (route for route in ROUTES if route.operation_id == "createReward")
    assert {each["kind"] for each in examples(create)} == set(rewards.REWARD_KINDS)


def test_every_kind_of_thing_has_a_uuid_of_its_own_in_paths() -> None:
    for route in ROUTES:
        for name in route.names:
            example = id_in_path(route.path, name)
            assert example in EXAMPLE_IDS.values()
            is_subscriber = "subscribers/{uuid}" in route.path and name == "uuid"
            assert (example == public.SUBSCRIBER_UUID) == is_subscriber, (
                f"{route.path}: add what {name} is to EXAMPLE_IDS in kernel/public.py"
            )


def test_what_is_made_links_to_what_can_be_done_with_it() -> None:
    routes = {route.operation_id: route for route in ROUTES}
    assert list(links(routes["createReward"], ROUTES)) == [
        "getReward",
        "updateReward",
        "deleteReward",
    ]
    for path, methods in DOCUMENT["paths"].items():
        for operation in methods.values():
            for answer in operation["responses"].values():
                for name, link in answer.get("links", {}).items():
                    assert set(link["parameters"]) == set(routes[name].names), path
