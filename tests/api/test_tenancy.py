"""A stranger's key on every address of the route table: the same 404 as for what is not there, and
nothing changes. A new route is tried by itself; one whose parameter nobody can make an object for
says what to add to MAKERS. The ids of one of everything that another account has are tried in
every query parameter and in every field of a body.
"""

import itertools
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

import msgspec
import pytest

from honeyguide.api.call import Route
from honeyguide.api.routes import ROUTES
from honeyguide.kernel.ids import new_id
from tests.support import partner_network
from tests.support.belongings import Things, lasting, rows_of, things_of
from tests.support.long_tests import one_of
from tests.support.page_answers import nobodys, shape_of
from tests.support.service import Member, Service
from tests.support.stores import statement
from tests.support.tables import dump
from tests.support.web import operator

_numbers = itertools.count(1)
SHIPPING = {
    "name": "Secret Name",
    "line1": "1 Secret Lane",
    "city": "Porto",
    "postcode": "4000",
    "country": "Portugal",
}

# How to make an object for a parameter: found by the end of the literal path before it, the longest
# end first. A maker gets the owner and the concrete address so far, and gives every spelling by
# which the object can be named. Where what comes after the parameter decides which object is meant,
# the key says so: `rewards/{}/approve`.
Maker = Callable[[Member, str], tuple[str, ...]]


def make_subscriber(owner: Member, address: str) -> tuple[str, ...]:
    made = owner.subscribe(f"secret{next(_numbers)}@example.org", name="Secret Name")
    return made["uuid"], quote(made["email"], safe="")


def make_webhook(owner: Member, address: str) -> tuple[str, ...]:
    answer = owner.post(address, {"url": "http://127.0.0.1:9/hook", "new_referral": True})
    assert answer.status_code == 201, answer.text
    return (answer.json()["webhook"]["uuid"],)


def make_link_host(owner: Member, address: str) -> tuple[str, ...]:
    answer = owner.post(address, {"host": f"secret{next(_numbers)}.example"})
    assert answer.status_code == 201, answer.text
    return (answer.json()["link_host"]["uuid"],)


def make_delivery(owner: Member, address: str) -> tuple[str, ...]:
    answer = owner.post(f"{address.removesuffix('/deliveries')}/test", {})
    assert answer.status_code == 200, answer.text
    return (answer.json()["delivery"]["uuid"],)


def make_referred(owner: Member, address: str) -> tuple[str, ...]:
    """Rejected, so that the owner may still decide either way."""
    friend = owner.subscribe(f"friend{next(_numbers)}@example.org")
    made = owner.subscribe(
        f"secret{next(_numbers)}@mailinator.com", referrer_code=friend["ref_code"]
    )
    return made["uuid"], quote(made["email"], safe="")


def make_reward(owner: Member, address: str) -> tuple[str, ...]:
    answer = owner.post(address, {"name": "Secret mug", "referrals": 1})
    assert answer.status_code == 201, answer.text
    return (answer.json()["reward"]["uuid"],)


CLAIM = statement("UPDATE won_reward SET claimed_ms = 1 WHERE id = :id")


def make_won_reward(owner: Member, address: str) -> tuple[str, ...]:
    """For the subscriber the address names, or for a new one; whichever way, it is the earned
    reward's own uuid.
    """
    make_reward(owner, f"{owner.v1}/rewards")
    if not address.endswith("/rewards") or "/subscribers/" not in address:
        advocate, _ = make_subscriber(owner, address)
        address = f"{owner.v1}/subscribers/{advocate}/rewards"
    code = owner.subscriber(address.split("/")[-2])["ref_code"]
    owner.subscribe(f"friend{next(_numbers)}@example.org", referrer_code=code)
    own = owner.get(address).json()["rewards"][0]["uuid"]
    owner.service.write(lambda tx: tx.run(CLAIM, id=own))
    return (own,)


def make_shipment(owner: Member, address: str) -> tuple[str, ...]:
    made = owner.post(
        f"{owner.v1}/rewards", {"name": "Secret shirt", "referrals": 1, "kind": "physical"}
    )
    assert made.status_code == 201, made.text
    advocate, _ = make_subscriber(owner, address)
    code = owner.subscriber(advocate)["ref_code"]
    owner.subscribe(f"friend{next(_numbers)}@example.org", referrer_code=code)
    for earned in owner.get(f"{owner.v1}/subscribers/{advocate}/rewards").json()["rewards"]:
        redeemed = owner.post(
            f"{owner.v1}/rewards/{earned['uuid']}/redeem", {"shipping_details": SHIPPING}
        )
        assert redeemed.status_code == 200, redeemed.text
    return (owner.get(f"{owner.v1}/shipments").json()["shipments"][0]["uuid"],)


def make_partner(owner: Member, address: str) -> tuple[str, ...]:
    program = {"uuid": address.split("/")[3]}
    return (partner_network.join(owner.service.member("bob"), program)["uuid"],)


def make_payout(owner: Member, address: str) -> tuple[str, ...]:
    """As closing a month would leave it."""
    payout_id = new_id()
    insert = statement(
        "INSERT INTO payout (id, account_id, month, amount_cents, created_ms) VALUES (:id, "
        ":account_id, '2020-01', 500, 1)"
    )
    owner.service.write(lambda tx: tx.run(insert, id=payout_id, account_id=owner.account_id))
    return (payout_id,)


def make_partner_referral(owner: Member, address: str) -> tuple[str, ...]:
    """One that the program paid for."""
    program = {"uuid": address.split("/")[3]}
    code = partner_network.join(owner.service.member("bob"), program)["ref_code"]
    owner.subscribe(f"sent{next(_numbers)}@example.org", referrer_code=code)
    path = f"/v2/partner_programs/{program['uuid']}/referrals"
    return (owner.get(path).json()["referrals"][0]["uuid"],)


MAKERS: dict[str, Maker] = {
    "campaigns": lambda owner, address: (owner.campaign_id,),
    "subscribers": make_subscriber,
    "subscribers/{}/referral": make_referred,
    "rewards": make_reward,
    "rewards/{}/approve": make_won_reward,
    "rewards/{}/redeem": make_won_reward,
    "rewards/{}/decline": make_won_reward,
    "subscribers/*/rewards": make_won_reward,
    "shipments": make_shipment,
    "publications": lambda owner, address: (partner_network.publish(owner)["uuid"],),
    "partner_programs": lambda owner, address: (partner_network.offer(owner)["uuid"],),
    "partner_campaigns": lambda owner, address: (
        partner_network.join(owner, partner_network.offer(owner))["uuid"],
    ),
    "partner_programs/*/partners": make_partner,
    "partner_programs/*/referrals": make_partner_referral,
    "payouts": make_payout,
    "link_hosts": make_link_host,
    "webhooks": make_webhook,
    "webhooks/*/deliveries": make_delivery,
}

# What a route needs in its body to come as far as looking for its object, by the end of its path.
BODIES: dict[str, dict[str, Any]] = {
    "/subscribers": {"email": "new@example.org"},
    "/webhooks": {"url": "http://127.0.0.1:9/hook"},
    "/link_hosts": {"host": "go.example.org"},
    "/decline": {"reason": "Later"},
    "/partner_programs": {
        "max_payout": 90,
        "total_budget": 300,
        "cpa": 3,
        "redirect_url": "https://wax.example/welcome",
        "show_in_directory": False,
    },
    "/rewards": {"name": "Mug", "referrals": 3},
    "/tags": {"tags": ["vip"]},
    "/tags/add": {"tags": ["vip"]},
    "/tags/remove": {"tags": ["vip"]},
    "/referral_decisions": {"status": "verified", "subscribers": ["new@example.org"]},
    "/referral_checks": {"email": "new@example.org", "referrer_code": "k7m2x9pa"},
    "/codes": {"code": "ann-lee"},
    "/adjustments": {"amount": 2, "reason": "Met at our event"},
    "/reversal": {"reason": "robot"},
    "/replay": {"since": "2026-01-01T00:00:00Z"},
}

# Routes that are meant for strangers, each with the reason.
OPEN: dict[str, str] = {
    "GET /v2/partner_network/partner_programs": "the network is there to be browsed",
    "GET /v2/partner_network/partner_programs/{uuid}": (
        "an unlisted program is not secret: whoever has its uuid may read it"
    ),
    "POST /v2/partner_network/partner_programs/{uuid}/join": "and join it",
}


def maker_of(literals: tuple[str, ...], following: str = "") -> Maker:
    ends = ["/".join(literals[start:]) for start in range(len(literals))]
    for key in [*(f"{end}/{{}}/{following}" for end in ends), *ends]:
        if (found := MAKERS.get(key)) is not None:
            return found
    pytest.fail(
        f"No maker for the parameter after /{'/'.join(literals)}: add one to MAKERS in "
        f"tests/api/test_tenancy.py that makes "
        f"such an object for its owner, so that a stranger can be seen to miss it (or name the "
        f"route in OPEN, with the reason)."
    )


class Address:
    """A route filled with one member's own objects, whose parameters can be swapped one by one."""

    def __init__(self, route: Route, owner: Member) -> None:
        self.parts: list[str] = []
        self.places: list[int] = []
        self.spellings: dict[int, tuple[str, ...]] = {}
        literals: list[str] = []
        for segment, following in zip(route.segments, (*route.segments[1:], ""), strict=True):
            if not segment.startswith("{"):
                self.parts.append(segment)
                literals.append(segment)
                continue
            place = len(self.parts)
            self.places.append(place)
            self.spellings[place] = maker_of(tuple(literals), following)(
                owner, "/" + "/".join(self.parts)
            )
            self.parts.append(self.spellings[place][0])
            literals.append("*")

    def path(self, swapped: dict[int, str] | None = None) -> str:
        return "/" + "/".join(
            (swapped or {}).get(place, part) for place, part in enumerate(self.parts)
        )


def body_of(route: Route) -> dict[str, Any] | None:
    if route.method in {"GET", "DELETE"}:
        return None
    return next((body for end, body in BODIES.items() if route.path.endswith(end)), {})


def ask(member: Member, route: Route, path: str) -> tuple[int, dict[str, Any]]:
    answer = member.http.request(route.method, path, json=body_of(route))
    body = answer.json()
    body.pop("request_id", None)
    return answer.status_code, body


def name_of(route: Route) -> str:
    return f"{route.method} {route.path}"


WITH_PARAMETERS = [route for route in ROUTES if "{" in route.path and name_of(route) not in OPEN]
WITHOUT_OBJECT = [
    route
    for route in ROUTES
    if route.method == "GET" and not route.path.endswith("}") and name_of(route) not in OPEN
]


@pytest.mark.parametrize("route", WITH_PARAMETERS, ids=name_of)
def test_a_stranger_finds_nothing_and_changes_nothing(quiet_service: Service, route: Route) -> None:
    alice, mallory = quiet_service.member("alice"), quiet_service.member("mallory")
    hers, his = Address(route, alice), Address(route, mallory)
    before = lasting(dump(quiet_service))
    # The first k parameters are the stranger's own, the rest are hers: behind every honest parent,
    # a stolen child.
    for k, place in enumerate(hers.places):
        own = {earlier: his.parts[earlier] for earlier in hers.places[:k]}
        missing = ask(mallory, route, hers.path({**own, place: new_id()}))
        assert missing[0] == 404, (
            f"{missing}: if the body is to blame, give the route one in BODIES"
        )
        for spelling in hers.spellings[place]:
            path = hers.path({**own, place: spelling})
            assert ask(mallory, route, path) == missing, path
    assert lasting(dump(quiet_service)) == before
    status, answer = ask(alice, route, hers.path())
    assert status < 300, f"the owner must reach it, or this test proves nothing: {answer}"


@pytest.fixture(scope="module")
def hers(quiet_service: Service) -> set[str]:
    """Whatever tells of Alice, who has one of everything."""
    alice = quiet_service.member("alice")
    made = [Address(route, alice).spellings for route in WITH_PARAMETERS]
    return {alice.account_id, alice.campaign_id, alice.key} | {
        unquote(text) for parts in made for of in parts.values() for text in of
    }


@pytest.mark.parametrize("route", WITHOUT_OBJECT, ids=name_of)
def test_a_strangers_lists_show_nothing_of_others(
    quiet_service: Service, hers: set[str], route: Route
) -> None:
    mallory = quiet_service.member("mallory")
    answer = mallory.http.get(Address(route, mallory).path())
    assert answer.status_code == 200, answer.text
    assert [text for text in hers if text in answer.text] == []


def test_a_route_nobody_can_make_an_object_for_fails_with_advice() -> None:
    with pytest.raises(pytest.fail.Exception, match="add one to MAKERS"):
        maker_of(("v9", "flying_carpets"))


def test_a_leak_would_be_seen(quiet_service: Service) -> None:
    """The dump sees a change of any lasting table, and an owner's answer is no stranger's 404."""
    alice = quiet_service.member("alice")
    route = next(route for route in ROUTES if name_of(route) == "PUT /v1/campaigns/{campaign_uuid}")
    before = lasting(dump(quiet_service))
    assert alice.put(alice.v1, {"name": "Changed"}).status_code == 200
    assert lasting(dump(quiet_service)) != before
    assert ask(alice, route, alice.v1)[0] == 200


# -- every query parameter and field of a body


class Stranger:
    """Asks a route with one value in one place, and compares with what is nobody's."""

    def __init__(self, route: Route, member: Member) -> None:
        self.route, self.member = route, member
        self.path = Address(route, member).path()
        self._missing: dict[tuple[str, str], tuple[int, str]] = {}

    def ask(self, name: str, value: str) -> tuple[int, str]:
        """The status, and what is said. What was made differs each time."""
        route = self.route
        # Of another referral or subscriber: it can be done once, or three times a year.
        if route.path.endswith(("/reversal", "/codes")):
            self.path = Address(route, self.member).path()
        if name == "slug":
            # Whoever takes a name first has it, and another route of this walk took this one.
            value = f"{value}-{next(_numbers)}"
        if name in route.query:
            answer = self.member.http.get(self.path, params={name: value})
        else:
            body = {**(body_of(route) or {}), name: value}
            if "email" in body and name != "email":
                body["email"] = f"new{next(_numbers)}@example.org"
            answer = self.member.http.request(route.method, self.path, json=body)
        found = re.sub(r'"request_id":"[^"]*"', "", answer.text).replace(value, "…")
        return answer.status_code, found

    def missing(self, name: str, like: str) -> tuple[int, str]:
        key = name, shape_of(like)
        if key not in self._missing:
            self._missing[key] = self.ask(name, nobodys(like))
        return self._missing[key]


@pytest.fixture(scope="module")
def things(quiet_service: Service) -> Things:
    return things_of(operator(quiet_service))


def places_of(route: Route) -> list[str]:
    fields = (
        [field.encode_name for field in msgspec.structs.fields(route.body)] if route.body else []
    )
    return [*route.query, *fields]


# PostgreSQL is for the long tests: both engines run the same statements.
ENGINES_IN_TURN = pytest.mark.parametrize(
    "quiet_service",
    ["sqlite", pytest.param("postgres", marks=pytest.mark.long)],
    indirect=True,
    scope="module",
)


@ENGINES_IN_TURN
@pytest.mark.parametrize(
    "route", one_of(4, [route for route in ROUTES if places_of(route)]), ids=name_of
)
def test_the_ids_of_another_account_are_nobodys_in_queries_and_bodies(
    quiet_service: Service, things: Things, route: Route
) -> None:
    stranger = Stranger(route, quiet_service.member("mallory"))
    before = rows_of(quiet_service, things.owner.account_id)
    for name, (kind, value) in itertools.product(places_of(route), things.ids.items()):
        status, found = stranger.ask(name, value)
        expected = stranger.missing(name, value)
        # What a second request finds made already is a 200, not a 201.
        assert status // 100 == expected[0] // 100 < 5, f"{kind} as {name}: {found}"
        if status >= 400 or route.method == "GET":
            assert found == expected[1], f"{kind} as {name}"
        assert things.marks.findall(found) == [], f"{kind} as {name}"
    assert rows_of(quiet_service, things.owner.account_id) == before
