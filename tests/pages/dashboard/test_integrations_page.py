"""The integrations page over HTTP: connected in two steps, watched, paused, and disconnected."""

import re
from collections.abc import Iterator

import pytest

from honeyguide.events import signature
from honeyguide.integrations.about import Limits, first_sync_time
from tests.support.platforms import listmonk
from tests.support.platforms.generic import GenericTool
from tests.support.platforms.stand_in import status as busy
from tests.support.service import ENGINES, Service, until
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of


@pytest.fixture(scope="module")
def tool() -> Iterator[GenericTool]:
    tool = GenericTool(signature.new_secret())
    with tool.serving_apart():
        yield tool


@pytest.fixture(scope="module", params=ENGINES)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param, secret_key="ab" * 32) as service:
        yield service


def connect(alice: Operator, tool: GenericTool, **choices: str) -> str:
    """Both steps; returns the page that follows."""
    answer = alice.web.post("/integrations/generic", url=f"{tool.url}/hook", secret=tool.secret)
    assert "Choose the URL" in text_of(answer.text), text_of(answer.text)
    assert tool.secret not in answer.text  # it comes back encrypted only
    sealed = re.search(r'name="sealed" value="([^"]+)"', answer.text)
    assert sealed
    answer = alice.web.post(
        "/integrations/generic", sealed=sealed[1], audience="url", preset="sparkloop", **choices
    )
    assert answer.status_code == 303, text_of(answer.text)
    return alice.web.get("/integrations").text


def test_a_platform_is_connected_watched_paused_and_disconnected(
    alice: Operator, tool: GenericTool
) -> None:
    ada = alice.subscribe("ada@example.org", name="Ada")
    assert "Which tool sends your newsletter?" in text_of(alice.web.get("/integrations").text)
    assert "whsec_" in alice.web.get("/integrations/generic").text  # a secret to copy
    tool.contacts.clear()
    tool.refuses = {"eve@example.org": {"result": "refused", "reason": "Is it a typo?"}}
    shown = connect(alice, tool)
    assert "is connected" in text_of(shown) and tool.secret not in shown
    until(lambda: ada["uuid"] in tool.contacts)
    assert tool.contacts[ada["uuid"]]["fields"]["RH_CODE"] == ada["ref_code"]
    until(lambda: "Everything is written" in text_of(alice.web.get("/integrations").text))
    shown = text_of(alice.web.get(f"/subscribers/{ada['uuid']}").text)
    assert "Your own tool" in shown and "RH_CODE" in shown

    alice.subscribe("eve@example.org")
    until(lambda: "Is it a typo?" in text_of(alice.web.get("/integrations").text))
    shown = text_of(alice.web.get("/integrations").text)
    assert "Subscribers without a link 1 of 2" in shown
    tool.refuses = {}
    alice.web.post("/integrations", do="retry")
    nobody = "Subscribers without a link 0 of 2"
    until(lambda: nobody in text_of(alice.web.get("/integrations").text))
    assert "could not be written" not in text_of(alice.web.get("/integrations").text)

    alice.web.post("/integrations", do="pause")
    assert "Paused" in text_of(alice.web.get("/integrations").text)
    alice.web.post("/integrations", do="resume")
    alice.web.post("/integrations", do="disconnect", sure="yes")
    shown = text_of(alice.web.get("/integrations").text)
    assert "is disconnected" in shown and "Which tool sends your newsletter?" in shown


def test_a_first_sync_does_not_wait_for_those_who_unsubscribed_before(
    alice: Operator, tool: GenericTool
) -> None:
    for number in range(3):
        status = "unsubscribed" if number == 0 else "active"
        alice.subscribe(f"reader{number}@example.org", status=status)
    shown = text_of(alice.web.get("/integrations").text)
    assert "first sync of your 2 subscribers" in shown
    tool.fail(tool.take, tool.take, *[busy(503)] * 5)  # the key works, then nothing does
    shown = text_of(connect(alice, tool))
    tool.faults.clear()
    assert "Subscribers written to Your own tool 0 of 2" in shown
    alice.web.post("/integrations", do="disconnect", sure="yes")


def test_if_too_many_are_missing_there_the_page_asks(
    service: Service, alice: Operator, tool: GenericTool
) -> None:
    connect(alice, tool)
    until(lambda: "Everything is written" in text_of(alice.web.get("/integrations").text))
    missed = statement(
        "UPDATE integration SET missing = 312, missing_ms = 1", "changes integration"
    )
    service.write(lambda tx: tx.run(missed))
    shown = text_of(alice.web.get("/integrations").text)
    assert "312 subscribers of yours were not in Your own tool" in shown
    alice.web.post("/integrations", do="unsubscribe_missing", sure="yes")
    shown = text_of(alice.web.get("/integrations").text)
    assert "We are looking each of them up." in shown and "312 subscribers" not in shown
    alice.web.post("/integrations", do="disconnect", sure="yes")


def test_a_wrong_key_a_missing_one_and_a_bad_name_are_sentences(
    alice: Operator, tool: GenericTool
) -> None:
    answer = alice.web.post(
        "/integrations/generic", url=f"{tool.url}/hook", secret=signature.new_secret()
    )
    assert answer.status_code == 400 and "does not accept the key" in text_of(answer.text)
    answer = alice.web.post("/integrations/generic", url="", secret="")
    assert answer.status_code == 400 and "Enter this: Your URL." in text_of(answer.text)
    answer = alice.web.post("/integrations/generic", url="http://127.0.0.1:1/", secret=tool.secret)
    assert "could not be reached" in text_of(answer.text)
    answer = alice.web.post("/integrations/generic", sealed="1.abc.def", audience="url")
    assert "Enter the key again" in text_of(answer.text)
    assert alice.web.get("/integrations/nosuch").status_code == 404
    connect(alice, tool)
    answer = alice.web.post("/integrations/fields", code="no good", link="X")
    assert answer.status_code == 400 and "cannot be called no good" in text_of(answer.text)
    alice.web.post("/integrations/fields", code="MY_CODE", link="", code_field="ref")
    shown = text_of(alice.web.get("/integrations").text)
    assert "MY_CODE" in shown and "RH_CODE" not in shown
    # The key stops working; the page says so, and a new one mends it.
    good, tool.secret = tool.secret, signature.new_secret()
    alice.subscribe("bob@example.org")
    until(lambda: "Not working" in text_of(alice.web.get("/integrations").text))
    connect_again = alice.web.post(
        "/integrations/generic", url=f"{tool.url}/hook", secret=tool.secret
    )
    sealed = re.search(r'name="sealed" value="([^"]+)"', connect_again.text)
    assert sealed
    alice.web.post("/integrations/generic", sealed=sealed[1], audience="url")
    until(lambda: "Not working" not in text_of(alice.web.get("/integrations").text))
    tool.secret = good


def choose_list(alice: Operator, server: listmonk.ListmonkServer, audience: int) -> None:
    key = {"url": server.url, "username": listmonk.USER, "token": listmonk.TOKEN}
    answer = alice.web.post("/integrations/listmonk", **key)
    sealed = re.search(r'name="sealed" value="([^"]+)"', answer.text)
    assert sealed, text_of(answer.text)
    answer = alice.web.post(
        "/integrations/listmonk", sealed=sealed[1], audience=str(audience), preset="sparkloop"
    )
    assert answer.status_code == 303, text_of(answer.text)


def test_a_list_that_was_deleted_there_is_replaced_by_another_one(service: Service) -> None:
    server = listmonk.ListmonkServer()
    alice = operator(service)

    def shown() -> str:
        return text_of(alice.web.get("/integrations").text)

    with server.serving_apart():
        choose_list(alice, server, listmonk.LIST)
        for name in ("ada", "eve"):
            alice.subscribe(f"{name}@example.org")
        until(lambda: len(server.people) == 2 and "Everything is written" in shown())
        del server.lists[listmonk.LIST]
        server.people.clear()
        bob = alice.subscribe("bob@example.org")
        until(lambda: "The list was deleted in listmonk." in shown())
        choose_list(alice, server, listmonk.OTHER_LIST)
        until(lambda: len(server.people) == 3)
        assert all(listmonk.OTHER_LIST in each["on"] for each in server.people.values())
        found = server.by_email("bob@example.org")
        assert found is not None and bob["ref_code"] in str(found["attribs"])
        assert "Customers" in shown()


def test_without_a_secret_key_the_page_says_how_to_set_it() -> None:
    with Service("sqlite") as service:
        alice = operator(service)
        for path in ("/integrations", "/integrations/generic"):
            assert "HONEYGUIDE_SECRET_KEY" in text_of(alice.web.get(path).text)
        answer = alice.web.post("/integrations/generic", url="http://127.0.0.1:1/", secret="x")
        assert answer.status_code == 400 and "HONEYGUIDE_SECRET_KEY" in text_of(answer.text)


@pytest.mark.parametrize(
    ("limits", "people", "estimate"),
    [
        (Limits(requests_per_minute=120, per_batch=40, requests_per_batch=40), 0, "1 minute"),
        (Limits(requests_per_minute=120, per_batch=40, requests_per_batch=40), 12_480, "1 h 45"),
        (Limits(requests_per_minute=120, per_batch=40, requests_per_batch=40), 50_000, "6 h 55"),
        (Limits(per_batch=500, requests_per_batch=1), 12_480, "1 minute"),
        (Limits(requests_per_second=10, per_batch=1, requests_per_batch=1), 1_000, "5 minutes"),
    ],
)
def test_the_estimate_of_a_first_sync_is_honest(limits: Limits, people: int, estimate: str) -> None:
    assert estimate in first_sync_time(limits, people)
