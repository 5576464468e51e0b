"""Parting from a partner in a real browser: what is asked before, and what both sides see after."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, PHONE, Appearance, PageAt
from tests.browser.test_partners import sit_down
from tests.support.partner_network import join, offer, publish
from tests.support.service import Member, Service
from tests.support.web import operator

REASON = "Half of your referrals never opened an issue."


class Partings:
    """One program with a partner of each kind, and one partner in programs of each kind."""

    def __init__(self, service: Service) -> None:
        self.alice, self.bob = operator(service, "alice"), operator(service, "bob")
        self.program = self.offer("The Morning Wax")
        self.joined = join(self.bob, self.program)
        self.bring(self.joined, 3)
        removed = self.add(service, "carol", pending=2)
        self.remove(self.program, removed, reason=REASON)
        blocked = self.add(service, "dave", pending=1)
        self.alice.post(f"{self.path(self.program, blocked)}/block", {"reason": REASON})
        left = self.add(service, "erin", pending=0, leaves=True)
        gone, quit_ = self.offer("Comb & Co"), self.offer("The Smoker")
        thrown_out, quitted = join(self.bob, gone), join(self.bob, quit_)
        self.remove(gone, thrown_out, reason=REASON)
        self.bob.delete(f"/v2/partner_profile/partner_campaigns/{quitted['uuid']}")
        self.alices = {
            "program": f"/program/{self.program['uuid']}",
            "active": f"/program/partners/{self.joined['uuid']}",
            "removed": f"/program/partners/{removed['uuid']}",
            "blocked": f"/program/partners/{blocked['uuid']}",
            "left": f"/program/partners/{left['uuid']}",
        }
        self.bobs = {
            "joined": f"/earnings/{self.joined['uuid']}",
            "joined-removed": f"/earnings/{thrown_out['uuid']}",
            "joined-left": f"/earnings/{quitted['uuid']}",
            "earnings": "/earnings",
            "network-removed": f"/network/{gone['uuid']}",
            "network-left": f"/network/{quit_['uuid']}",
            "network": "/network",
        }

    def offer(self, name: str) -> dict[str, Any]:
        hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 7}
        return offer(self.alice, publish(self.alice, name=name), **hold)

    def bring(self, joined: dict[str, Any], pending: int) -> None:
        for n in range(pending):
            email = f"{n}.{joined['ref_code']}@example.org"
            self.alice.subscribe(email, referrer_code=joined["ref_code"])

    def add(
        self, service: Service, name: str, *, pending: int, leaves: bool = False
    ) -> dict[str, Any]:
        partner: Member = service.member(name)
        joined = join(partner, self.program)
        self.bring(joined, pending)
        if leaves:
            partner.delete(f"/v2/partner_profile/partner_campaigns/{joined['uuid']}")
        return joined

    def path(self, program: dict[str, Any], joined: dict[str, Any]) -> str:
        return f"/v2/partner_programs/{program['uuid']}/partners/{joined['uuid']}"

    def remove(self, program: dict[str, Any], joined: dict[str, Any], reason: str) -> None:
        answer = self.alice.delete(self.path(program, joined), params={"reason": reason})
        assert answer.status_code == 200, answer.text


@pytest.fixture(scope="module")
def partings(service: Service) -> Partings:
    return Partings(service)


@pytest.mark.long
def test_every_page_in_every_look(
    service: Service, partings: Partings, page_at: PageAt, looks_good: Callable[[Page], None]
) -> None:
    for who, paths in ((partings.alice, partings.alices), (partings.bob, partings.bobs)):
        page = sit_down(page_at(DESKTOP), who)
        for path in paths.values():
            answer = page.goto(service.url + path)
            assert answer is not None and answer.status == 200, path
            looks_good(page)


@pytest.mark.long
def test_every_page_loaded_in_every_look(
    service: Service, partings: Partings, appearance: Appearance
) -> None:
    for who, paths in ((partings.alice, partings.alices), (partings.bob, partings.bobs)):
        page = sit_down(appearance.page(), who)
        for name, path in paths.items():
            page.goto(service.url + path)
            appearance.check(page, f"parting-{name}")
            leave = page.get_by_role("button", name="Leave program")
            if leave.count():
                leave.click()
                appearance.check(page, "parting-leave")


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_owner_and_partner_part_and_meet_again(
    service: Service, page_at: PageAt, scripts: bool
) -> None:
    partings = Partings(service)
    owner = sit_down(page_at(DESKTOP, scripts=scripts), partings.alice)
    partner = sit_down(page_at(PHONE, scripts=scripts), partings.bob)

    owner.goto(service.url + partings.alices["program"])
    owner.get_by_role("link", name="Bob").first.click()
    owner.get_by_text("Remove this partner…").click()
    expect(owner.get_by_role("group", name="3 pending referrals, worth $9.00")).to_be_visible()
    owner.get_by_label("End them now").check()
    owner.get_by_label("Reason").fill(REASON)
    owner.get_by_role("button", name="Remove partner").click()
    expect(owner.get_by_role("status")).to_contain_text("was removed from this program.")
    expect(owner.locator("main")).not_to_contain_text("pending referral")

    partner.goto(service.url + partings.bobs["joined"])
    expect(partner.locator("main")).to_contain_text("Removed by the owner")
    expect(partner.locator("main")).to_contain_text(REASON)
    expect(partner.get_by_role("img", name="3 rejected")).to_be_visible()
    expect(partner.get_by_text("You were removed from the program.")).to_have_count(1)
    partner.goto(f"{service.url}/network/{partings.program['uuid']}")
    expect(partner.get_by_role("button", name="Join and get your links")).to_have_count(0)

    owner.get_by_role("button", name="Allow again").click()
    expect(owner.get_by_role("status")).to_contain_text("is allowed in this program again.")

    partner.goto(service.url + partings.bobs["joined"])
    partner.get_by_role("button", name="Leave program").click()
    question = partner.get_by_role("dialog") if scripts else partner.locator("main")
    expect(question).to_contain_text("No referral is pending.")
    question.get_by_role("button", name="Leave program").click()
    expect(partner.get_by_role("status")).to_contain_text("You left the partner program of")
    partner.get_by_role("link", name="join again").click()
    partner.get_by_role("button", name="Join and get your links").click()
    expect(partner.get_by_role("status")).to_contain_text("You joined the partner program of")
    expect(partner.get_by_label("Referral code")).to_have_value(partings.joined["ref_code"])
