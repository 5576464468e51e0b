"""The OpenAPI 3.1 document, built from the routes and types that serve requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import honeyguide
from honeyguide.accounts import idempotency
from honeyguide.accounts.permissions import SCOPES, Right, scope_of
from honeyguide.api import openapi_examples, openapi_schemas
from honeyguide.api.call import Route
from honeyguide.api.decoding import Body
from honeyguide.api.event_views import PAYLOADS
from honeyguide.api.openapi_schemas import REF, form_name, name_of
from honeyguide.api.openapi_text import ERROR, ERRORS, HEADERS, QUERY, TAGS, Schema
from honeyguide.api.webhook_views import MoreEvents, WebhookEventsV2
from honeyguide.events import outbox, samples

ABOUT = (
    "Newsletter referral and partner programs. "
    "Every request needs an API key; every response is JSON."
)
_KEY = "Your API key, from the page API keys. It starts with `hg_`."
_LICENSE = {"name": "MIT", "identifier": "MIT"}
_ON_EVERY_ANSWER = ("X-Request-Id",)
_ON_AUTHENTICATED = (
    *_ON_EVERY_ANSWER,
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
)
_EVENT_HEADERS = {
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
_EVENT_ANSWERS = {
    "2XX": "You have the event. Answer within 15 seconds.",
    "410": "Disables the webhook at once.",
    "default": "Anything else is a failure, and the event is sent again later.",
}
_TEST_EVENT = "Sent when you ask for a test event, whatever the webhook's events."


def document(routes: tuple[Route, ...], base_url: str) -> dict[str, Any]:
    events = dict.fromkeys(kind for kinds in PAYLOADS.values() for kind in kinds)
    schemas = openapi_schemas.of_routes(routes, events)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, routes, schemas)
    tags = dict.fromkeys(route.tag for route in routes)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Honeyguide API",
            "version": honeyguide.__version__,
            "summary": ABOUT,
            "contact": {"name": "Honeyguide", "url": honeyguide.ISSUES_URL},
            "license": _LICENSE,
        },
        "externalDocs": {"description": "Guides", "url": honeyguide.DOCUMENTS_URL},
        "servers": [{"url": base_url}],
        "security": [{"ApiKey": []}],
        "tags": [{"name": tag, "description": TAGS[tag]} for tag in tags],
        "paths": paths,
        "webhooks": _webhooks(),
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
                name: {"description": description, "schema": schema}
                for name, (description, schema) in HEADERS.items()
            },
            "responses": {
                name: _error(
                    description, code, sentence.format(base_url=base_url, scope=Right.SUBSCRIBERS)
                )
                for _, name, description, code, sentence in ERRORS
            },
            "schemas": {"Error": ERROR, **schemas},
        },
    }


def _operation(
    route: Route, routes: tuple[Route, ...], schemas: dict[str, Schema]
) -> dict[str, Any]:
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
        operation["requestBody"] = {
            "required": bool(route.body.required),
            "content": _content(route, route.body, schemas),
        }
    operation["responses"] = _responses(route, routes, schemas)
    return operation


def _content(route: Route, body: type[Body], schemas: dict[str, Schema]) -> dict[str, Any]:
    schema = schemas[name_of(body)]
    as_json: Schema = {"schema": {"$ref": REF + name_of(body)}}
    if body.samples:
        as_json["examples"] = {name: {"value": value} for name, value in body.samples.items()}
    elif example := openapi_examples.of_body(schema):
        as_json["example"] = example
    content = {"application/json": as_json}
    if body.takes_form:
        content["multipart/form-data"] = {
            "schema": {"$ref": REF + form_name(body)},
            "encoding": {"logo": {"contentType": "image/png, image/jpeg"}},
        }
    return content


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
        description = f"UUID of the {_one(before)}."
        if before == "subscribers":
            schema, description = (
                {"type": "string", "minLength": 1},
                "UUID or email address of the subscriber.",
            )
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "description": description,
            "schema": schema,
            "example": openapi_examples.id_in_path(route.path, name),
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


def _responses(
    route: Route, routes: tuple[Route, ...], schemas: dict[str, Schema]
) -> dict[str, Any]:
    headers = [*_ON_AUTHENTICATED]
    if "page" in route.query:
        headers.append("Link")
    if route.method == "POST":
        headers.append("Idempotent-Replayed")
    success: dict[str, Any] = {
        "description": "Created." if route.status == 201 else "Done." if route.writes else "OK.",
        "headers": _headers(headers),
        "content": {
            "application/json": {"schema": {"$ref": REF + name_of(route.answer)}, **_example(route)}
        },
    }
    if links := openapi_examples.links(route, routes):
        success["links"] = links
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
    """`partner_programs` as "partner program"."""
    return openapi_examples.singular(things).replace("_", " ")


def _possible_errors(route: Route, schemas: dict[str, Schema]) -> set[int]:
    possible = {400, 401, 403, 429, 500}
    sent = schemas[name_of(route.body)]["properties"] if route.body is not None else {}
    if "{" in route.path or any(field.get("format") == "uuid" for field in sent.values()):
        possible.add(404)
    if route.writes:
        possible |= {408, 413}
    if route.body is not None:
        possible.add(415)
    if route.method == "POST":
        possible |= {409, 422}
    return possible


def _error(description: str, code: str, sentence: str) -> dict[str, Any]:
    headers = _ON_EVERY_ANSWER if code in ("unauthorized", "overloaded") else _ON_AUTHENTICATED
    blamed = {"param": "email"} if code == "invalid_email" else {}
    example = {"error": sentence, "code": code, **blamed, "request_id": "5f0c2a9e41-3e9"}
    return {
        "description": description,
        "headers": _headers(
            [*headers, *(["Retry-After"] if code in ("rate_limited", "overloaded") else [])]
        ),
        "content": {"application/json": {"schema": {"$ref": f"{REF}Error"}, "example": example}},
    }


def _headers(names: Iterable[str]) -> dict[str, Schema]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _webhooks() -> dict[str, Any]:
    """Every event that a receiver can get, by type."""
    schemas = openapi_schemas.of_routes((), [WebhookEventsV2, MoreEvents])
    flags = {
        **schemas["WebhookEventsV2"]["properties"],
        **schemas["MoreEvents"]["properties"],
        outbox.TEST: {"description": _TEST_EVENT},
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
            for name, (text, schema) in _EVENT_HEADERS.items()
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
            status: {"description": description} for status, description in _EVENT_ANSWERS.items()
        },
    }
