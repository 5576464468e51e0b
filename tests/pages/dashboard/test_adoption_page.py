"""The question on the integrations page, over HTTP: what another tool wrote is counted, nothing is
written meanwhile, and either answer works without JavaScript.
"""

from collections.abc import Iterator

import pytest

from tests.pages.dashboard.test_integrations_page import choose_list
from tests.support.platforms import listmonk
from tests.support.service import ENGINES, Service, until
from tests.support.web import Operator, operator, text_of


@pytest.fixture(scope="module", params=ENGINES)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param, secret_key="ab" * 32) as service:
        yield service


@pytest.fixture
def server() -> Iterator[listmonk.ListmonkServer]:
    server = listmonk.ListmonkServer()
    with server.serving_apart():
        yield server


def occupy(server: listmonk.ListmonkServer) -> None:
    for number in range(3):
        person = server.add(f"reader{number}@example.org")
        person["attribs"].update(rh_code=f"Reader{number}", rh_totref="2")
    person["attribs"].pop("rh_totref")


def shown(alice: Operator) -> str:
    return text_of(alice.web.get("/integrations").text)


def written(server: listmonk.ListmonkServer) -> list[str]:
    return [each.path for each in server.seen if each.method not in ("GET", "HEAD")]


def test_the_page_asks_and_replaces(service: Service, server: listmonk.ListmonkServer) -> None:
    occupy(server)
    alice = operator(service)
    choose_list(alice, server, listmonk.LIST)
    assert "We are reading its list first." in shown(alice)
    until(lambda: "Waiting for your answer" in shown(alice))
    page = shown(alice)
    assert "We found 3 codes in rh_code and 2 counts in rh_totref" in page, page
    assert written(server) == []
    alice.web.post("/integrations", do="replace", sure="yes")
    until(lambda: "Everything is written" in shown(alice))
    codes = {each["attribs"]["rh_code"] for each in server.people.values()}
    assert not any(code.startswith("Reader") for code in codes)
    alice.web.post("/integrations", do="replace", sure="yes")
    assert "This was answered already." in shown(alice)


def test_the_page_adopts_and_lists_what_it_could_not(
    service: Service, server: listmonk.ListmonkServer
) -> None:
    occupy(server)
    odd = server.add("odd@example.org")
    odd["attribs"].update(rh_code="<b>no</b>", rh_lastreward="Mug")
    alice = operator(service)
    choose_list(alice, server, listmonk.LIST)
    until(lambda: "Waiting for your answer" in shown(alice))
    assert "1 reward in rh_lastreward" in shown(alice)
    people = {
        each["email"]: each for each in alice.get(f"{alice.v1}/subscribers").json()["subscribers"]
    }
    page = text_of(alice.web.get(f"/subscribers/{people['odd@example.org']['uuid']}").text)
    assert "Nothing is written until you answer" in page
    answer = alice.web.post("/integrations", do="adopt")
    assert answer.status_code == 303
    until(lambda: "Everything is written" in shown(alice))
    listed = shown(alice)
    assert "1 code could not be adopted" in listed and "<b>no</b>" in listed, listed
    assert server.by_email("odd@example.org")["attribs"]["rh_code"] == "<b>no</b>"
    assert server.by_email("reader1@example.org")["attribs"]["rh_code"] == "Reader1"
    friend = alice.subscribe("friend@example.org", referrer_code="READER1")
    assert friend["referrer_code"] == people["reader1@example.org"]["ref_code"]


def test_nobody_answers_for_another_account(
    service: Service, server: listmonk.ListmonkServer
) -> None:
    occupy(server)
    alice, mallory = operator(service), operator(service, "mallory")
    choose_list(alice, server, listmonk.LIST)
    until(lambda: "Waiting for your answer" in shown(alice))
    answer = mallory.web.post("/integrations", do="replace", sure="yes")
    assert answer.status_code == 404
    assert "Waiting for your answer" in shown(alice)
    assert written(server) == []
