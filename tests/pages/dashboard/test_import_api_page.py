"""Importing from an API on the dashboard: the key, the fetch in the background, the documents."""

from collections.abc import Iterator

import pytest
from aiohttp import web

from honeyguide.moving import remote_people
from tests.support.incumbent import KEY, IncumbentServer
from tests.support.partner_network import png, publication_fields
from tests.support.platforms.stand_in import garbage, pass_on, status
from tests.support.service import ENGINES, Service, until
from tests.support.tables import dump
from tests.support.web import Operator, mistakes, operator, text_of

PAGE = "/subscribers/import/api"


@pytest.fixture(scope="module", params=ENGINES)
def with_secret(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param, secret_key="ab" * 32) as service:
        yield service


@pytest.fixture
def server() -> Iterator[IncumbentServer]:
    server = IncumbentServer(250)
    with server.serving_apart():
        yield server


def begin(alice: Operator, server: IncumbentServer, key: str = KEY) -> str:
    answer = alice.web.post(PAGE, base_url=server.url, key=key)
    assert answer.status_code == 303, text_of(answer.text)
    return str(answer.headers["location"])


def wait_for(alice: Operator, page: str, text: str) -> str:
    until(lambda: text in text_of(alice.web.get(page).text))
    return text_of(alice.web.get(page).text)


def test_a_program_moves_in(with_secret: Service, server: IncumbentServer) -> None:
    alice = operator(with_secret)
    server.publications = [
        {
            **publication_fields(name="The Old Wax"),
            "uuid": "pub-1",
            "logo": f"{server.url}/pictures/wax.png",
        },
        {"uuid": "pub-2", "name": "Half a publication"},
    ]
    server.pictures["wax.png"] = png()
    server.programs = [
        {
            "uuid": "prog-1",
            "publication_uuid": "pub-1",
            "cpa": 2,
            "max_payout": 90,
            "total_budget": 300,
            "redirect_url": "https://wax.example/welcome",
            "show_in_directory": True,
        },
        {"uuid": "prog-2", "publication_uuid": "pub-2", "cpa": 2},
    ]
    page = begin(alice, server)
    shown = wait_for(alice, page, "Everything is fetched")
    assert "250 of 250 subscribers" in shown and "fingerprint 3" in shown
    assert all(KEY not in str(row) for row in dump(with_secret)["remote_fetch"])
    preview = alice.web.get(page.replace("/api/", "/"))
    assert preview.status_code == 200 and "250 lines" in text_of(preview.text)
    assert alice.total() == 0
    documents = text_of(alice.web.get("/subscribers/import/documents").text)
    assert "Payout 2026-09 Payout No" in documents
    assert "The Old Wax Publication Yes" in documents
    assert "Half a publication Publication categories is required." in documents
    assert "Partner program Partner program Its publication was not created here." in documents
    (publication,) = alice.get("/v2/publications").json()["publications"]
    (program,) = alice.get("/v2/partner_programs").json()["partner_programs"]
    assert not publication["enabled_partner_program"] and not program["show_in_directory"]


def test_the_import_is_started_from_the_preview(
    with_secret: Service, server: IncumbentServer
) -> None:
    alice = operator(with_secret)
    page = begin(alice, server)
    wait_for(alice, page, "Everything is fetched")
    preview = page.replace("/api/", "/")
    chosen = {name: str(place) for name, place in remote_people.MAPPING.items()}
    alice.web.post(preview, do="start", **chosen)
    until(lambda: "Import finished" in alice.web.get(preview).text)
    assert alice.total() == 250
    assert "View the import" in alice.web.get(page).text


def test_a_key_that_stops_working_can_be_replaced(
    with_secret: Service, server: IncumbentServer
) -> None:
    alice = operator(with_secret)
    page = begin_and_revoke(alice, server)
    shown = wait_for(alice, page, "does not accept the key.")
    assert "Go on" in shown and "Stopped" in alice.web.get(PAGE).text
    wrong = alice.web.post(page, do="resume", key="two words")
    assert mistakes(wrong.text) == {
        "key": "API key is not one. Copy it from the settings of the other service."
    }
    alice.web.post(page, do="resume", key="newer")
    wait_for(alice, page, "Everything is fetched")


def begin_and_revoke(alice: Operator, server: IncumbentServer) -> str:
    """The first request works."""
    server.key = "new"

    async def revoke(request: web.Request) -> web.StreamResponse:
        server.key = "newer"
        return await status(401)(request)

    server.fail(pass_on, revoke)
    return begin(alice, server, "new")


def test_what_the_form_refuses(with_secret: Service, server: IncumbentServer) -> None:
    alice = operator(with_secret)

    def refused(**fields: str) -> str:
        answer = alice.web.post(PAGE, **{"base_url": server.url, "key": KEY, **fields})
        assert answer.status_code == 400
        return text_of(answer.text)

    assert "does not accept the key." in refused(key="wrong")
    assert "API key is required." in refused(key="")
    assert "Address of the API must be an absolute URL" in refused(base_url="ftp://x")
    server.fail(garbage)
    assert "that we do not understand: it is not JSON." in refused()
    assert KEY not in refused(base_url="http://127.0.0.1:1")
    assert "Earlier" not in text_of(alice.web.get(PAGE).text)


def test_one_at_a_time_and_discarded(with_secret: Service, server: IncumbentServer) -> None:
    alice, mallory = operator(with_secret), operator(with_secret, "mallory")

    server.fail(pass_on)
    server.before = status(503, retry_after="3000")
    page = begin(alice, server)
    wait_for(alice, page, "has a problem of its own (status 503).")
    server.before = None
    again = alice.web.post(PAGE, base_url=server.url, key=KEY)
    assert "is fetched, or discard that." in text_of(again.text)
    assert mallory.web.get(page).status_code == 404
    assert mallory.web.post(page, page="/subscribers/import", do="forget").status_code == 404
    assert alice.web.post(page, do="forget").status_code == 303
    assert alice.web.get(page).status_code == 404
    assert begin(alice, server)


def test_without_a_secret_key_it_says_how_to_get_one(alice: Operator) -> None:
    assert "HONEYGUIDE_SECRET_KEY" in alice.web.get(PAGE).text
    answer = alice.web.post(PAGE, page="/settings", base_url="http://127.0.0.1:1", key=KEY)
    assert answer.status_code == 400
