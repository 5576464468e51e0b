"""Under /v1 and /v2 the key is checked first: without a good one every path and method is a 401, so
nobody can learn from the answers which paths exist.
"""

from collections import Counter

import httpx
import pytest

from honeyguide.accounts import limits
from honeyguide.api.routes import ROUTES
from honeyguide.kernel.ids import new_id
from tests.api.test_errors import UNKNOWN_PATHS, check_shape
from tests.support import partner_network, raw
from tests.support.service import ENGINES, Member, Service

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
NO_SUCH_KEY = "hg_live_" + "0" * 49


def paths_of_routes(alice: Member) -> list[str]:
    """Every path of the route table, with an id that does not exist in place of each parameter but
    the campaign's.
    """
    concrete = (
        path.replace("{campaign_uuid}", alice.campaign_id)
        for path in dict.fromkeys(route.path for route in ROUTES)
    )
    return [
        "/".join(new_id() if part.startswith("{") else part for part in path.split("/"))
        for path in concrete
    ]


@pytest.fixture
def unlimited_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """One address sends hundreds of wrong keys here; the limit on that has a test of its own."""
    monkeypatch.setattr(limits.WrongKeys, "another", lambda self, peer, now_ms: False)


@pytest.mark.usefixtures("unlimited_guesses")
@pytest.mark.parametrize("key", ["", "wrong", NO_SUCH_KEY])
def test_without_a_good_key_every_path_and_method_is_a_401(alice: Member, key: str) -> None:
    headers = {"X-Api-Key": key}  # an empty one is left out
    wrong = []
    for path in [*paths_of_routes(alice), *UNKNOWN_PATHS]:
        for method in METHODS:
            answer = raw.request(alice, method, path, headers=headers)
            if (
                answer.status != 401
                or check_shape(401, answer.headers, answer.json())["code"] != "unauthorized"
            ):
                wrong.append((method, path, answer.status))
    assert not wrong
    assert (
        httpx.head(f"{alice.service.url}/v1/nothing", headers=headers, verify=False).status_code
        == 401
    )


def test_with_a_good_key_a_wrong_method_is_a_405_and_an_unknown_path_a_404(alice: Member) -> None:
    served = Counter((route.path, route.method) for route in ROUTES)
    assert set(served.values()) == {1}, "two routes answer the same method and path"
    templates = list(dict.fromkeys(route.path for route in ROUTES))
    for template, path in zip(templates, paths_of_routes(alice), strict=True):
        answer = raw.request(alice, "PATCH", path, headers={"X-Api-Key": alice.key})
        assert answer.status == 405, path
        assert answer.headers["allow"] == ", ".join(
            sorted(route.method for route in ROUTES if route.path == template)
        )
        assert check_shape(405, answer.headers, answer.json())["code"] == "method_not_allowed"
    for path in UNKNOWN_PATHS:
        for method in METHODS:
            answer = raw.request(alice, method, path, headers={"X-Api-Key": alice.key})
            assert answer.status == 404, (method, path)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_unknown_path_counts_against_the_rate_limit(engine: str) -> None:
    """Every request past authentication counts, whatever its answer."""
    with Service(engine, rate_limit=2) as service:
        alice = service.member("alice")
        statuses = [alice.get("/v1/nothing").status_code, alice.delete("/v1/campaigns").status_code]
        assert [*statuses, alice.get("/v1/nothing").status_code] == [404, 405, 429]


def test_uuids_are_accepted_in_any_case_and_answered_in_lower_case(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    campaign, uuid = alice.campaign_id.upper(), ana["uuid"].upper()
    assert alice.get(f"/v1/campaigns/{campaign}").json()["campaign"]["uuid"] == alice.campaign_id
    assert (
        alice.get(f"/v1/campaigns/{campaign}/subscribers/{uuid}").json()["subscriber"]["uuid"]
        == ana["uuid"]
    )
    assert alice.get(f"/v2/subscribers/{uuid.title()}").json()["subscriber"]["uuid"] == ana["uuid"]
    publication = partner_network.publish(alice)
    program = partner_network.offer(alice, {"uuid": publication["uuid"].upper()})
    assert program["publication_uuid"] == publication["uuid"]
    assert (
        alice.get(f"/v2/partner_programs/{program['uuid'].upper()}").json()["partner_program"]
        == program
    )
    assert alice.delete(f"{alice.v1}/subscribers/{uuid}").status_code == 200
    assert alice.get(f"{alice.v1}/subscribers/{ana['uuid']}").status_code == 404
