"""The ids of one of everything that another account has, in every address, query parameter and form
field of the dashboard's table: each is answered like what nobody has.
"""

import pytest

from honeyguide.accounts.permissions import OF_ADMINISTRATORS
from honeyguide.pages.dashboard.page_route import PageRoute
from honeyguide.pages.dashboard.routes import PAGES
from tests.api.test_tenancy import ENGINES_IN_TURN
from tests.pages.dashboard.test_form_tenancy import FORMS, plenty, promote
from tests.support.belongings import Things, rows_of, things_of
from tests.support.long_tests import one_of
from tests.support.page_answers import names_in_dashboard
from tests.support.page_trials import QUESTION, VARIANTS, Trial, names_of, own_id
from tests.support.service import Service
from tests.support.web import operator

__all__ = ["plenty"]

# Pages that are tried apart or not at all, each with the reason.
LEFT_OUT = {
    "/logout": "it ends the session that tries",
    "/clock": "it moves the clock of the service",
}
# This form draws a picture each time, which takes a second.
FEW_KINDS = {"/look/pages": ("subscriber", "publication")}
# Everybody may look at a program of the network, and join it.
OPEN_TO_ALL = {"/network/{id}", "/network/{id}/join"}
ROUTES = [
    page
    for page in PAGES
    if page.right is not None and page.right not in OF_ADMINISTRATORS and page.path not in LEFT_OUT
]


@pytest.fixture(scope="module")
def hers(quiet_service: Service) -> Things:
    alice = operator(quiet_service)
    promote(quiet_service, alice)
    return things_of(alice)


# What only other pages read.
NOT_FOR_MEMBERS = {
    "keep": "the login",
    "payout": "the administrator's page, which is about all accounts; tried in FORMS",
    "reference": "the administrator's page",
    "step": "the clock",
}


@ENGINES_IN_TURN
def test_every_field_and_parameter_is_tried(quiet_service: Service) -> None:
    """What the source of the pages reads by name is what the test below tries."""
    met, mallory = {"csrf", "do", *QUESTION}, operator(quiet_service, "mallory")
    for route in ROUTES:
        if route.method == "POST":
            mallory = operator(quiet_service, "mallory")  # a new one: some forms end a key
        met |= names_of(route, mallory, own_id(route, mallory))
    assert names_in_dashboard() - met == NOT_FOR_MEMBERS.keys()


def route_name(route: PageRoute) -> str:
    return f"{route.method} {route.path}"


# How many kinds are tried in each parameter alone. Every kind is tried in all of them together.
ALONE = pytest.mark.parametrize(
    "alone",
    [1, pytest.param(None, marks=pytest.mark.long)],
    ids=["one kind alone", "every kind alone"],
)


@ENGINES_IN_TURN
@ALONE
@pytest.mark.parametrize("route", one_of(6, ROUTES), ids=route_name)
def test_the_ids_of_another_account_are_nobodys_everywhere(
    quiet_service: Service, hers: Things, route: PageRoute, alone: int | None
) -> None:
    base = next((form.fields for form in FORMS if form.path == route.path), {})
    trial = Trial(operator(quiet_service, "mallory"), route, base)
    before = rows_of(quiet_service, hers.owner.account_id)
    kinds = list(FEW_KINDS.get(route.path, hers.ids))
    for place, kind in enumerate(kinds):
        value = hers.ids[kind]
        if trial.own and route.path not in OPEN_TO_ALL:
            assert trial.address(value) == trial.missing(value, trial.address), kind
        if route.method == "POST":
            assert hers.marks.findall(trial.fields(value)[2]) == [], kind
            continue
        for variant in VARIANTS.get(route.path, [{}]):
            together = trial.parameters(value, trial.names, variant)
            assert together == trial.missing(value, trial.parameters, trial.names, variant), kind
        for number, name in enumerate(sorted(trial.names)):
            if alone is not None and (place - number * alone) % len(kinds) >= alone:
                continue
            for variant in VARIANTS.get(route.path, [{}]):
                found = trial.parameters(value, [name], variant)
                expected = trial.missing(value, trial.parameters, [name], variant)
                assert found == expected, f"{kind} as {name}"
    assert rows_of(quiet_service, hers.owner.account_id) == before
