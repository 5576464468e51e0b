"""Link hosts on the dashboard and in the API."""

from collections.abc import Iterator

import pytest

from honeyguide.events.name_servers import TextRecords
from honeyguide.operating.doctor import link_hosts as doctor
from honeyguide.subscribers import link_hosts
from tests.pages.dashboard.test_form_tenancy import promote
from tests.support.name_server import NameServer, use_name_server
from tests.support.service import ENGINES, Service
from tests.support.web import Operator, mistakes, operator, text_of

PAGE = "/settings/link-hosts"


@pytest.fixture(scope="module")
def names() -> Iterator[NameServer]:
    with NameServer() as running:
        yield running


@pytest.fixture(scope="module", params=ENGINES)
def service(request: pytest.FixtureRequest, names: NameServer) -> Iterator[Service]:
    with Service(request.param) as running:
        use_name_server(running, names)
        yield running


def test_a_host_is_added_checked_and_removed_on_the_page(
    alice: Operator, names: NameServer
) -> None:
    names.texts.clear()
    assert alice.web.post(PAGE, do="add", host="Go.Page.example").status_code == 303
    (made,) = alice.get("/v1/link_hosts").json()["link_hosts"]
    shown = text_of(alice.web.get(PAGE).text)
    assert made["record_value"] in shown and "_honeyguide.go.page.example" in shown
    assert "Not verified" in shown and "Not checked yet" in shown
    assert alice.web.post(PAGE, do="check", id=made["uuid"]).status_code == 303
    assert "was not found" in text_of(alice.web.get(PAGE).text)
    names.texts[made["record_name"]] = [made["record_value"]]
    assert alice.web.post(PAGE, do="check", id=made["uuid"]).status_code == 303
    shown = text_of(alice.web.get(PAGE).text)
    assert "is verified and serves your links" in shown and "Not verified" not in shown
    assert alice.web.post(PAGE, do="remove", id=made["uuid"]).status_code == 303
    assert alice.get("/v1/link_hosts").json() == {"link_hosts": []}
    assert alice.web.post(PAGE, do="check", id=made["uuid"]).status_code == 404


def test_a_wrong_host_is_explained_beside_its_field(alice: Operator) -> None:
    for host, says in (
        ("", "Enter a host name"),
        ("*.example.org", "Host must be one host name"),
        ("127.0.0.1", "Host must be a host name, not an IP address"),
        ("x" * 300 + ".example", "Host must be at most 241"),
    ):
        answer = alice.web.post(PAGE, do="add", host=host)
        assert answer.status_code == 400 and says in mistakes(answer.text)["host"], host


def test_checks_of_an_account_are_limited(alice: Operator) -> None:
    asked, _ = alice.make(link_hosts.add, "go.often.example")
    for _ in range(link_hosts.LOOKUPS.most):
        alice.make(link_hosts.begin_check, asked.id)
    assert alice.web.post(PAGE, do="check", id=asked.id).status_code == 429


def test_the_api_adds_and_removes_hosts(alice: Operator, bob: Operator, names: NameServer) -> None:
    answer = alice.post("/v1/link_hosts", {"host": "go.api.example"})
    assert answer.status_code == 201, answer.text
    made = answer.json()["link_host"]
    assert made == {
        "uuid": made["uuid"],
        "host": "go.api.example",
        "is_verified": False,
        "record_name": "_honeyguide.go.api.example",
        "record_value": made["record_value"],
        "verified_at": None,
        "checked_at": None,
        "problem": None,
        "created_at": made["created_at"],
    }
    assert alice.get(f"/v1/link_hosts/{made['uuid']}").json() == {"link_host": made}
    again = alice.post("/v1/link_hosts", {"host": "go.api.example."})
    assert again.status_code == 200 and again.json()["link_host"]["uuid"] == made["uuid"]
    theirs = bob.post("/v1/link_hosts", {"host": "go.api.example"}).json()["link_host"]
    assert theirs["record_value"] != made["record_value"]
    assert alice.delete(f"/v1/link_hosts/{made['uuid']}").status_code == 200
    assert alice.get(f"/v1/link_hosts/{made['uuid']}").status_code == 404
    assert len(bob.get("/v1/link_hosts").json()["link_hosts"]) == 1


@pytest.mark.parametrize("host", [None, "", 7, "bücher.example", "a" * 300, "*.x.example"])
def test_the_api_refuses_what_is_no_host(service: Service, host: object) -> None:
    answer = operator(service).post("/v1/link_hosts", {"host": host})
    assert answer.status_code == 400 and answer.json()["error"], answer.text


def test_doctor_asks_each_host_as_a_visitor_would(
    service: Service, alice: Operator, names: NameServer
) -> None:
    hosts = [f"go.{name}.example" for name in ("well", "lost", "else")]
    for host in hosts:
        asked, _ = alice.make(link_hosts.add, host)
        if host != "go.else.example":  # which comes here, too, but is not verified
            alice.make(link_hosts.record_check, asked.id, TextRecords((asked.token,)))
    names.addresses = {host: ["127.0.0.1"] for host in ("go.well.example", "go.else.example")}
    outbound, base_url = service.services.outbound, service.settings.base_url
    found = service.run(doctor.ask(outbound, base_url, hosts))
    assert found.level == "warning" and "go.well.example" not in found.message
    assert "go.lost.example: The host name could not be resolved" in found.message
    assert "go.else.example: another server answers" in found.message
    assert service.run(doctor.ask(outbound, base_url, hosts[:1])).message == "All answer"


def test_the_administrator_sees_the_hosts_of_all_accounts(
    service: Service, alice: Operator, bob: Operator
) -> None:
    promote(service, alice)
    bob.post("/v1/link_hosts", {"host": "go.seen-by-admin.example"})
    shown = text_of(alice.web.get("/administration").text)
    assert "go.seen-by-admin.example" in shown and bob.email in shown
    assert "go.seen-by-admin.example" not in alice.web.get(PAGE).text
