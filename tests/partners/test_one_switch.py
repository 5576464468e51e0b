"""A program has one switch: `enabled_partner_program` of the API, and Pause and Resume on the
dashboard.
"""

from typing import Any

import pytest

from honeyguide.account_life import closing
from tests.support.partner_network import join, offer, publish
from tests.support.service import Member, Service
from tests.support.web import Operator, operator, text_of

NETWORK = "/v2/partner_network/partner_programs"


class Switched:
    """A program of Alice's that Bob joined, and both ways to switch it."""

    def __init__(self, alice: Operator, bob: Member) -> None:
        self.alice, self.bob = alice, bob
        self.publication = publish(alice)
        self.program = offer(alice, self.publication, referral_pending_duration_enabled=True)
        self.path = f"/v2/publications/{self.publication['uuid']}"
        self.page = f"/program/{self.program['uuid']}"
        self.joined = join(bob, self.program)
        self.n = 0

    def by_api(self, on: bool) -> None:
        answer = self.alice.put(self.path, {"enabled_partner_program": on})
        assert answer.json()["publication"]["enabled_partner_program"] is on

    def by_hand(self, on: bool) -> None:
        """Only with a button that the page shows."""
        do = "resume" if on else "pause"
        assert f'value="{do}"' in self.alice.web.get(self.page).text
        answer = self.alice.web.post(f"{self.page}/act", page=self.page, do=do)
        assert answer.status_code == 303

    def arrive(self) -> dict[str, Any]:
        self.n += 1
        email = f"{self.n}@example.org"
        self.alice.subscribe(email, referrer_code=self.joined["ref_code"])
        rows = self.alice.get(f"/v2/partner_programs/{self.program['uuid']}/referrals").json()
        (row,) = [each for each in rows["referrals"] if each["email"] == email]
        return row  # type: ignore[no-any-return]

    def check(self) -> None:
        """Everything that tells whether it is on says the same."""
        is_on = self.is_on
        row = self.arrive()
        assert (row["status"], row["reason"]) == (
            ("pending", "holding_period") if is_on else ("rejected", "program_paused")
        )
        own = self.bob.get(f"/v2/partner_profile/partner_campaigns/{self.joined['uuid']}").json()
        assert own["partner_campaign"]["status"] == ("active" if is_on else "paused")
        one = f"{NETWORK}/{self.program['uuid']}"
        assert self.bob.get(one).status_code == (200 if is_on else 404)
        listed = self.bob.get(f"{NETWORK}?per_page=200").json()["partner_programs"]
        assert (self.program["uuid"] in [each["uuid"] for each in listed]) is is_on
        shown = text_of(self.alice.web.get(self.page).text)
        assert ("listed in the network" in shown) is is_on
        assert ("This program is off" in shown) is not is_on
        shown = text_of(self.alice.web.get("/publications").text)
        assert ("Active" in shown, "Paused" in shown) == (is_on, not is_on)

    @property
    def is_on(self) -> bool:
        found = self.alice.get(self.path).json()["publication"]
        return found["enabled_partner_program"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("turn_on", ["by_api", "by_hand"])
@pytest.mark.parametrize("turn_off", ["by_api", "by_hand"])
def test_whoever_switches_it_everything_says_the_same(
    service: Service, bob: Member, turn_off: str, turn_on: str
) -> None:
    switched = Switched(operator(service), bob)
    pending = switched.arrive()
    switched.check()
    getattr(switched, turn_off)(False)
    assert not switched.is_on
    switched.check()
    # Nothing else that is changed meanwhile switches it on.
    switched.alice.put(switched.path, {"name": "Wax", "enabled_partner_program": False})
    switched.alice.put(f"/v2/partner_programs/{switched.program['uuid']}", {"cpa": 4})
    switched.check()
    getattr(switched, turn_on)(True)
    assert switched.is_on
    switched.check()
    rows = switched.alice.get(f"/v2/partner_programs/{switched.program['uuid']}/referrals")
    (row,) = [r for r in rows.json()["referrals"] if r["uuid"] == pending["uuid"]]
    assert row["status"] == "pending", "what was pending before runs on"


def test_it_can_be_set_before_there_is_a_program_and_creating_one_turns_it_on(
    alice: Member,
) -> None:
    publication = publish(alice)
    path = f"/v2/publications/{publication['uuid']}"

    def is_on() -> bool:
        shown = alice.get(path).json()["publication"]
        return bool(shown["enabled_partner_program"])

    assert not is_on()
    for on in (True, False):
        answer = alice.put(path, {"name": "New", "enabled_partner_program": on})
        assert answer.status_code == 200, answer.text
        assert answer.json()["publication"]["enabled_partner_program"] is on is is_on()
        assert answer.json()["publication"]["name"] == "New"
    program = offer(alice, publication)
    assert is_on()
    alice.delete(f"/v2/partner_programs/{program['uuid']}")
    assert not is_on()
    assert alice.put(path, {"enabled_partner_program": True}).status_code == 200 and is_on()


@pytest.mark.parametrize("set_on", [True, False])
def test_what_was_set_early_is_so_again_after_a_pause(alice: Member, set_on: bool) -> None:
    publication = publish(alice)
    path = f"/v2/publications/{publication['uuid']}"
    alice.put(path, {"enabled_partner_program": True})
    if not set_on:
        program = offer(alice, publication)
    alice.make(closing.ask)
    assert alice.get(path).json()["publication"]["enabled_partner_program"] is False
    if not set_on:
        alice.delete(f"/v2/partner_programs/{program['uuid']}")
    alice.make(closing.keep)
    assert alice.get(path).json()["publication"]["enabled_partner_program"] is set_on


def test_a_program_of_an_archived_publication_says_why_it_is_off(
    service: Service, bob: Member
) -> None:
    switched = Switched(operator(service), bob)
    switched.alice.put(switched.path, {"status": "archived"})
    page = switched.alice.web.get(switched.page).text
    assert "its publication is archived" in text_of(page)
    assert "listed in the network" not in text_of(page)
    assert f'href="/publications/{switched.publication["uuid"]}"' in page
    own = bob.get(f"/v2/partner_profile/partner_campaigns/{switched.joined['uuid']}").json()
    assert own["partner_campaign"]["status"] == "ended"
    switched.by_api(False)
    switched.alice.put(switched.path, {"status": "active"})
    switched.check()


def test_a_deleted_program_or_publication_has_ended_for_its_partners(
    alice: Member, bob: Member
) -> None:
    for what in ("partner_programs", "publications"):
        publication = publish(alice)
        program = offer(alice, publication)
        joined = join(bob, program)
        uuid = {"partner_programs": program, "publications": publication}[what]["uuid"]
        assert alice.delete(f"/v2/{what}/{uuid}").status_code == 200
        own = bob.get(f"/v2/partner_profile/partner_campaigns/{joined['uuid']}").json()
        assert own["partner_campaign"]["status"] == "ended"
