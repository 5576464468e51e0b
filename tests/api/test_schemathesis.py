"""The served OpenAPI document is true: whatever it allows, and much that it does not, gets an
answer it describes.

Each operation is tried at addresses of real objects and at made-up ones. A 400 is always among the
documented answers, since much is judged by meaning (an email, a date, a code) and not by form. The
quick run asks PostgreSQL, which refuses more values than SQLite does (NUL, numbers past 64 bits);
the long one asks both.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from honeyguide.api.call import Route
from honeyguide.api.routes import ROUTES
from tests.api.test_tenancy import Address, name_of
from tests.support.service import ENGINES, Member, Service

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]


@dataclass
class Described:
    service: Service
    schema: Any
    session: requests.Session


@pytest.fixture(scope="module", params=["postgres"])
def described(request: pytest.FixtureRequest) -> Iterator[Described]:
    service = Service(request.param)
    service.application._work = False
    with service, requests.Session() as session:
        served = session.get(f"{service.url}/openapi.json", timeout=10)
        assert served.status_code == 200
        yield Described(service, schemathesis.openapi.from_dict(served.json()), session)


def real_values(route: Route, owner: Member) -> dict[str, str]:
    address = Address(route, owner)
    names = [segment[1:-1] for segment in route.segments if segment.startswith("{")]
    return dict(zip(names, (address.parts[place] for place in address.places), strict=True))


def try_operation(described: Described, route: Route, examples: int) -> None:
    alice = described.service.member("alice")
    operation = described.schema[route.path][route.method]
    cases = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    odd_cases = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
    real = real_values(route, alice)
    statuses = set()

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(
        case=st.one_of(cases, odd_cases),
        known=st.lists(st.booleans(), min_size=len(real), max_size=len(real)),
    )
    def one(case: Any, known: list[bool]) -> None:
        # Mostly real objects: a made-up address would seldom get further than a 404.
        for (name, value), is_real in zip(real.items(), known, strict=True):
            if is_real or name == "campaign_uuid":
                case.path_parameters[name] = value
        answer = case.call(
            base_url=described.service.url,
            session=described.session,
            headers={"X-Api-Key": alice.key},
        )
        statuses.add(answer.status_code)
        case.validate_response(answer, checks=CHECKS)

    one()
    assert statuses & {200, 201, 400, 404}, f"nothing but {statuses} came back"
    assert alice.get("/v1/campaigns").status_code == 200


@pytest.mark.parametrize(
    "route",
    [
        each if n % 2 else pytest.param(each, marks=pytest.mark.long)
        for n, each in enumerate(ROUTES)
    ],
    ids=name_of,
)
def test_every_answer_is_one_the_document_describes(described: Described, route: Route) -> None:
    try_operation(described, route, examples=6)


@pytest.mark.long
@pytest.mark.parametrize("described", ENGINES, indirect=True, scope="module")
@pytest.mark.parametrize("route", ROUTES, ids=name_of)
def test_for_long_every_answer_is_one_the_document_describes(
    described: Described, route: Route
) -> None:
    try_operation(described, route, examples=300)


def test_without_a_key_every_operation_answers_a_documented_401(described: Described) -> None:
    for route in ROUTES:
        operation = described.schema[route.path][route.method]
        case = operation.Case(
            path_parameters={
                segment[1:-1]: "x" for segment in route.segments if segment.startswith("{")
            }
        )
        answer = case.call(base_url=described.service.url, session=described.session, headers={})
        assert answer.status_code == 401, name_of(route)
        case.validate_response(answer, checks=CHECKS)


def test_the_document_describes_every_route_and_no_other(described: Described) -> None:
    operations = {
        f"{found.ok().method.upper()} {found.ok().path}"
        for found in described.schema.get_all_operations()
    }
    assert operations == {name_of(route) for route in ROUTES}
