"""The page of API keys over HTTP: one is made with scopes and an expiry, shown once, rotated and
revoked.
"""

import html
import re
from typing import Any

import pytest

from honeyguide.accounts import keys
from honeyguide.accounts.key_states import Key
from honeyguide.accounts.permissions import Role
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, iso
from honeyguide.pages.dashboard.settings.api_keys import shown_key
from tests.support.service import ONE_ENGINE, Service
from tests.support.team import colleague
from tests.support.web import Operator, text_of

PAGE = "/account/keys"
NOW_MS = 1_900_000_000_000
LIVING = Key("id", "Tool", "hg_live_1234", 0, None, None, None, None, None)


def list_status(who: Operator, key: str) -> int:
    return who.http.get(f"{who.v1}/subscribers", headers={"X-Api-Key": key}).status_code


def key_in(page: str) -> str:
    found = re.search(r'id="new-key">(hg_live_\w+)<', page)
    assert found
    return found[1]


def button(page: str, name: str, action: str) -> str:
    """Where the button of the key with this name leads."""
    found = re.search(rf'action="({PAGE}/[^"]+/{action})"', page[page.index(f"<bdi>{name}<") :])
    assert found
    return found[1]


def newest(who: Operator) -> Key:
    found: list[Key] = who.service.read(lambda tx: keys.of_account(tx, who.account_id))
    return found[0]


def test_a_key_created_here_is_shown_once_and_works_until_it_is_revoked(
    service: Service, alice: Operator
) -> None:
    made = alice.web.post(PAGE, page=PAGE, name="My tool")
    key = key_in(made.text)
    assert made.status_code == 201
    url = f"{service.url}/v1/campaigns/{alice.campaign_id}/subscribers"
    assert f"curl {url} \\\n  -H 'X-Api-Key: {key}'" in html.unescape(made.text)
    assert list_status(alice, key) == 200
    again = alice.web.get(PAGE).text
    assert key not in again and key[:12] in again and "My tool" in again
    answer = alice.web.post(button(again, "My tool", "revoke"), page=PAGE)
    assert (answer.status_code, answer.headers["location"]) == (303, PAGE)
    assert list_status(alice, key) == 401
    assert "1 key that ended" in text_of(alice.web.get(PAGE).text)


def test_scopes_and_expiry_are_as_chosen(alice: Operator) -> None:
    form: dict[str, Any] = {"access": "some", "scopes": ["read", "money"], "expires": "90"}
    made = alice.web.post(PAGE, page=PAGE, name="Reader", **form)
    assert made.status_code == 201
    key = newest(alice)
    assert key.scopes == "read money"
    assert key.expires_ms is not None and key.expires_ms - key.created_ms == 90 * DAY_MS
    refused = alice.http.delete(
        f"{alice.v1}/subscribers/x", headers={"X-Api-Key": key_in(made.text)}
    )
    assert refused.json()["code"] == "insufficient_scope"
    form = {"access": "all", "scopes": ["read"], "expires": ""}
    alice.web.post(PAGE, page=PAGE, name="All", **form)
    assert (newest(alice).scopes, newest(alice).expires_ms) == (None, None)


@ONE_ENGINE
def test_a_key_works_through_its_last_day_in_the_accounts_time_zone(alice: Operator) -> None:
    zone = alice.web.post("/settings/time-zone", page="/settings", time_zone="Asia/Tokyo")
    assert zone.status_code == 303
    alice.web.post(PAGE, page=PAGE, name="Dated", expires="date", date="2031-05-04")
    assert iso(newest(alice).expires_ms or 0) == "2031-05-04T15:00:00.000Z"


def test_a_rotated_key_is_shown_with_its_successor(alice: Operator) -> None:
    alice.web.post(PAGE, page=PAGE, name="Turning")
    page = alice.web.get(PAGE).text
    rotate = button(page, "Turning", "rotate")
    made = alice.web.post(rotate, page=PAGE, overlap="168")
    assert made.status_code == 201 and list_status(alice, key_in(made.text)) == 200
    again = alice.web.get(PAGE).text
    assert "Being replaced until " in text_of(again) and again.count("<bdi>Turning<") == 2
    twice = alice.web.post(rotate, page=PAGE, overlap="168")
    assert twice.status_code == 400
    assert "This key is being replaced already." in text_of(twice.text)
    wrong = alice.web.post(button(page, "test", "rotate"), page=PAGE, overlap="9")
    assert wrong.status_code == 400 and "Choose how long the old key still works." in wrong.text


@ONE_ENGINE
@pytest.mark.parametrize(
    ("fields", "field", "sentence"),
    [
        ({"name": " "}, "key-name", "Enter a name for the key, such as the tool that will use it."),
        ({"name": "x" * 256}, "key-name", "Name must be at most 255 characters long."),
        ({"access": "some"}, "scopes", "Choose at least one scope."),
        ({"access": "some", "scopes": ["campaign"]}, "scopes", "campaign is not a scope."),
        ({"expires": "31"}, "expires", "Choose when the key expires."),
        ({"expires": "date"}, "date", "Last day must be a date such as 2026-11-15."),
        (
            {"expires": "date", "date": "2020-01-01"},
            "date",
            "Last day must be today or later, within ten years.",
        ),
        (
            {"expires": "date", "date": "9999-12-31"},
            "date",
            "Last day must be today or later, within ten years.",
        ),
    ],
)
def test_a_mistake_is_explained_beside_its_field_and_what_was_typed_is_kept(
    alice: Operator, fields: dict[str, Any], field: str, sentence: str
) -> None:
    answer = alice.web.post(PAGE, page=PAGE, **{"name": "Tool", **fields})
    assert answer.status_code == 400
    assert answer.text.count('aria-invalid="true"') == 1
    wrong = re.search(rf'<p class="wrong" id="h-{field}"><svg.*?</svg>([^<]*)</p>', answer.text)
    assert wrong and html.unescape(wrong[1]).startswith(sentence)
    assert f'aria-describedby="h-{field}"' in answer.text
    assert newest(alice).name == "test", "no key was made"
    chosen = "some" if "access" in fields else "all"
    assert f'value="{chosen}" checked' in answer.text


@pytest.mark.parametrize(
    ("changed", "state", "until"),
    [
        ({}, "Active", ""),
        ({"expires_ms": NOW_MS + 90 * DAY_MS}, "Active", "until 15 Jun 2030"),
        ({"expires_ms": NOW_MS + 5 * DAY_MS}, "Expires in 5 days", "22 Mar 2030, 17:46 UTC"),
        ({"expires_ms": NOW_MS + 5 * DAY_MS - 1}, "Expires in 5 days", "22 Mar 2030, 17:46 UTC"),
        ({"expires_ms": NOW_MS + HOUR_MS}, "Expires in 1 hour", "17 Mar 2030, 18:46 UTC"),
        ({"expires_ms": NOW_MS}, "Expired", "17 Mar 2030, 17:46 UTC"),
        (
            {"expires_ms": NOW_MS + HOUR_MS, "replaced_by": "x"},
            "Being replaced",
            "until 17 Mar 2030, 18:46 UTC",
        ),
        ({"revoked_ms": NOW_MS - DAY_MS, "expires_ms": 1}, "Revoked", "16 Mar 2030"),
    ],
)
def test_the_state_of_a_key_in_words(changed: dict[str, Any], state: str, until: str) -> None:
    shown = shown_key(LIVING._replace(**changed), NOW_MS)
    assert (shown.state, shown.until) == (state, until)


@ONE_ENGINE
def test_an_expired_key_stays_in_sight_until_it_is_replaced_or_revoked(
    service: Service, alice: Operator
) -> None:
    alice.make(keys.create, name="Forgotten", expires_ms=service.now_ms() + MINUTE_MS)
    service.set_clock(61)
    page = alice.web.get(PAGE).text
    assert "that ended" not in page and "Expired" in page
    alice.web.post(button(page, "Forgotten", "rotate"), page=PAGE, overlap="0")
    assert "1 key that ended" in text_of(alice.web.get(PAGE).text)


@ONE_ENGINE
def test_nobody_but_owners_is_led_to_the_keys(service: Service, alice: Operator) -> None:
    editor = colleague(service, alice, Role.EDITOR)
    assert (alice.web.get(PAGE).status_code, editor.web.get(PAGE).status_code) == (200, 403)
    for path in ("/account", "/search?q=key"):
        assert PAGE in alice.web.get(path).text
        assert PAGE not in editor.web.get(path).text
