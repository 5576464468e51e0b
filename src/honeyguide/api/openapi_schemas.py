"""Schemas of the OpenAPI document: what msgspec says about our types, as callers see it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from honeyguide.api import openapi_examples
from honeyguide.api.call import Route
from honeyguide.api.decoding import Body
from honeyguide.api.views import View
from honeyguide.kernel import checks

Schema = dict[str, Any]
REF = "#/components/schemas/"


def of_routes(routes: Iterable[Route], more: Iterable[type[View]] = ()) -> dict[str, Schema]:
    """By name: what the routes take and answer, and `more`."""
    requests = dict.fromkeys(route.body for route in routes if route.body is not None)
    types = [*requests, *dict.fromkeys(route.answer for route in routes), *more]
    _, found = msgspec.json.schema_components(types, ref_template=REF + "{name}")
    by_name = {name_of(kind): kind for kind in requests}
    made = {
        _plain(name): _finished(schema, by_name.get(_plain(name))) for name, schema in found.items()
    }
    forms = {form_name(body): _form(made[name_of(body)]) for body in requests if body.takes_form}
    for name, schema in made.items():
        _with_ids(name, schema)
    return {**made, **forms}


def form_name(body: type[Body]) -> str:
    """The same body as `multipart/form-data`."""
    return f"{name_of(body)}Form"


def _form(schema: Schema) -> Schema:
    """A form has no null, and its logo is a file."""
    fields = {name: _never_null(field) for name, field in schema["properties"].items()}
    fields["logo"] = {
        "type": "string",
        "format": "binary",
        "description": "PNG or JPEG under 1 MB, as a file.",
    }
    return {**schema, "properties": fields}


def _never_null(schema: Schema) -> Schema:
    kinds = schema.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        schema = schema | {"type": next(kind for kind in kinds if kind != "null")}
    if None in schema.get("enum", ()):
        schema = schema | {"enum": [each for each in schema["enum"] if each is not None]}
    return schema


def _with_ids(name: str, schema: Schema) -> None:
    """Gives each UUID the example of what it names."""
    for field, found in schema["properties"].items():
        example = openapi_examples.id_in_schema(name, field)
        if example is not None and found.get("format") == "uuid":
            found["examples"] = [example]


def name_of(kind: type[msgspec.Struct] | type[Body]) -> str:
    return _plain(kind.__name__)


def _plain(name: str) -> str:
    """The name of a class in a generated client: `CampaignView` is `Campaign`, and `OneCampaign`,
    which has nothing but a campaign, is `CampaignResponse`."""
    name = re.sub(r"(?<=.)View(?=V\d+$|$)", "", name)
    return re.sub(r"^One([A-Z]\w*?)(V\d+)?$", r"\1Response\2", name)


def _finished(schema: Schema, body: type[Body] | None) -> Schema:
    """The schema of a type as callers see it. Of a request's `body`, the required fields come
    first."""
    done = {
        key: value
        for key, value in schema.items()
        if key not in ("title", "properties", "required")
    }
    if "description" in done:
        done["description"] = re.sub(r"\s+", " ", done["description"])
    fields = {field: _simple(raw) for field, raw in schema.get("properties", {}).items()}
    if body is None:
        done["properties"] = {field: _received(schema) for field, schema in fields.items()}
        needed = list(schema.get("required", ()))
    else:
        needed = list(body.required)
        names = [*needed, *(field for field in fields if field not in needed)]
        done["properties"] = {field: _sent(fields[field], field, body) for field in names}
    if needed:
        done["required"] = needed
    return done


def _simple(schema: Schema) -> Schema:
    """msgspec's schema, simplified: nullable types as a list, amounts as numbers, our names in
    references."""
    done = dict(schema)
    if "$ref" in done:
        done["$ref"] = REF + _plain(done["$ref"].removeprefix(REF))
    if done.get("default", "") is None:
        del done["default"]
    if done.get("format") == "decimal":
        done |= {"type": "number", "minimum": 0}
        del done["format"]
    # msgspec writes `type` and `items` itself, so what is said instead, or about each item, has
    # another name until here.
    if "typed" in done:
        done["type"] = done.pop("typed")
    if "each" in done:
        done["items"] = {**done["items"], **done.pop("each")}
    for key in ("items", "additionalProperties"):
        if isinstance(done.get(key), dict):
            done[key] = _simple(done[key])
    if "anyOf" in done:
        options = [_simple(option) for option in done.pop("anyOf")]
        kinds = [option for option in options if option != {"type": "null"}]
        if len(kinds) == 1 and isinstance(kinds[0].get("type"), str):
            is_nullable = len(kinds) < len(options)
            kind = [kinds[0]["type"], "null"] if is_nullable else kinds[0]["type"]
            # What is said about the whole field replaces what its type says.
            done = {**kinds[0], "type": kind, **done}
        else:
            done["anyOf"] = options
    if "enum" in done and "null" in done.get("type", ()):
        done["enum"] = [*done["enum"], None]
    return done


def _received(schema: Schema) -> Schema:
    """Only requests have limits on the length of a text."""
    return {key: value for key, value in schema.items() if key != "maxLength"}


def _sent(schema: Schema, field: str, body: type[Body]) -> Schema:
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    # On create, null is the same as absent, so a required field cannot be null.
    if field in body.required:
        schema = _never_null(schema)
    elif body.drops_nulls and "null" not in kinds:
        schema = schema | {"type": [*kinds, "null"]}
        if "enum" in schema:
            schema = schema | {"enum": [*schema["enum"], None]}
    # Null says in answers that a field does not go with the others.
    if schema.get("examples") == [None] and "null" not in schema.get("type", ()):
        schema = {key: value for key, value in schema.items() if key != "examples"}
    if "string" in kinds and not {"maxLength", "enum", "format"} & schema.keys():
        schema = schema | {"maxLength": checks.STRING_LIMIT}
    return schema
