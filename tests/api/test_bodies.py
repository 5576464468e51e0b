"""Every field of every body, sent as null, as each wrong type and as a number with a decimal point:
the answer is what the OpenAPI document says, on create and on update alike."""

import itertools
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import httpx
import jsonschema_rs
import pytest

from honeyguide.api.call import Route
from honeyguide.api.openapi import document
from honeyguide.api.routes import ROUTES
from tests.support import partner_network, prizes, shipments
from tests.support.service import ONE_ENGINE, Member, Service
from tests.support.stores import statement

DOCUMENT = document(ROUTES, "https://go.example.org")
WITH_FIELDS = [route for route in ROUTES if route.body and route.body.__struct_fields__]
# A value of each type of JSON.
VALUES: dict[str, Any] = {
    "null": None,
    "string": "\x00",  # no text field takes it: a NUL is refused wherever the type is right
    "integer": 7,
    "number": 7.5,
    "boolean": True,
    "array": [[]],
    "object": {"x": []},
}
TYPE_NAMES = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


class Request(NamedTuple):
    path: str
    body: dict[str, Any]


class World:
    """An account in which every route that takes a body has something to work on."""

    def __init__(self, alice: Member, bob: Member) -> None:
        self.alice = alice
        self.numbers = itertools.count()
        self.reward = prizes.offer(alice, kind="physical", variants=["S", "M"])
        self.reader = prizes.advocate(alice, 1)
        (self.earned,) = prizes.earned_by(alice, self.reader)
        shipments.claim(alice, "bea@example.org", variant="S")
        (self.shipment,) = shipments.listed(alice)
        self.claimed = self._claimed_by_reader()
        self.publication = partner_network.publish(alice)
        self.program = partner_network.offer(alice, self.publication)
        self.partner = partner_network.join(bob, self.program)
        self.offer = partner_network.offer(bob)
        hook = {"url": "https://hooks.example.org/in"}
        self.hooks = {
            base: alice.post(f"{base}/webhooks", hook).json()["webhook"]
            for base in (alice.v1, "/v2")
        }

    def _of(self, path: str) -> str:
        """The UUID that the path's last parameter stands for."""
        if "/webhooks/" in path:
            return str(self.hooks["/v2" if path.startswith("/v2") else self.alice.v1]["uuid"])
        if path.endswith("/rewards/{uuid}/redeem"):
            return str(self.earned["uuid"])
        if path.endswith("/rewards/{uuid}/decline"):
            return self.claimed
        found = {
            "/rewards/": self.reward,
            "/subscribers/": self.reader,
            "/shipments/": self.shipment,
            "/publications/": self.publication,
            "/partner_network/": self.offer,
            "/partner_programs/": self.program,
        }
        return str(next(thing["uuid"] for part, thing in found.items() if part in path))

    def _claimed_by_reader(self) -> str:
        """A reward by hand that the reader asked for."""
        offered = prizes.offer(self.alice, name="A call", kind="manual")
        prizes.bring(self.alice, self.reader, 1)
        (own,) = (
            str(each["uuid"])
            for each in prizes.earned_by(self.alice, self.reader)
            if each["reward_uuid"] == offered["uuid"]
        )
        claim = statement("UPDATE won_reward SET claimed_ms = 1 WHERE id = :id")
        self.alice.service.write(lambda tx: tx.run(claim, id=own))
        return own

    def request(self, route: Route) -> Request:
        """A good request to the route."""
        path = route.path.replace("{campaign_uuid}", self.alice.campaign_id)
        if "{reward_uuid}" in path:
            own = self.claimed if path.endswith("/decline") else str(self.earned["uuid"])
            path = path.replace("{reward_uuid}", own)
            path = path.replace("{uuid}", str(self.reader["uuid"]))
        path = path.replace("{partner_campaign_uuid}", str(self.partner["uuid"]))
        if "{referral_uuid}" in path:
            program_id, referral_id = self._paid_referral()
            path = path.replace("{referral_uuid}", referral_id).replace("{uuid}", program_id)
        if "{uuid}" in path:
            path = path.replace("{uuid}", self._of(route.path))
        assert route.body is not None
        return Request(path, self._required(route.body.__name__))

    def _paid_referral(self) -> tuple[str, str]:
        """Of a new program and partner each time: it can be reversed once, and other tests change
        the world's program and block its partner."""
        program = partner_network.offer(self.alice)
        partner = partner_network.join(self.alice.service.member("carol"), program)
        email = f"sent{next(self.numbers)}@example.org"
        self.alice.subscribe(email, referrer_code=partner["ref_code"])
        path = f"/v2/partner_programs/{program['uuid']}/referrals"
        return program["uuid"], self.alice.get(path).json()["referrals"][0]["uuid"]

    def _required(self, body: str) -> dict[str, Any]:
        if body == "PartnerProgramCreate":
            publication = partner_network.publish(self.alice)["uuid"]
            amounts = {"max_payout": 90, "total_budget": 300, "cpa": 2.5}
            page = "https://wax.example.org"
            return {**amounts, "redirect_url": page, "publication_uuid": publication}
        if body == "SubscriberCreate":
            return {"email": f"reader{next(self.numbers)}@example.org"}
        return {
            "RewardCreate": {"name": "The hat", "referrals": 9},
            "PublicationCreate": partner_network.publication_fields(),
            "WebhookCreateV2": {"url": "https://hooks.example.org/more"},
            "WebhookCreate": {"url": "https://hooks.example.org/more"},
            "TagsInput": {"tags": ["vip"]},
            "SubscriberCodeCreate": {"code": "ann-lee"},
            "AdjustmentCreate": {"amount": 1, "reason": "Met at our event"},
            "LinkHostCreate": {"host": "go.example.org"},
            "ReferralDecisionsInput": {"status": "verified", "subscribers": ["reader@example.org"]},
            "ReferralCheckInput": {"email": "new@example.org", "referrer_code": "k7m2x9pa"},
            "ReversalCreate": {"reason": "robot"},
            "DeclineInput": {"reason": "Not in this month."},
            "ReplayInput": {"since": "2026-01-01T00:00:00Z"},
        }.get(body, {})


@pytest.fixture(scope="module")
def world(shared_service: Service) -> World:
    """One for all tests of an engine: making it takes longer than most of them."""
    return World(shared_service.member("alice"), shared_service.member("bob"))


def schema_of(route: Route) -> dict[str, Any]:
    assert route.body is not None
    found: dict[str, Any] = DOCUMENT["components"]["schemas"][route.body.__name__]
    return found


def kinds_of(schema: dict[str, Any]) -> set[str]:
    """The types of JSON that the document allows for a field."""
    if "anyOf" in schema:
        return set().union(*(kinds_of(option) for option in schema["anyOf"]))
    if "$ref" in schema:
        return {"object"}
    kind = schema["type"]
    if kind == "number" and schema.get("multipleOf") == 1:  # what JSON Schema calls an integer
        return {"integer"}
    return set(kind) if isinstance(kind, list) else {kind}


def is_allowed(schema: dict[str, Any], value: Any) -> bool:
    whole = {**schema, "components": DOCUMENT["components"]}
    return jsonschema_rs.Draft202012Validator(whole).is_valid(value)


def sent(world: World, route: Route, **fields: Any) -> httpx.Response:
    path, body = world.request(route)
    call: Callable[..., httpx.Response] = getattr(world.alice, route.method.lower())
    return call(path, {**body, **fields})


@pytest.mark.parametrize("route", WITH_FIELDS, ids=lambda route: f"{route.method} {route.path}")
def test_null_is_offered_in_the_document_exactly_where_it_is_taken(
    world: World, route: Route
) -> None:
    assert sent(world, route).status_code < 300
    wrong = {}
    for field, schema in schema_of(route)["properties"].items():
        answer = sent(world, route, **{field: None})
        if (answer.status_code < 300) != is_allowed(schema, None):
            wrong[field] = (answer.status_code, answer.text)
        elif answer.status_code >= 300:
            assert (answer.status_code, answer.json()["param"]) == (400, field)
    assert wrong == {}


@ONE_ENGINE
@pytest.mark.parametrize("route", WITH_FIELDS, ids=lambda route: f"{route.method} {route.path}")
def test_a_wrong_type_is_refused_with_what_the_document_allows(world: World, route: Route) -> None:
    path, body = world.request(route)
    call: Callable[..., httpx.Response] = getattr(world.alice, route.method.lower())
    for field, schema in schema_of(route)["properties"].items():
        allowed = kinds_of(schema)
        for kind, value in VALUES.items():
            if kind in allowed or (kind == "integer" and "number" in allowed):
                continue
            answer = call(path, {**body, field: value})
            assert answer.status_code == 400, (field, kind)
            found = answer.json()
            assert found["param"] == field, (field, kind, found)
            if kind == "null" and field in schema_of(route).get("required", ()):
                continue  # "is required", as if it were absent
            sentence = found["error"].partition(", not ")[0].partition(" of US dollars")[0]
            assert sentence.startswith(f"{field} must be "), found
            assert set(sentence.removeprefix(f"{field} must be ").rstrip(".").split(" or ")) == (
                {part for kind in allowed for part in TYPE_NAMES[kind].split(" or ")}
            ), found


def test_a_wrong_type_inside_a_list_or_an_object_is_named(world: World) -> None:
    alice, reader = world.alice, world.reader["uuid"]
    answer = alice.put(f"{alice.v1}/subscribers/{reader}/tags", {"tags": ["a", 5]})
    assert answer.json()["error"] == "tags: each item must be a string, not a whole number."
    redeem = f"{alice.v1}/rewards/{world.earned['uuid']}/redeem"
    for given, sentence in (
        ({"city": 5}, "shipping_details: city must be a string, not a whole number."),
        ({"phone": 5}, "shipping_details: phone must be a string or null, not a whole number."),
        ({"city": None}, "shipping_details: city must be a string, not null."),
    ):
        answer = alice.post(redeem, {"shipping_details": {**shipments.ADDRESS, **given}})
        assert (answer.status_code, answer.json()["error"]) == (400, sentence)
        assert answer.json()["param"] == "shipping_details"
    without = {name: text for name, text in shipments.ADDRESS.items() if name != "city"}
    answer = alice.post(redeem, {"shipping_details": without})
    assert answer.json()["error"] == "shipping_details needs city."


def json_with(body: dict[str, Any], field: str, text: str) -> bytes:
    """The body with this number, written so."""
    return json.dumps({**body, field: "?"}).replace('"?"', text).encode()


INTEGERS = [
    (route, field)
    for route in WITH_FIELDS
    for field, schema in schema_of(route)["properties"].items()
    if "integer" in kinds_of(schema)
]


def test_there_are_whole_numbers_on_create_and_update() -> None:
    assert {
        (route.method, field) for route, field in INTEGERS if field == "referral_pending_duration"
    } == {("POST", "referral_pending_duration"), ("PUT", "referral_pending_duration")}
    assert len(INTEGERS) >= 5


@pytest.mark.parametrize(("route", "field"), INTEGERS, ids=lambda each: getattr(each, "path", each))
def test_a_whole_number_may_be_written_with_a_decimal_point(
    world: World, route: Route, field: str
) -> None:
    """JSON has one type of numbers, and JSON Schema calls 5.0 an integer."""
    for text, number in (("5.0", 5), ("1e1", 10), ("20.00", 20)):
        path, body = world.request(route)
        raw = json_with(body, field, text)
        answer = world.alice.http.request(route.method, path, content=raw)
        assert answer.status_code < 300, answer.text
        (shown,) = answer.json().values()
        assert shown[field] == number and isinstance(shown[field], int)
    for text in ("5.5", "1e-1", "1e400", "-1e400"):
        path, body = world.request(route)
        raw = json_with(body, field, text)
        answer = world.alice.http.request(route.method, path, content=raw)
        assert (answer.status_code, answer.json()["param"]) == (400, field), answer.text
        assert f"{field} must be a whole number" in answer.json()["error"]


def test_of_duplicate_keys_the_last_counts_whatever_the_others_are(world: World) -> None:
    alice = world.alice
    answer = alice.put(alice.v1, content=b'{"name": 5, "name": null, "name": "Wax"}')
    assert (answer.status_code, answer.json()["campaign"]["name"]) == (200, "Wax")


@pytest.mark.parametrize("value", [True, False, "x", None, 5])
def test_the_switch_of_a_program_is_ignored_on_create(world: World, value: Any) -> None:
    assert "enabled_partner_program" not in schema_of_name("PublicationCreate")["properties"]
    assert "enabled_partner_program" in schema_of_name("PublicationUpdate")["properties"]
    fields = partner_network.publication_fields(enabled_partner_program=value)
    answer = world.alice.post("/v2/publications", fields)
    assert answer.status_code == 201
    assert answer.json()["publication"]["enabled_partner_program"] is False


def schema_of_name(name: str) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENT["components"]["schemas"][name]
    return found


def test_amounts_that_add_up_have_no_maximum_and_those_that_are_sent_have() -> None:
    sums = {
        "Payout": ("amount_in_dollars",),
        "ProgramSpend": ("spent", "pending"),
        "Earnings": ("confirmed", "pending"),
    }
    for name, fields in sums.items():
        for field in fields:
            schema = schema_of_name(name)["properties"][field]
            assert (schema["type"], schema["minimum"]) == ("number", 0)
            assert "maximum" not in schema, (name, field)
    for name in ("PartnerProgramCreate", "PartnerProgramUpdate"):
        for field in ("cpa", "max_payout", "total_budget"):
            schema = schema_of_name(name)["properties"][field]
            assert (schema["minimum"], schema["maximum"]) == (0, 1_000_000)
    network = DOCUMENT["paths"]["/v2/partner_network/partner_programs"]["get"]
    (cpa,) = (each for each in network["parameters"] if each["name"] == "min_cpa")
    assert cpa["schema"]["maximum"] == 1_000_000


@pytest.mark.parametrize(
    ("field", "most", "values"),
    [
        ("categories", 3, ["news", "tech", "news", "science"]),
        ("categories", 3, ["news"] * 4),
    ],
)
def test_what_is_named_twice_counts_twice_toward_a_limit(
    world: World, field: str, most: int, values: list[str]
) -> None:
    alice, path = world.alice, f"/v2/publications/{world.publication['uuid']}"
    for answer in (
        alice.post("/v2/publications", partner_network.publication_fields(**{field: values})),
        alice.put(path, {field: values}),
    ):
        assert (answer.status_code, answer.json()["param"]) == (400, field)
    within = [values[0]] * most
    answer = alice.put(path, {field: within})
    assert (answer.status_code, answer.json()["publication"][field]) == (200, [values[0]])


def test_tags_and_codes_named_twice_count_twice_toward_their_limits(world: World) -> None:
    alice, reader = world.alice, world.reader["uuid"]
    for method, path in (("PUT", "tags"), ("POST", "tags/add"), ("POST", "tags/remove")):
        url = f"{alice.v1}/subscribers/{reader}/{path}"
        answer = alice.http.request(method, url, json={"tags": ["vip"] * 51})
        assert (answer.status_code, answer.json()["param"]) == (400, "tags")
        assert alice.http.request(method, url, json={"tags": ["vip"] * 50}).status_code == 200
    coupon = {"name": "10 percent", "referrals": 3, "kind": "coupon"}
    answer = alice.post(f"{alice.v1}/rewards", {**coupon, "coupon_codes": ["WAX"] * 10_001})
    assert (answer.status_code, answer.json()["param"]) == (400, "coupon_codes")
    answer = alice.post(f"{alice.v1}/rewards", {**coupon, "coupon_codes": ["WAX"] * 10_000})
    assert (answer.status_code, answer.json()["reward"]["coupon_codes_total"]) == (201, 1)


def test_the_domain_of_an_email_comes_back_as_the_document_says(world: World) -> None:
    schema = schema_of_name("SubscriberCreate")["properties"]["email"]["description"]
    assert "in lower case, an international one in Punycode" in schema
    for sent_, kept in (
        ("Ana.Lopes@EXAMPLE.Org", "Ana.Lopes@example.org"),
        (" Bea@b\u00fccher.example ", "Bea@xn--bcher-kva.example"),
    ):
        made = world.alice.subscribe(sent_)
        assert made["email"] == kept
        path = f"{world.alice.v1}/subscribers/{made['uuid']}"
        assert world.alice.get(path).json()["subscriber"]["email"] == kept
        changed = world.alice.put(path, {"email": sent_.replace("@", "2@")})
        assert changed.json()["subscriber"]["email"] == kept.replace("@", "2@")
