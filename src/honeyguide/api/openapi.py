"""The OpenAPI 3.1 document, built from the routes and types that serve requests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

import honeyguide
from honeyguide.accounts import idempotency
from honeyguide.accounts.permissions import SCOPES, Right, scope_of
from honeyguide.api.call import Route
from honeyguide.api.decoding import Body
from honeyguide.api.openapi_text import ERROR, ERRORS, HEADERS, QUERY, TAGS, Schema
from honeyguide.kernel import checks, public

ABOUT = (
    "Newsletter referral and partner programs. "
    "Every request needs an API key; every response is JSON."
)
_KEY = "Your API key, from the page API keys. It starts with `hg_`."
_LICENSE = {"name": "MIT", "identifier": "MIT"}
_REF = "#/components/schemas/"
_ON_EVERY_ANSWER = ("X-Request-Id",)
_ON_AUTHENTICATED = (
    *_ON_EVERY_ANSWER,
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
)


def document(routes: tuple[Route, ...], base_url: str) -> dict[str, Any]:
    schemas = _schemas(routes)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    tags = dict.fromkeys(route.tag for route in routes)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Honeyguide API",
            "version": honeyguide.__version__,
            "summary": ABOUT,
            "license": _LICENSE,
        },
        "servers": [{"url": base_url}],
        "security": [{"ApiKey": []}],
        "tags": [{"name": tag, "description": TAGS[tag]} for tag in tags],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "ApiKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-Api-Key",
                    "description": _KEY,
                }
            },
            "headers": {
                name: {"description": words, "schema": schema}
                for name, (words, schema) in HEADERS.items()
            },
            "responses": {
                name: _error(
                    words, code, sentence.format(base_url=base_url, scope=Right.SUBSCRIBERS)
                )
                for _, name, words, code, sentence in ERRORS
            },
            "schemas": {"Error": ERROR, **schemas},
        },
    }


def _operation(route: Route, schemas: dict[str, Schema]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.operation_id,
        "tags": [route.tag],
        "summary": route.summary,
    }
    operation["description"] = f"{route.detail} {_scope_sentence(route)}".lstrip()
    operation["x-required-scope"] = scope_of(route.right)
    if parameters := [
        *_path_parameters(route),
        *_query_parameters(route),
        *_header_parameters(route),
    ]:
        operation["parameters"] = parameters
    if route.body is not None:
        content = {"application/json": {"schema": {"$ref": _REF + _name(route.body)}}}
        operation["requestBody"] = {"required": bool(route.body.required), "content": content}
    operation["responses"] = _responses(route, schemas)
    return operation


def _scope_sentence(route: Route) -> str:
    if route.right in SCOPES:
        return f"The API key needs the scope `{route.right}`."
    return "The API key needs all scopes."


def _path_parameters(route: Route) -> Iterable[Schema]:
    for before, segment in zip(route.segments, route.segments[1:], strict=False):
        if not segment.startswith("{"):
            continue
        name = segment[1:-1]
        schema: Schema = {"type": "string", "format": "uuid"}
        words, example = (
            f"UUID of the {_one(before)}.",
            public.CAMPAIGN_UUID if name == "campaign_uuid" else public.SUBSCRIBER_UUID,
        )
        if before == "subscribers":
            schema, words = (
                {"type": "string", "minLength": 1},
                "UUID or email address of the subscriber.",
            )
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "description": words,
            "schema": schema,
            "example": example,
        }


def _query_parameters(route: Route) -> Iterable[Schema]:
    return ({"name": name, "in": "query", **QUERY[name]} for name in route.query)


def _header_parameters(route: Route) -> Iterable[Schema]:
    if route.method == "POST":
        yield {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "Any text, unique to this request. Sent again within 24 hours, it "
            "returns the first response.",
            "schema": {
                "type": "string",
                "maxLength": idempotency.LONGEST,
                "pattern": "^[!-~]([ -~]*[!-~])?$",
            },
        }


def _responses(route: Route, schemas: dict[str, Schema]) -> dict[str, Any]:
    headers = [*_ON_AUTHENTICATED]
    if "page" in route.query:
        headers.append("Link")
    if route.method == "POST":
        headers.append("Idempotent-Replayed")
    success = {
        "description": "Created." if route.status == 201 else "Done." if route.writes else "OK.",
        "headers": _headers(headers),
        "content": {
            "application/json": {"schema": {"$ref": _REF + _name(route.answer)}, **_example(route)}
        },
    }
    possible = _possible_errors(route, schemas)
    refused = {
        str(status): {"$ref": f"#/components/responses/{name}"}
        for status, name, *_ in ERRORS
        if status in possible
    }
    known = {"200": success | {"description": "It already existed."}} if route.known else {}
    return {**known, str(route.status): success, **refused}


def _example(route: Route) -> Schema:
    """An example for this route, where one response type is shared by many routes."""
    if route.method != "DELETE" or route.answer.__struct_fields__ != ("message",):
        return {}
    thing = [segment for segment in route.segments if not segment.startswith("{")][-1]
    return {"example": {"message": f"The {_one(thing)} was deleted."}}


def _one(things: str) -> str:
    """`partner_programs` as "partner program", `deliveries` as "delivery"."""
    thing = f"{things.removesuffix('ies')}y" if things.endswith("ies") else things.removesuffix("s")
    return thing.replace("_", " ")


def _possible_errors(route: Route, schemas: dict[str, Schema]) -> set[int]:
    possible = {400, 401, 403, 429, 500}
    sent = schemas[_name(route.body)]["properties"] if route.body is not None else {}
    if "{" in route.path or any(field.get("format") == "uuid" for field in sent.values()):
        possible.add(404)
    if route.writes:
        possible |= {408, 413}
    if route.body is not None:
        possible.add(415)
    if route.method == "POST":
        possible |= {409, 422}
    return possible


def _error(words: str, code: str, sentence: str) -> dict[str, Any]:
    headers = _ON_EVERY_ANSWER if code in ("unauthorized", "overloaded") else _ON_AUTHENTICATED
    blamed = {"param": "email"} if code == "invalid_email" else {}
    example = {"error": sentence, "code": code, **blamed, "request_id": "5f0c2a9e41-3e9"}
    return {
        "description": words,
        "headers": _headers(
            [*headers, *(["Retry-After"] if code in ("rate_limited", "overloaded") else [])]
        ),
        "content": {"application/json": {"schema": {"$ref": f"{_REF}Error"}, "example": example}},
    }


def _headers(names: Iterable[str]) -> dict[str, Schema]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _schemas(routes: Iterable[Route]) -> dict[str, Schema]:
    requests = dict.fromkeys(route.body for route in routes if route.body is not None)
    types = [*requests, *dict.fromkeys(route.answer for route in routes)]
    _, found = msgspec.json.schema_components(types, ref_template=_REF + "{name}")
    by_name = {_name(kind): kind for kind in requests}
    return {
        _plain(name): _finished(schema, by_name.get(_plain(name))) for name, schema in found.items()
    }


def _name(kind: type[msgspec.Struct] | type[Body]) -> str:
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
        done["$ref"] = _REF + _plain(done["$ref"].removeprefix(_REF))
    if done.get("default", "") is None:
        del done["default"]
    if done.get("format") == "decimal":
        done |= {"type": "number", "minimum": 0}
        del done["format"]
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
    if field in body.required and "null" in kinds:
        schema = schema | {"type": next(kind for kind in kinds if kind != "null")}
    if field not in body.required and body.drops_nulls and "null" not in kinds:
        schema = schema | {"type": [*kinds, "null"]}
    if "string" in kinds and not {"maxLength", "enum", "format"} & schema.keys():
        schema = schema | {"maxLength": checks.STRING_LIMIT}
    return schema
