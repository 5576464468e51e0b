"""The API reference, rendered from the OpenAPI document once: where to start, and a page for each
resource."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from honeyguide.events import webhooks
from honeyguide.kernel.paging import Page
from honeyguide.kernel.public import EXAMPLE_IDS
from honeyguide.pages import rendering
from honeyguide.pages.reference_samples import CodeSample, SampleRequest, samples
from honeyguide.partners import network, payouts, program_partners, programs, publications
from honeyguide.partners.network import NetworkQuery
from honeyguide.rewards import earned_rewards, rewards
from honeyguide.signups import paid_referrals
from honeyguide.store.reading import AccountReading, Reading
from honeyguide.subscribers import link_hosts, subscribers

Schema = dict[str, Any]

# An example request has the required fields and this many optional ones.
_TASTE = 2
_DEEPEST = 4
_TYPE_NAMES = {"string": "string", "integer": "integer", "boolean": "boolean", "null": "null"}
_FORMATS = {"uuid": "uuid", "date-time": "timestamp", "uri": "URL", "email": "email address"}


@dataclass(frozen=True)
class Row:
    """A parameter or field: its name, type and description."""

    name: str
    kind: str
    description: str
    is_required: bool
    where: str = ""
    above: str = ""  # the objects it is nested in, as in `meta.`


@dataclass(frozen=True)
class Operation:
    id: str
    method: str
    path: str
    summary: str
    detail: str
    parameters: list[Row]
    body: list[Row]
    request: list[CodeSample]
    status: str
    answer: str
    fields: list[Row]
    errors: list[tuple[str, str]]


@dataclass
class Collection:
    """Operations under one path, which have a page."""

    path: str
    slug: str
    operations: list[Operation] = field(default_factory=list)


@dataclass
class Group:
    name: str
    description: str
    collections: list[Collection]


_NEWEST = Page(1, 1)


# A page has at most this many operations, unless one part of a resource has more.
_MOST_ON_A_PAGE = 8


def render(document: dict[str, Any]) -> dict[str, str]:
    """The pages by the last part of their address, which is empty for the first one."""
    groups = SchemaReader(document).groups()
    invalid = document["components"]["responses"]["Invalid"]
    values = {
        "groups": groups,
        "base_url": document["servers"][0]["url"],
        "version": document["info"]["version"],
        "error": rendering.json_lines(invalid["content"]["application/json"]["example"]),
    }
    pages = {"": rendering.page("reference_start.html", slug="", **values)}
    for group in groups:
        for collection in group.collections:
            pages[collection.slug] = rendering.page(
                "reference_resource.html",
                slug=collection.slug,
                group=group,
                collection=collection,
                **values,
            )
    return pages


class SchemaReader:
    """Turns an OpenAPI document into what the page shows."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._base_url: str = document["servers"][0]["url"]

    def groups(self) -> list[Group]:
        return [
            Group(tag["name"], tag.get("description", ""), self._collections(tag["name"]))
            for tag in self._document["tags"]
        ]

    def _collections(self, tag: str) -> list[Collection]:
        found: dict[str, Collection] = {}
        for path, methods in self._document["paths"].items():
            operations = [
                self._operation(m, path, operation)
                for m, operation in methods.items()
                if tag in operation["tags"]
            ]
            if operations:
                above = next((other for other in found if path.startswith(f"{other}/")), path)
                found.setdefault(above, Collection(above, _slug(above))).operations.extend(
                    operations
                )
        return [page for collection in found.values() for page in _cut(collection)]

    def _operation(self, method: str, path: str, operation: dict[str, Any]) -> Operation:
        body = (
            operation.get("requestBody", {})
            .get("content", {})
            .get("application/json", {})
            .get("schema")
        )
        if body and not self._resolved(body).get("properties"):
            body = None
        status = next(status for status in operation["responses"] if status.startswith("2"))
        content = operation["responses"][status]["content"]["application/json"]
        answer = content["schema"]
        return Operation(
            id=operation["operationId"],
            method=method.upper(),
            path=path,
            summary=operation["summary"],
            detail=operation.get("description", ""),
            parameters=[self._parameter(each) for each in operation.get("parameters", ())],
            body=list(self._rows(body)) if body else [],
            request=samples(self.request(method.upper(), path, operation)),
            status=status,
            answer=rendering.json_lines(content.get("example") or self.example(answer)),
            fields=list(self._rows(answer)),
            errors=[
                (code, self._resolved(each)["description"])
                for code, each in operation["responses"].items()
                if code >= "400"
            ],
        )

    def _parameter(self, parameter: Schema) -> Row:
        kind, description = self._kind(parameter["schema"]), parameter.get("description", "")
        return Row(
            parameter["name"],
            kind,
            _with_limits(description, parameter["schema"]),
            parameter.get("required", False),
            parameter["in"],
        )

    def request(self, method: str, path: str, operation: dict[str, Any]) -> SampleRequest:
        """The sample request, which is also accepted if the UUIDs in it exist."""
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", parameter.get("example", "…"))
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        named = [each["value"] for each in content.get("examples", {}).values()]
        body = named[0] if named else content.get("example")
        if body and not named:
            required = self._resolved(content["schema"]).get("required", ())
            optional = [name for name in body if name not in required][:_TASTE]
            body = {name: body[name] for name in body if name in required or name in optional}
        return SampleRequest(method, self._base_url + path, body)

    def _resolved(self, node: Schema) -> Schema:
        if "$ref" not in node:
            return node
        target: Any = self._document
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return {**target, **{key: value for key, value in node.items() if key != "$ref"}}

    def _not_null(self, schema: Schema) -> Schema:
        """The schema of a value that is not null."""
        options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
        return self._resolved(options[0] if options else schema)

    def example(self, schema: Schema, optional: int = 0) -> Any:
        """An example value with all required fields and up to `optional` of the others."""
        if schema.get("examples"):
            return schema["examples"][0]
        schema = self._not_null(schema)
        if "properties" in schema:
            required = schema.get("required", ())
            rest = [name for name in schema["properties"] if name not in required][:optional]
            shown = [name for name in schema["properties"] if name in required or name in rest]
            return {name: self.example(schema["properties"][name]) for name in shown}
        if "items" in schema:
            return [self.example(schema["items"])]
        for key in ("examples", "enum"):
            if schema.get(key):
                return schema[key][0]
        kinds = _types(schema)
        return schema.get(
            "default",
            {"boolean": True, "integer": 1, "number": 2.5, "object": {}}.get(kinds[0], "text"),
        )

    def _kind(self, schema: Schema) -> str:
        may_be_null = "null" in _types(schema) or {"type": "null"} in schema.get("anyOf", ())
        schema = self._not_null(schema)
        if "items" in schema:
            inner = self._kind(schema["items"])
            kind = "list" if inner == "object" else f"list of {inner}"
        elif schema.get("format") in _FORMATS:
            kind = _FORMATS[schema["format"]]
        else:
            kind = " or ".join(
                _TYPE_NAMES.get(each, each) for each in _types(schema) if each != "null"
            )
        if may_be_null:
            kind += " or null"
        return (
            f"{kind}, up to {schema['maxLength']:,} characters" if "maxLength" in schema else kind
        )

    def _rows(self, schema: Schema, above: str = "", depth: int = 0) -> Iterator[Row]:
        schema = self._not_null(schema)
        for name, inner_schema in schema.get("properties", {}).items():
            description = _with_limits(inner_schema.get("description", ""), inner_schema)
            yield Row(
                name,
                self._kind(inner_schema),
                description,
                name in schema.get("required", ()),
                above=above,
            )
            inner = self._not_null(inner_schema)
            if depth < _DEEPEST:
                yield from self._rows(
                    inner.get("items", inner),
                    f"{above}{name}{'[]' if 'items' in inner else ''}.",
                    depth + 1,
                )


def _slug(path: str) -> str:
    """As in `v1-subscribers`."""
    named = [part for part in path.split("/") if part and not part.startswith("{")]
    return "-".join(named).replace("v1-campaigns-", "v1-")


def _cut(collection: Collection) -> Iterator[Collection]:
    """As it is, or in pages that do not part what belongs to the same part of the resource."""
    page = collection
    if len(collection.operations) > _MOST_ON_A_PAGE:
        page = Collection(collection.path, collection.slug)
        parts = groupby(collection.operations, lambda each: _part(collection, each))
        for name, together in parts:
            operations = list(together)
            if len(page.operations) + len(operations) > _MOST_ON_A_PAGE and page.operations:
                yield page
                page = Collection(f"{collection.path}/{{uuid}}/…", f"{collection.slug}-{name}")
            page.operations.extend(operations)
    yield page


def _part(collection: Collection, operation: Operation) -> str:
    """Of its resource: as in `/v2/webhooks/{uuid}/secret`, and empty for the resource itself."""
    below = operation.path.removeprefix(collection.path).split("/")
    return below[2] if len(below) > 2 else ""


def _types(schema: Schema) -> list[str]:
    kinds = schema.get("type", "any")
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _with_limits(description: str, schema: Schema) -> str:
    return " ".join(part for part in (description, *_limits(schema)) if part)


def _limits(schema: Schema) -> Iterable[str]:
    least, most = schema.get("minItems"), schema.get("maxItems")
    if most is not None:
        yield f"{least} to {most:,} of them." if least else f"Up to {most:,} of them."
    if "items" in schema:
        yield from _limits(schema["items"])
    if choices := [choice for choice in schema.get("enum", ()) if choice is not None]:
        named = [f"`{choice}`" for choice in choices]
        yield f"Only {named[0]}." if len(named) == 1 else f"One of {', '.join(named)}."
    if "default" in schema:
        yield f"Default `{rendering.json_lines(schema['default'])}`.".replace('"', "")


def with_ids(html: str, ids: dict[str, str]) -> str:
    """The page with these UUIDs instead of the examples."""
    for thing, own in ids.items():
        html = html.replace(EXAMPLE_IDS[thing], own)
    return html


def with_link_to_keys(html: str) -> str:
    """For whoever may open that page."""
    return html.replace("<b data-keys>API keys</b>", '<a href="/account/keys">API keys</a>')


async def own_ids(at: Reading) -> dict[str, str]:
    """One of everything that the account has, the newest where there are many."""
    found: dict[str, str | None] = {"campaign": at.tenant.campaign_id}
    people, _ = await subscribers.page_of(at, "advocates", _NEWEST)
    if not people:
        people, _ = await subscribers.page_of(at, "all", _NEWEST)
    for person in people:
        found["subscriber"] = person.id
        earned, _ = await earned_rewards.some_earned_by(at, person.id)
        found["earned_reward"] = next((each.id for each in earned), None)
    found["reward"] = next((each.id for each in await rewards.of_campaign(at)), None)
    found["link_host"] = next((each.id for each in await link_hosts.of_account(at)), None)
    for thing, scope in (("webhook", at.tenant.campaign_id), ("webhook_v2", "")):
        hooks = await webhooks.of_account(at, scope)
        found[thing] = next((each.id for each in hooks), None)
    return {
        thing: own for thing, own in (found | await _partner_ids(at)).items() if own is not None
    }


async def _partner_ids(at: AccountReading) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    published, _ = await publications.page_of(at, _NEWEST)
    found["publication"] = next((each.id for each in published), None)
    offered, _ = await programs.page_of(at, _NEWEST)
    for program in offered:
        found["partner_program"] = program.id
        partners, _ = await program_partners.page_of(at.tx, program, _NEWEST)
        found["program_partner"] = next((each.id for each in partners), None)
        referred, _ = await paid_referrals.page_of_program(at, program.id, _NEWEST)
        found["partner_referral"] = next((each.id for each in referred), None)
    listed, _ = await network.page_of(at, NetworkQuery(), _NEWEST)
    found["network_program"] = next((each.id for each in listed), None)
    joined, _ = await network.page_of_partner_campaigns(at, _NEWEST)
    found["partner_campaign"] = next((each.id for each in joined), None)
    owed, _ = await payouts.page_of(at, _NEWEST)
    found["payout"] = next((each.id for each in owed), None)
    return found
