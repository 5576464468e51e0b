"""The OpenAPI 3.1 document, built from the same routes and types that serve requests, so the two cannot differ."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

import honeyguide
from honeyguide.accounts import idempotency
from honeyguide.accounts.admission import NO_KEY
from honeyguide.api import glossary
from honeyguide.api.bodies import Body
from honeyguide.api.call import Route
from honeyguide.kernel import checks, money

Schema = dict[str, Any]

ABOUT = "Newsletter referral and partner programs. Every request needs an API key; every response is JSON."
_KEY = "Your API key, from your account page. It starts with `hg_`."
_LICENSE = {"name": "MIT", "identifier": "MIT"}
_REF = "#/components/schemas/"
_VERSION = re.compile(r"v\d+").fullmatch
# Path prefixes that are skipped when a route is assigned to a group.
_PREFIXES = ("campaigns/{campaign_uuid}/", "partner_profile/")

# Status, name of the shared response, its meaning, and an example of `code` and `error`; {base_url} is filled in.
ERRORS: tuple[tuple[int, str, str, str, str], ...] = (
    (
        400,
        "Invalid",
        "The request is invalid. `param` names the field or parameter that caused it.",
        "invalid_email",
        "Email is invalid",
    ),
    (401, "Unauthorized", "The API key is missing, invalid or revoked.", "unauthorized", NO_KEY),
    (
        404,
        "Missing",
        "It does not exist or belongs to another account.",
        "not_found",
        "There is no such subscriber.",
    ),
    (
        408,
        "Slow",
        "The body took too long to arrive.",
        "timeout",
        "The body took too long to arrive.",
    ),
    (
        409,
        "Busy",
        "A request with the same Idempotency-Key is still running.",
        "conflict",
        "A request with this Idempotency-Key is still running; try again in a moment.",
    ),
    (
        413,
        "TooLarge",
        "The body is larger than 2 MB.",
        "too_large",
        "The body is larger than 2 MB.",
    ),
    (
        415,
        "NotJson",
        "The body is not JSON.",
        "unsupported_media_type",
        "Send the body as JSON with Content-Type: application/json; charset=utf-8.",
    ),
    (
        422,
        "Reused",
        "The Idempotency-Key was already used for a different request.",
        "idempotency_key_reused",
        "This Idempotency-Key was used for another request; use a new key for a new request.",
    ),
    (
        429,
        "TooMany",
        "Too many requests. Wait for the number of seconds in `Retry-After`.",
        "rate_limited",
        "You have made 60 requests in the last 60 seconds; wait 12 s.",
    ),
    (
        500,
        "ServerError",
        "An error on the server. `overloaded` (too many requests at once) and `unavailable` (the database is locked, full or "
        "down) are temporary: retry after `Retry-After` seconds. `internal_error` is a bug: report it with the request ID.",
        "overloaded",
        "The service is overloaded; try again in a moment.",
    ),
)

HEADERS: dict[str, tuple[str, Schema]] = {
    "X-Request-Id": (
        "Identifies this request in the server's log. If you send this header, your value is used.",
        {"type": "string"},
    ),
    "X-RateLimit-Limit": ("Requests allowed in 60 seconds.", {"type": "integer"}),
    "X-RateLimit-Remaining": ("Requests left in the current 60 seconds.", {"type": "integer"}),
    "X-RateLimit-Reset": (
        "When the oldest request leaves the 60-second window, in Unix seconds.",
        {"type": "integer"},
    ),
    "Retry-After": ("Seconds to wait.", {"type": "integer", "minimum": 1}),
    "Link": (
        "URLs of the first, previous, next and last page (RFC 8288), where they exist.",
        {"type": "string"},
    ),
    "Idempotent-Replayed": (
        "`true` when this is the stored response to an earlier request.",
        {"type": "string"},
    ),
}
_ON_EVERY_ANSWER = ("X-Request-Id",)
_ON_AUTHENTICATED = (
    *_ON_EVERY_ANSWER,
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
)

ERROR: Schema = {
    "type": "object",
    "description": "Every error has this form.",
    "properties": {
        "error": {"type": "string", "description": "What is wrong, in one sentence."},
        "code": {"type": "string", "description": "A stable error code. Use this in your program."},
        "param": {
            "type": "string",
            "description": "The field or parameter that caused the error, if there is one.",
        },
        "request_id": {"type": "string", "description": "Quote this when you ask about the error."},
    },
    "required": ["error", "code", "request_id"],
}


def document(routes: tuple[Route, ...], base_url: str) -> dict[str, Any]:
    schemas = _schemas(routes)
    ids = _operation_ids(routes)
    paths: dict[str, dict[str, Any]] = {}
    for route, operation_id in zip(routes, ids, strict=True):
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(
            route, operation_id, schemas
        )
    tags = dict.fromkeys(map(tag_of, routes))
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
        "tags": [
            {"name": tag} | ({"description": glossary.TAGS[tag]} if tag in glossary.TAGS else {})
            for tag in tags
        ],
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
                name: _error(words, code, sentence.format(base_url=base_url))
                for _, name, words, code, sentence in ERRORS
            },
            "schemas": {"Error": ERROR, **schemas},
        },
    }


def tag_of(route: Route) -> str:
    """The group a route belongs to: its own tag, or the resource in its path."""
    if route.tag:
        return route.tag
    rest = route.path.split("/", 2)[2]
    for prefix in _PREFIXES:
        rest = rest.removeprefix(prefix)
    return rest.split("/")[0].replace("_", " ").capitalize()


def _operation_ids(routes: Iterable[Route]) -> list[str]:
    """Version, module (unless it is the version's own) and function. If two routes would share a name, the later one also gets
    the first part of its path."""
    ids: dict[str, None] = {}
    for route in routes:
        version, first = route.segments[0], route.segments[1]
        module = route.endpoint.__module__.rsplit(".", 1)[-1]
        name = "_".join(
            [
                version,
                *([] if _VERSION(module) else [module]),
                getattr(route.endpoint, "__name__", "call"),
            ]
        )
        if name in ids:
            name += (
                "_of_account"
                if first in name or first.removesuffix("s") in name
                else f"_of_{first}"
            )
        if name in ids:
            name = "_".join(
                [name, *(segment for segment in route.segments[1:] if not segment.startswith("{"))]
            )
        ids[name] = None
    return list(ids)


def _operation(route: Route, operation_id: str, schemas: dict[str, Schema]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": operation_id,
        "tags": [tag_of(route)],
        "summary": route.summary,
    }
    if route.detail:
        operation["description"] = route.detail
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


def _path_parameters(route: Route) -> Iterable[Schema]:
    for before, segment in zip(route.segments, route.segments[1:], strict=False):
        if not segment.startswith("{"):
            continue
        name = segment[1:-1]
        schema: Schema = {"type": "string", "format": "uuid"}
        words, example = (
            f"UUID of the {_one(before)}.",
            glossary.CAMPAIGN if name == "campaign_uuid" else glossary.PERSON,
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
    return ({"name": name, "in": "query", **glossary.QUERY[name]} for name in route.query)


def _header_parameters(route: Route) -> Iterable[Schema]:
    if route.method == "POST":
        yield {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "Any text, unique to this request. Sent again within 24 hours, it returns the first response.",
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
    possible = {400, 401, 429, 500}
    sent = schemas[_name(route.body)]["properties"] if route.body is not None else {}
    if "{" in route.path or any(field.endswith("_uuid") for field in sent):
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
    required = {_name(kind): kind.required for kind in requests}
    return {
        _plain(name): _finished(_plain(name), schema, required.get(_plain(name)))
        for name, schema in found.items()
    }


def _name(kind: type[msgspec.Struct] | type[Body]) -> str:
    return _plain(kind.__name__)


def _plain(name: str) -> str:
    """Drop "View": a generated client class should be called `Campaign`, not `CampaignView`."""
    return re.sub(r"(?<=.)View(?=V\d+$|$)", "", name)


def _finished(name: str, schema: Schema, required: tuple[str, ...] | None) -> Schema:
    """A type's schema with our descriptions added. `required` is given for request bodies."""
    done = {
        key: value
        for key, value in schema.items()
        if key not in ("title", "properties", "required")
    }
    if "description" in done:
        done["description"] = re.sub(r"\s+", " ", done["description"])
    properties = {}
    for field, raw in schema.get("properties", {}).items():
        words = glossary.of_field(name, field)
        if required is None:
            words.pop("maxLength", None)
        properties[field] = _described(
            _simple(raw), words, is_sent=required is not None, is_needed=field in (required or ())
        )
    done["properties"] = properties
    if needed := list(schema.get("required", ()) if required is None else required):
        done["required"] = needed
    return done


def _simple(schema: Schema) -> Schema:
    """msgspec's schema, simplified: nullable types as a list, amounts as numbers, our names in references."""
    done = dict(schema)
    if "$ref" in done:
        done["$ref"] = _REF + _plain(done["$ref"].removeprefix(_REF))
    if done.get("default", "") is None:
        del done["default"]
    if done.get("format") == "decimal":
        done |= {"type": "number", "minimum": 0, "maximum": money.MOST_CENTS // 100}
        del done["format"]
    for key in ("items", "additionalProperties"):
        if isinstance(done.get(key), dict):
            done[key] = _simple(done[key])
    if "anyOf" in done:
        options = [_simple(option) for option in done.pop("anyOf")]
        kinds = [option for option in options if option != {"type": "null"}]
        is_nullable = len(kinds) < len(options)
        # An amount is decoded as an int or a Decimal; for callers both are numbers.
        if any(kind.get("type") == "number" for kind in kinds):
            kinds = [kind for kind in kinds if kind.get("type") != "integer"]
        if len(kinds) == 1 and isinstance(kinds[0].get("type"), str):
            done |= kinds[0] | ({"type": [kinds[0]["type"], "null"]} if is_nullable else {})
        else:
            done["anyOf"] = options
    return done


def _described(schema: Schema, words: Schema, *, is_sent: bool, is_needed: bool) -> Schema:
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    # On create, null is the same as absent, so a required field cannot be null.
    if is_needed and "null" in kinds:
        kinds = [kind for kind in kinds if kind != "null"]
        schema = schema | {"type": kinds[0]}
    words = {
        key: value
        for key, value in words.items()
        if key == "description" or _fits(key, value, kinds)
    }
    if is_sent and "string" in kinds and not {"maxLength", "enum", "format"} & {*words, *schema}:
        words["maxLength"] = checks.STRING_LIMIT
    if "enum" in words and "null" in kinds:
        words["enum"] = [*words["enum"], None]
    return schema | words


_KEYWORD_KINDS = {
    "maxLength": "string",
    "format": "string",
    "enum": "string",
    "minimum": "number",
    "maximum": "number",
}
_EXAMPLE_KINDS: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    list: "array",
}


def _fits(keyword: str, value: Any, kinds: list[str]) -> bool:
    """The glossary is keyed by field name; skip keywords that do not fit this field's type."""
    kind = (
        _EXAMPLE_KINDS.get(type(value[0])) if keyword == "examples" else _KEYWORD_KINDS.get(keyword)
    )
    return kind is None or kind in ["number" if each == "integer" else each for each in kinds]
