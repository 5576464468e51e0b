"""The OpenAPI document: valid, whole, and true to the table of routes and its types."""

import base64
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any, ClassVar

import jsonschema_rs
import msgspec
import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

from honeyguide.accounts.permissions import Right
from honeyguide.api.call import Call, Known, Listed, Route, of_account, resource
from honeyguide.api.decoding import Body
from honeyguide.api.openapi import document
from honeyguide.api.routes import ROUTES
from honeyguide.api.views import Message, View
from honeyguide.kernel import checks, public
from honeyguide.kernel.public import doc
from honeyguide.partners import logos
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from tests.support.service import Member

BASE = "https://go.example.org"
DOCUMENT = document(ROUTES, BASE)
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
OPERATIONS = [
    (path, method, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]


def within(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for inner in (
        node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    ):
        yield from within(inner)


REGISTRY = jsonschema_rs.Registry([("urn:document", {"components": DOCUMENT["components"]})])


def validator(reference: str) -> Any:
    """The schemas of the document are read once, not for every reference."""
    return jsonschema_rs.Draft202012Validator(
        {"$ref": f"urn:document{reference}"}, registry=REGISTRY, validate_formats=True
    )


def test_the_document_is_valid() -> None:
    OPENAPI_31_VALIDATOR.validate(DOCUMENT)
    for name, schema in SCHEMAS.items():
        assert jsonschema_rs.meta.is_valid(
            {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
        ), name


def test_every_route_is_in_the_document_and_nothing_else_is() -> None:
    assert {(path, method) for path, method, _ in OPERATIONS} == {
        (route.path, route.method.lower()) for route in ROUTES
    }
    assert DOCUMENT["servers"] == [{"url": BASE}]


def test_every_reference_leads_somewhere() -> None:
    references = {node["$ref"] for node in within(DOCUMENT) if "$ref" in node}
    assert references
    for reference in references:
        target = DOCUMENT
        for part in reference.removeprefix("#/").split("/"):
            assert part in target, reference
            target = target[part]


def test_every_schema_is_used() -> None:
    used = {node["$ref"].rsplit("/", 1)[1] for node in within(DOCUMENT) if "$ref" in node}
    assert set(SCHEMAS) <= used


VERBS = {
    *("list", "get", "create", "update", "delete", "add", "remove", "replace", "set", "export"),
    *("verify", "reject", "decide", "check", "approve", "redeem", "choose", "mark", "rotate"),
    *("send", "resend", "replay", "reverse", "join", "leave", "allow", "block", "unblock"),
    *("search", "decline"),
}


def test_operation_ids_are_a_verb_and_a_noun_and_unique() -> None:
    ids = [operation["operationId"] for *_, operation in OPERATIONS]
    assert len(set(ids)) == len(ids)
    for each in ids:
        assert re.fullmatch(r"[a-z]+(?:[A-Z][a-z]+)+(?:V2)?", each), each
        assert re.match(r"[a-z]+", each)[0] in VERBS, each  # type: ignore[index]


def test_v2_is_named_only_where_v1_has_the_same() -> None:
    paths = {operation["operationId"]: path for path, _, operation in OPERATIONS}
    for name, path in paths.items():
        if name.endswith("V2"):
            assert path.startswith("/v2/") and paths[name.removesuffix("V2")].startswith("/v1/")
        assert ("Account" in name) == path.startswith("/v2/subscribers"), name
    twins = {name.removesuffix("V2") for name in SCHEMAS if name.endswith("V2")}
    # The list of referrals in v2 has a subscriber of its own, which v1 does not need.
    assert twins - set(SCHEMAS) == {"ReferredSubscriber", "ReferredSubscriberList"}


def test_an_answer_is_named_after_what_is_in_it() -> None:
    """`RewardResponse` has a `Reward`, `RewardList` has a list of them."""
    for name, schema in SCHEMAS.items():
        fields = schema["properties"]
        if match := re.fullmatch(r"(\w+)Response(V2)?", name):
            (held,) = fields.values()
            assert held["$ref"] == f"#/components/schemas/{match[1]}{match[2] or ''}", name
        lists = [field["items"] for field in fields.values() if "$ref" in field.get("items", {})]
        if match := re.fullmatch(r"(\w+)List(V2)?", name):
            expected = [{"$ref": f"#/components/schemas/{match[1]}{match[2] or ''}"}]
            assert lists == (expected if name != "TagList" else []), name


def test_every_operation_is_described() -> None:
    """Not only by the scope that it needs."""
    assert [route.operation_id for route in ROUTES if not route.detail] == []


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_an_operation_says_what_its_route_does(route: Route) -> None:
    operation = DOCUMENT["paths"][route.path][route.method.lower()]
    by_place = {
        place: {each["name"] for each in operation.get("parameters", ()) if each["in"] == place}
        for place in ("path", "query")
    }
    assert by_place["path"] == set(re.findall(r"\{(\w+)\}", route.path))
    assert by_place["query"] == set(route.query)
    assert ("requestBody" in operation) == (route.body is not None)
    assert operation["tags"][0] in {tag["name"] for tag in DOCUMENT["tags"]}
    statuses = set(operation["responses"])
    assert {str(route.status), "400", "401", "429", "500"} <= statuses
    assert ({"409", "422"} <= statuses) == (route.method == "POST")
    success = operation["responses"][str(route.status)]
    assert "X-RateLimit-Remaining" in success["headers"]
    assert ("Link" in success["headers"]) == ("page" in route.query)


def test_a_body_names_what_it_needs() -> None:
    create = DOCUMENT["paths"]["/v1/campaigns/{campaign_uuid}/subscribers"]["post"]["requestBody"]
    assert create["required"]
    schema = SCHEMAS["SubscriberCreate"]
    assert schema["required"] == ["email"]
    assert schema["properties"]["email"]["type"] == "string"
    assert schema["properties"]["name"]["type"] == ["string", "null"]
    update = DOCUMENT["paths"]["/v1/campaigns/{campaign_uuid}/subscribers/{uuid}"]["put"][
        "requestBody"
    ]
    assert not update["required"]
    assert "required" not in SCHEMAS["SubscriberUpdate"]


def test_every_example_obeys_its_own_schema() -> None:
    for name, schema in SCHEMAS.items():
        for field, found in schema["properties"].items():
            checks = validator(f"#/components/schemas/{name}/properties/{field}")
            for example in found.get("examples", ()):
                assert checks.is_valid(example), (name, field, example)


def test_every_error_has_one_shape() -> None:
    for name, response in DOCUMENT["components"]["responses"].items():
        body = response["content"]["application/json"]
        assert body["schema"] == {"$ref": "#/components/schemas/Error"}
        assert validator("#/components/schemas/Error").is_valid(body["example"]), name
    for name in ("TooMany", "ServerError"):
        assert "Retry-After" in DOCUMENT["components"]["responses"][name]["headers"]


def test_the_document_lists_every_origin_and_the_limits_of_a_holding_period() -> None:
    origins = [
        schema["properties"]["origin"]["enum"]
        for name, schema in SCHEMAS.items()
        if "origin" in schema["properties"] and name != "ReferralCheckInput"
    ]
    expected = ["api", "signup", "magic", "import", "embed", "platform"]
    assert origins and all(each == expected for each in origins)
    asked = SCHEMAS["ReferralCheckInput"]["properties"]["origin"]["enum"]
    assert asked == ["api", "signup", "magic", "embed", None]
    periods = [
        (found["minimum"], found["maximum"])
        for schema in SCHEMAS.values()
        for field, found in schema["properties"].items()
        if field == "referral_pending_duration"
    ]
    assert len(periods) >= 4 and set(periods) == {(0, 365)}


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("PartnerProgramCreate", ["integer", "null"]),
        ("PartnerProgramUpdate", "number"),
        ("PartnerProgram", "integer"),
    ],
)
def test_a_holding_period_is_a_number_on_update_and_an_integer_elsewhere(
    name: str, kinds: str | list[str]
) -> None:
    found = SCHEMAS[name]["properties"]["referral_pending_duration"]
    assert found["type"] == kinds and (kinds != "number" or found["multipleOf"] == 1)


def test_the_document_allows_a_logo_of_the_greatest_size() -> None:
    text = base64.encodebytes(bytes(logos.SIZE_LIMIT)).decode()
    for name in ("PublicationCreate", "PublicationUpdate"):
        logo = SCHEMAS[name]["properties"]["logo"]
        assert len(f"data:image/png;base64,{text}") <= logo["maxLength"]


def test_what_the_document_tells_of_keys_and_the_limit_is_what_happens(alice: Member) -> None:
    base_url = alice.service.settings.base_url
    responses = document(ROUTES, base_url)["components"]["responses"]
    example = responses["Unauthorized"]["content"]["application/json"]["example"]
    assert f"{base_url}/account" in example["error"]
    assert (
        alice.get("/v1/campaigns", headers={"X-Api-Key": "wrong"}).json()["error"]
        == example["error"]
    )
    # One request is free again then, not all of them: tests/accounts/test_rate_limit.py.
    assert (
        "the oldest request leaves"
        in DOCUMENT["components"]["headers"]["X-RateLimit-Reset"]["description"]
    )


def test_every_field_is_described() -> None:
    assert [
        f"{name}.{field}"
        for name, schema in SCHEMAS.items()
        for field, found in schema["properties"].items()
        if not ({"description", "$ref"} & found.keys() or "$ref" in found.get("items", {}))
    ] == []


class Thing(View, frozen=True):
    uuid: public.Uuid
    price: Decimal
    maker: Message | None


class OneThing(View, frozen=True):
    thing: Thing


class ThingCreate(Body, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("cpa",)

    page: str | None = None
    cpa: public.Amount = None
    state: Annotated[str, doc("Old or new.", "old", enum=["old", "new"])] | None = None
    name: Annotated[public.RewardName | None, doc("Whole.", None)] = None
    maker_uuid: public.Uuid | msgspec.UnsetType = msgspec.UNSET


async def make_thing(change: Change, call: Call[ThingCreate]) -> OneThing:
    """Make a thing.

    Of wax, its name up to {checks.STRING_LIMIT}
    letters long.
    """
    raise NotImplementedError


async def list_things(at: Reading, call: Call[None]) -> Listed[OneThing]:
    """List things."""
    raise NotImplementedError


async def add_thing(change: Change, call: Call[None]) -> OneThing | Known:
    """Add a thing."""
    raise NotImplementedError


async def delete_seal(change: Change, call: Call[None]) -> Message:
    """Delete a wax seal."""
    raise NotImplementedError


async def get_subscriber_things(at: Reading, call: Call[None]) -> OneThing:
    """Get a subscriber's things."""
    raise NotImplementedError


async def get_unexplained(at: Reading, call: Call[None]) -> OneThing:
    raise NotImplementedError


row = resource("Rewards")


def made(*routes: Route) -> dict[str, Any]:
    made = document(routes, BASE)
    OPENAPI_31_VALIDATOR.validate(made)
    return made


def test_a_new_kind_of_type_needs_no_change_here() -> None:
    found = made(
        row("POST", "/v2/odd_things", make_thing, Right.REWARDS, status=201),
    )
    schemas = found["components"]["schemas"]
    sent = schemas["ThingCreate"]["properties"]
    assert next(iter(sent)) == "cpa" and schemas["ThingCreate"]["required"] == ["cpa"]
    assert sent["cpa"]["type"] == "number", "a required field cannot be null"
    assert sent["page"] == {"type": ["string", "null"], "maxLength": checks.STRING_LIMIT}
    assert sent["state"]["enum"] == ["old", "new", None]
    assert sent["state"]["description"] == "Old or new."
    assert (sent["name"]["description"], sent["name"]["examples"]) == ("Whole.", [None])
    assert sent["maker_uuid"]["format"] == "uuid"
    shown = schemas["Thing"]["properties"]
    assert shown["price"]["type"] == "number"
    assert shown["maker"]["anyOf"] == [{"$ref": "#/components/schemas/Message"}, {"type": "null"}]
    operation = found["paths"]["/v2/odd_things"]["post"]
    assert operation["x-required-scope"] == "rewards"
    assert operation["summary"] == "Make a thing"
    assert operation["description"] == (
        "Of wax, its name up to 255 letters long. The API key needs the scope `rewards`."
    )
    assert (operation["operationId"], operation["tags"]) == ("makeThing", ["Rewards"])
    assert "404" in operation["responses"], "the body names a thing that may not be there"


def test_a_deletion_says_what_was_deleted() -> None:
    found = made(
        row("DELETE", "/v2/wax_seals/{uuid}", delete_seal, Right.CAMPAIGN),
    )
    operation = found["paths"]["/v2/wax_seals/{uuid}"]["delete"]
    assert (operation["x-required-scope"], "403" in operation["responses"]) == ("all", True)
    assert operation["responses"]["200"]["content"]["application/json"]["example"] == {
        "message": "The wax seal was deleted."
    }


def test_a_row_of_the_table_says_only_what_its_endpoint_does_not() -> None:
    path = "/v2/things"
    added = row("POST", path, add_thing, Right.REWARDS, status=201)
    assert (added.answer, added.known, added.body, added.writes) == (OneThing, True, None, True)
    making = row("POST", path, make_thing, Right.REWARDS)
    assert (making.answer, making.known, making.body) == (OneThing, False, ThingCreate)
    things = row("GET", path, list_things, Right.READ, query=("type",))
    assert (things.answer, things.writes, things.snapshot) == (OneThing, False, True)
    assert things.query == ("type", "page", "per_page")
    assert row("GET", path, list_things, Right.READ, query=("page",)).query == ("page",)
    own = resource("Rewards", twin=of_account, lead="Your own.")
    assert own("POST", path, make_thing, Right.REWARDS).detail.startswith("Your own. Of wax")
    assert own("POST", path, make_thing, Right.REWARDS, body=None, detail="x").body is None
    twin = own("GET", path, get_subscriber_things, Right.READ)
    assert twin.operation_id == "getAccountSubscriberThings"
    with pytest.raises(AssertionError, match="docstring"):
        row("GET", path, get_unexplained, Right.READ)


def test_what_only_reads_is_a_get() -> None:
    assert [route for route in ROUTES if route.writes == (route.method == "GET")] == []
