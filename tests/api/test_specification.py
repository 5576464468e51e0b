"""The OpenAPI document says what the specification says: tests/fixtures/specification.toml has it
row by row."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from honeyguide.api.openapi import document
from honeyguide.api.routes import ROUTES
from honeyguide.events import outbox

SPECIFICATION = tomllib.loads(
    (Path(__file__).parents[1] / "fixtures" / "specification.toml").read_text(encoding="utf-8")
)
DOCUMENT = document(ROUTES, "https://go.example.org")
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]


def operation_of(name: str) -> dict[str, Any]:
    """Of a row such as `GET /v1/campaigns/:uuid`; we call a campaign's parameter campaign_uuid."""
    method, path = name.split()
    pattern = re.sub(r":\w+", lambda _: r"\{\w+\}", path)
    (found,) = (each for each in DOCUMENT["paths"] if re.fullmatch(pattern, each))
    operation: dict[str, Any] = DOCUMENT["paths"][found][method.lower()]
    return operation


def kind_of(schema: dict[str, Any]) -> str:
    """A type as the specification writes it."""
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[1])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    kind = next(each for each in kinds if each != "null")
    if kind == "array" and schema["items"].get("type") == "string":
        kind = "array of string"
    elif kind == "array" and "$ref" in schema["items"]:
        kind = f"list of {kind_of(schema['items'])}"
    elif schema.get("format") == "date-time":
        kind = "timestamp"
    return f"{kind} or null" if "null" in kinds else kind


def success(operation: dict[str, Any]) -> dict[str, Any]:
    status = "201" if "201" in operation["responses"] else "200"
    content: dict[str, Any] = operation["responses"][status]["content"]["application/json"]
    return content["schema"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", SPECIFICATION["objects"])
def test_an_object_has_the_specified_fields_and_no_others(name: str) -> None:
    schema, specified = SCHEMAS[name], SPECIFICATION["objects"][name]
    optional = {field.removeprefix("+") for field in specified if field.startswith("+")}
    assert set(schema["required"]) | optional == set(schema["properties"])
    found = {field: kind_of(inner) for field, inner in schema["properties"].items()}
    for field in optional:
        found[f"+{field}"] = found.pop(field).split()[0].replace("list", "array")
    assert found == specified


@pytest.mark.parametrize("name", SPECIFICATION["routes"])
def test_a_route_takes_and_returns_what_is_specified(name: str) -> None:
    specified, operation = SPECIFICATION["routes"][name], operation_of(name)
    returned = SCHEMAS[kind_of(success(operation))]
    if isinstance(specified["returns"], str):
        assert kind_of(success(operation)) == specified["returns"]
    else:
        assert {key: kind_of(each) for key, each in returned["properties"].items()} == specified[
            "returns"
        ]
    check_query(specified.get("query", {}), operation)
    if "body" in specified:
        check_body(specified["body"], operation)
    assert set(SPECIFICATION["errors"]["statuses"]) <= set(operation["responses"])
    assert operation.get("security", DOCUMENT["security"]) == [{"ApiKey": []}]


def check_query(specified: dict[str, list[str]], operation: dict[str, Any]) -> None:
    found = {
        each["name"]: each["schema"]
        for each in operation.get("parameters", ())
        if each["in"] == "query"
    }
    for name, choices in specified.items():
        assert found[name].get("enum", []) == choices
        (parameter,) = (each for each in operation["parameters"] if each["name"] == name)
        assert not parameter.get("required")
    if "type" in specified:
        assert found["type"]["default"] == "all"
    for name, limits in SPECIFICATION["limits"].items():
        if name in specified:
            assert found[name]["type"] == "integer"
            assert found[name]["default"] == limits["default"]
            # More than the maximum counts as the maximum, so it is not an error.
            assert str(limits.get("maximum", "")) in str(operation["parameters"])


def check_body(specified: dict[str, str], operation: dict[str, Any]) -> None:
    schema = SCHEMAS[kind_of(operation["requestBody"]["content"]["application/json"]["schema"])]
    required = {name.removesuffix("*") for name in specified if name.endswith("*")}
    assert set(schema.get("required", ())) == required
    for name, kind in specified.items():
        found = kind_of(schema["properties"][name.removesuffix("*")])
        assert found.removesuffix(" or null") == kind, name


@pytest.mark.parametrize("name", SPECIFICATION["choices"])
def test_words_are_those_that_are_specified(name: str) -> None:
    schema_name, field = name.split(".")
    schema = SCHEMAS[schema_name]["properties"][field]
    choices = schema.get("items", schema)["enum"]
    assert sorted(each for each in choices if each is not None) == sorted(
        SPECIFICATION["choices"][name]
    )


@pytest.mark.parametrize("name", SPECIFICATION["sizes"])
def test_lists_have_the_specified_sizes(name: str) -> None:
    schema_name, field = name.split(".")
    schema = SCHEMAS[schema_name]["properties"][field]
    sizes = {key: schema[key] for key in ("minItems", "maxItems") if key in schema}
    assert sizes == SPECIFICATION["sizes"][name]


def test_the_key_errors_and_events_are_those_that_are_specified() -> None:
    scheme = DOCUMENT["components"]["securitySchemes"]["ApiKey"]
    assert (scheme["in"], scheme["name"]) == ("header", "X-Api-Key")
    assert kind_of(SCHEMAS["Error"]["properties"]["error"]) == SPECIFICATION["errors"]["error"]
    assert "error" in SCHEMAS["Error"]["required"]
    assert set(SPECIFICATION["objects"]["WebhookEventsV2"]) == set(outbox.TYPES)
    assert set(outbox.TYPES) <= set(DOCUMENT["webhooks"])
