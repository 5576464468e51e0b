"""What an API key may do: each route of the API needs one scope, and a key without it is told so.
Keys that were made without scopes may do everything.
"""

import re
from pathlib import Path

import pytest

from honeyguide.accounts import keys
from honeyguide.accounts.permissions import SCOPES, Right
from honeyguide.api.call import Call, Route, resource
from honeyguide.api.routes import ROUTES
from honeyguide.api.views import Message
from honeyguide.events import change_log
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ids import new_id
from honeyguide.store.reading import Reading
from tests.api.test_errors import check_shape
from tests.support import raw
from tests.support.readings import in_account
from tests.support.service import ONE_ENGINE, Member

# What a key that may only read does not get, and the scope that it needs.
SECRETS = {
    "/secret": Right.WEBHOOKS,
    "/sparkloop_token": Right.WEBHOOKS,
    "/referral_page": Right.SUBSCRIBERS,
}
FORBIDDEN = 403


def with_scopes(who: Member, *scopes: Right) -> Member:
    key = who.make(keys.create, name="scoped", scopes=scopes)
    return Member(who.service, who.account_id, who.campaign_id, key)


def address(route: Route, who: Member) -> str:
    """Of this route for something that nobody has, so that nothing comes of the request."""
    path = route.path.replace("{campaign_uuid}", who.campaign_id)
    return re.sub(r"\{\w+\}", lambda _: new_id(), path)


@ONE_ENGINE
@pytest.mark.parametrize("scope", SCOPES)
def test_a_key_may_use_the_routes_of_its_scope_and_no_others(alice: Member, scope: Right) -> None:
    scoped = with_scopes(alice, scope)
    for route in ROUTES:
        body = {} if route.writes else None
        answer = scoped.http.request(route.method, address(route, alice), json=body)
        assert (answer.status_code != FORBIDDEN) == (route.right == scope), route.operation_id
        assert answer.status_code not in (401, 500), route.operation_id


@ONE_ENGINE
def test_a_key_without_scopes_may_use_every_route(alice: Member) -> None:
    for route in ROUTES:
        body = {} if route.writes else None
        answer = alice.http.request(route.method, address(route, alice), json=body)
        assert answer.status_code != FORBIDDEN, route.operation_id


def test_reading_needs_the_scope_read_and_secrets_another() -> None:
    for route in ROUTES:
        if not route.writes:
            last = f"/{route.segments[-1]}"
            assert route.right == SECRETS.get(last, Right.READ), route.path
    (reversal,) = (route for route in ROUTES if route.path.endswith("/reversal"))
    assert reversal.right == Right.MONEY
    assert {route.right for route in ROUTES} == {*SCOPES, Right.CAMPAIGN}, "each scope has a use"


async def get_nothing(at: Reading, call: Call[None]) -> Message:
    """Get nothing."""
    raise NotImplementedError


def test_a_route_without_a_right_cannot_be_declared() -> None:
    row = resource("x")
    assert row("GET", "/v2/x", get_nothing, Right.READ).right == Right.READ
    with pytest.raises(TypeError, match="right"):
        row("GET", "/v2/x", get_nothing)


def test_the_refusal_names_the_scope_and_where_to_get_a_key_with_it(alice: Member) -> None:
    reader = with_scopes(alice, Right.READ)
    answer = reader.post(f"{alice.v1}/subscribers", {"email": "ana@example.org"})
    body = check_shape(FORBIDDEN, answer.headers, answer.json())
    assert body["code"] == "insufficient_scope"
    assert body["error"] == (
        "This API key does not have the scope subscribers. "
        f"Create a key that has it: {alice.service.settings.base_url}/account/keys"
    )
    answer = reader.put(f"{alice.v1}/settings", {"hold_days": 3})
    assert answer.status_code == FORBIDDEN
    assert "This needs an API key with all scopes." in answer.json()["error"]
    assert alice.total() == 0 and reader.get(alice.v1).status_code == 200


@ONE_ENGINE
def test_a_missing_scope_is_refused_before_the_body_is_read(alice: Member) -> None:
    reader = with_scopes(alice, Right.READ)
    path = f"{alice.v1}/subscribers"
    announced = {"Content-Length": "1000", "Content-Type": "application/json"}
    assert raw.request(reader, "POST", path, b"{", headers=announced).status == FORBIDDEN
    writer = with_scopes(alice, Right.SUBSCRIBERS)
    assert writer.http.head(path).status_code == FORBIDDEN
    assert raw.request(writer, "GET", "/v1/nothing").status == 404, "as with any key"
    assert raw.request(reader, "DELETE", path).status == 405


@ONE_ENGINE
def test_scopes_are_checked_and_all_of_them_are_no_limit(alice: Member) -> None:
    for wrong, sentence in (
        ((), "Choose at least one"),
        (("campaign",), "campaign is not a scope"),
    ):
        with pytest.raises(Invalid, match=sentence):
            alice.make(keys.create, name="x", scopes=wrong)
    everything = with_scopes(alice, *SCOPES)
    assert everything.put(f"{alice.v1}/settings", {}).status_code == 200
    listed = alice.service.read(lambda tx: keys.of_account(tx, alice.account_id))
    assert {key.scopes for key in listed} == {None}


def test_the_documentation_says_what_each_scope_allows() -> None:
    page = (Path(__file__).parents[2] / "docs/api.md").read_text()
    for scope, about in SCOPES.items():
        assert f"| `{scope}` | {about[0].lower()}{about[1:].rstrip('.')} |" in page


@ONE_ENGINE
def test_the_change_log_says_what_a_new_key_may_do(alice: Member) -> None:
    with_scopes(alice, Right.MONEY, Right.READ)
    (entry,) = alice.service.read(
        lambda tx: change_log.of_account(in_account(tx, alice.account_id), most=1)
    )
    assert entry.differences == (None, {"name": "scoped", "scopes": "read, money"})
