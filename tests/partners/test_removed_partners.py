"""An owner removes or blocks a partner, a partner leaves: what comes with the code no longer
counts, what is pending finishes unless the owner ends it, and each side can take back only what it
did.
"""

from typing import Any

import pytest

from honeyguide.signups import removed_partners
from tests.support.partner_network import join, offer
from tests.support.service import Member, Service
from tests.support.stores import statement

DAY_S = 86_400
# Whatever is taken back before it has passed is told to nobody.
MINUTE_S = 60
FEE = 3


class Deal:
    """A program of Alice's that Bob joined, with a holding period of a day unless it is given."""

    def __init__(
        self, alice: Member, bob: Member, program: dict[str, Any] | None = None, **terms: Any
    ) -> None:
        self.alice, self.bob = alice, bob
        given = {
            "referral_pending_duration_enabled": True,
            "referral_pending_duration": 1,
            **terms,
        }
        self.program = program or offer(alice, **given)
        self.joined = join(bob, self.program)
        self.api = f"/v2/partner_programs/{self.program['uuid']}"
        self.partner = f"{self.api}/partners/{self.joined['uuid']}"
        self.own = f"/v2/partner_profile/partner_campaigns/{self.joined['uuid']}"
        self.network = f"/v2/partner_network/partner_programs/{self.program['uuid']}"
        self.n = 0

    def arrive(self) -> str:
        self.n += 1
        email = f"{self.n}.{self.joined['ref_code']}@example.org"
        self.alice.subscribe(email, referrer_code=self.joined["ref_code"])
        return email

    def outcome(self, email: str) -> tuple[str, str | None]:
        rows = self.alice.get(f"{self.api}/referrals?per_page=200").json()["referrals"]
        (row,) = [each for each in rows if each["email"] == email]
        return row["status"], row["reason"]

    def spent(self) -> float:
        return self.alice.get(f"{self.api}/spend").json()["spend"]["spent"]  # type: ignore[no-any-return]

    def status(self) -> tuple[str, str]:
        """As the owner and as the partner see it."""
        owner = self.alice.get(self.partner).json()["partner"]["status"]
        return owner, self.bob.get(self.own).json()["partner_campaign"]["status"]

    def rejoin(self) -> Any:
        return self.bob.post(f"{self.network}/join")


@pytest.fixture
def deal(alice: Member, bob: Member) -> Deal:
    return Deal(alice, bob)


REMOVED, LEFT = ("rejected", "partner_removed"), ("rejected", "partner_left")
PENDING = ("pending", "holding_period")


def wait_out_the_holding_period(service: Service) -> None:
    service.set_clock(1.1 * DAY_S)
    service.run_jobs()


def notified(who: Member, kind: str) -> list[str]:
    sql = "SELECT sentence FROM notice WHERE account_id = :account_id AND kind = :kind ORDER BY id"
    ask = {"account_id": who.account_id, "kind": kind}
    return [row[0] for row in who.service.read(lambda tx: tx.all(statement(sql), **ask))]


def emails_to(who: Member, kind: str) -> list[str]:
    sql = "SELECT body_text FROM letter WHERE account_id = :account_id AND kind = :kind ORDER BY id"
    ask = {"account_id": who.account_id, "kind": kind}
    return [row[0] for row in who.service.read(lambda tx: tx.all(statement(sql), **ask))]


def test_after_a_removal_the_code_no_longer_counts_and_what_is_pending_finishes(
    service: Service, deal: Deal
) -> None:
    before = deal.arrive()
    answer = deal.alice.delete(deal.partner, params={"reason": "Robots."})
    assert answer.status_code == 200
    partner = answer.json()["partner"]
    assert (partner["status"], partner["removed_reason"]) == ("removed", "Robots.")
    assert (partner["pending_referrals"], partner["pending"]) == (1, FEE)
    assert deal.status() == ("removed", "removed")
    after = deal.arrive()
    assert (deal.outcome(before), deal.outcome(after)) == (PENDING, REMOVED)
    assert deal.alice.subscriber(after)["email"] == after, "they are a subscriber all the same"
    wait_out_the_holding_period(service)
    assert deal.outcome(before)[0] == "verified"
    assert deal.outcome(after) == REMOVED
    assert deal.spent() == FEE


def test_the_links_of_a_removed_partner_still_lead_to_the_newsletter(deal: Deal) -> None:
    deal.alice.delete(deal.partner)
    for link in (deal.joined["referral_link"], deal.joined["magic_link"]):
        path = link.split("/", 3)[3]
        answer = deal.bob.http.get(f"/{path}", follow_redirects=False)
        assert answer.status_code in (200, 302, 303, 307), answer.text


def test_the_owner_can_end_what_is_pending(service: Service, deal: Deal) -> None:
    waiting = [deal.arrive(), deal.arrive()]
    answer = deal.alice.delete(deal.partner, params={"end_pending": "true"})
    assert answer.json()["partner"]["pending_referrals"] == 0
    assert [deal.outcome(each) for each in waiting] == [REMOVED, REMOVED]
    figures = deal.bob.get(deal.network).json()["partner_program"]
    assert figures["confirmation_rate_30d"] == 0, "they count as rejected"
    wait_out_the_holding_period(service)
    assert [deal.outcome(each) for each in waiting] == [REMOVED, REMOVED]
    assert deal.spent() == 0


def test_what_comes_after_a_removal_does_not_spoil_the_figures(deal: Deal) -> None:
    deal.alice.delete(deal.partner)
    deal.arrive()
    deal.alice.post(f"{deal.partner}/allow")
    deal.bob.delete(deal.own)
    deal.arrive()
    figures = deal.bob.get(deal.network).json()["partner_program"]
    assert figures["confirmation_rate_30d"] is None


def test_the_owner_can_end_what_is_pending_later(deal: Deal) -> None:
    waiting = deal.arrive()
    deal.alice.delete(deal.partner)
    assert deal.outcome(waiting) == PENDING
    deal.alice.delete(deal.partner, params={"end_pending": "true"})
    assert deal.outcome(waiting) == REMOVED
    assert len(notified(deal.bob, "partner_removed")) == 1


@pytest.mark.parametrize("terms", [{}, {"screening": "strong"}])
def test_what_is_too_much_to_end_at_once_is_ended_by_the_job(
    service: Service, deal: Deal, monkeypatch: pytest.MonkeyPatch, terms: dict[str, str]
) -> None:
    """Whether the program has verification settings of its own or not."""
    monkeypatch.setattr(removed_partners, "MOST_AT_ONCE", 2)
    assert deal.alice.put(f"{deal.api}/verification", terms).status_code == 200
    waiting = [deal.arrive() for _ in range(4)]
    answer = deal.alice.delete(deal.partner, params={"end_pending": "true"})
    left = answer.json()["partner"]
    assert (left["pending_referrals"], left["pending"]) == (2, 2 * FEE)
    marked = [each for each in waiting if deal.outcome(each) == ("pending", "partner_removed")]
    assert len(marked) == 2
    rows = deal.alice.get(f"{deal.api}/referrals").json()["referrals"]
    found = {row["explanation"] for row in rows}
    assert found == {
        "The partner was removed from the program. It does not count unless you verify it."
    }
    # What is to be rejected cannot be verified by a confirmation meanwhile.
    deal.alice.put(f"{deal.alice.v1}/subscribers/{marked[0]}", {"status": "confirmed"})
    service.run_jobs()
    assert {deal.outcome(each) for each in waiting} == {REMOVED}
    assert deal.spent() == 0


def test_a_removed_partner_may_not_join_until_the_owner_allows_it(deal: Deal) -> None:
    deal.alice.delete(deal.partner)
    assert deal.bob.get(deal.network).json()["partner_program"]["joined"] is False
    refused = deal.rejoin()
    assert (refused.status_code, refused.json()["code"]) == (400, "partner_removed")
    assert deal.status() == ("removed", "removed")
    assert deal.alice.post(f"{deal.partner}/allow").json()["partner"]["status"] == "active"
    assert deal.outcome(deal.arrive()) == PENDING, "the same code counts again"
    answer = deal.rejoin()
    assert answer.status_code == 200
    assert answer.json()["partner_campaign"]["ref_code"] == deal.joined["ref_code"]


def test_who_left_joins_again_with_the_same_code(service: Service, deal: Deal) -> None:
    before = deal.arrive()
    assert deal.bob.delete(deal.own).json()["partner_campaign"]["status"] == "left"
    assert deal.status() == ("left", "left")
    assert deal.bob.get(deal.network).json()["partner_program"]["joined"] is False
    between = deal.arrive()
    answer = deal.rejoin()
    assert answer.status_code == 200
    again = answer.json()["partner_campaign"]
    assert again == deal.joined
    assert deal.status() == ("active", "active")
    after = deal.arrive()
    assert [deal.outcome(each) for each in (before, between, after)] == [PENDING, LEFT, PENDING]
    wait_out_the_holding_period(service)
    assert deal.spent() == 2 * FEE


def test_neither_side_takes_back_what_the_other_decided(deal: Deal) -> None:
    deal.bob.delete(deal.own)
    deal.alice.delete(deal.partner)
    assert deal.status() == ("removed", "removed")
    assert deal.outcome(deal.arrive()) == REMOVED
    assert deal.rejoin().status_code == 400
    deal.alice.post(f"{deal.partner}/allow")
    assert deal.status() == ("left", "left")
    assert deal.outcome(deal.arrive()) == LEFT
    assert deal.rejoin().status_code == 200
    assert deal.status() == ("active", "active")


def test_a_block_is_for_all_programs_and_for_later_ones(deal: Deal) -> None:
    other = Deal(deal.alice, deal.bob)
    removed = Deal(deal.alice, deal.bob)
    deal.alice.delete(removed.partner)
    waiting = [deal.arrive(), other.arrive()]
    body = {"reason": "Robots.", "end_pending": True}
    blocked = deal.alice.post(f"{deal.partner}/block", body)
    assert blocked.json()["partner"]["removed_reason"] == "Robots."
    assert {each.status() for each in (deal, other, removed)} == {("blocked", "removed")}
    assert (deal.outcome(waiting[0]), other.outcome(waiting[1])) == (REMOVED, REMOVED)
    assert other.outcome(other.arrive()) == REMOVED
    later = offer(deal.alice)
    refused = deal.bob.post(f"/v2/partner_network/partner_programs/{later['uuid']}/join")
    assert (refused.status_code, refused.json()["code"]) == (400, "partner_removed")
    refused = deal.alice.post(f"{deal.partner}/allow")
    assert (refused.status_code, refused.json()["code"]) == (400, "partner_blocked")

    answer = deal.alice.post(f"{other.partner}/unblock")
    assert answer.json()["partner"]["status"] == "active"
    assert (deal.status(), removed.status()) == (("active", "active"), ("removed", "removed"))
    assert join(deal.bob, later)["status"] == "active"


def test_a_block_stops_nobody_in_the_programs_of_others(
    service: Service, deal: Deal, mallory: Member
) -> None:
    theirs = Deal(mallory, deal.bob)
    deal.alice.post(f"{deal.partner}/block")
    assert theirs.status() == ("active", "active")
    assert theirs.outcome(theirs.arrive()) == PENDING


def test_nobody_blocks_their_own_account(alice: Member) -> None:
    own = Deal(alice, alice)
    refused = alice.post(f"{own.partner}/block")
    assert (refused.status_code, refused.json()["code"]) == (400, "own_program")
    assert alice.delete(own.partner).json()["partner"]["status"] == "removed"
    assert notified(alice, "partner_removed") == []


@pytest.mark.parametrize(
    ("first", "then"),
    [("DELETE", ""), ("POST", "/allow"), ("POST", "/block"), ("POST", "/unblock")],
)
def test_doing_it_again_changes_nothing(
    service: Service, deal: Deal, first: str, then: str
) -> None:
    if then == "/allow":
        deal.alice.delete(deal.partner)
    if then == "/unblock":
        deal.alice.post(f"{deal.partner}/block")
    service.set_clock(MINUTE_S)
    answers = [deal.alice.http.request(first, f"{deal.partner}{then}") for _ in range(2)]
    assert [each.status_code for each in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    kind = "partner_removed" if then in ("", "/block") else "partner_allowed"
    assert len(notified(deal.bob, kind)) == 1


def test_leaving_twice_is_leaving_once(deal: Deal) -> None:
    answers = [deal.bob.delete(deal.own) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert notified(deal.alice, "partner_left") == ["Bob left your partner program"]


def test_a_wrong_answer_about_pending_referrals_removes_nobody(deal: Deal) -> None:
    wrong = deal.alice.delete(deal.partner, params={"end_pending": "maybe"})
    assert (wrong.status_code, wrong.json()["param"]) == (400, "end_pending")
    wrong = deal.alice.delete(deal.partner, params={"reason": "x" * 2_001})
    assert (wrong.status_code, wrong.json()["param"]) == (400, "reason")
    assert deal.status() == ("active", "active")


def test_the_other_side_is_told(service: Service, deal: Deal) -> None:
    deal.alice.delete(deal.partner, params={"reason": "Too many robots."})
    (email,) = emails_to(deal.bob, "partner_removed")
    assert "The reason they gave: Too many robots." in email
    assert "Pending referrals finish as planned" in email
    service.set_clock(MINUTE_S)
    deal.alice.post(f"{deal.partner}/allow")
    (email,) = emails_to(deal.bob, "partner_allowed")
    assert "The same links count again." in email
    deal.alice.post(f"{deal.partner}/block", {"end_pending": True})
    assert "Pending referrals were ended" in emails_to(deal.bob, "partner_removed")[1]
    service.set_clock(2 * MINUTE_S)
    deal.alice.post(f"{deal.partner}/unblock")
    deal.bob.delete(deal.own)
    (email,) = emails_to(deal.alice, "partner_left")
    assert "Their pending referrals finish as planned." in email
    service.set_clock(3 * MINUTE_S)
    deal.rejoin()
    assert len(notified(deal.alice, "partner_joined")) == 2


def test_who_is_out_does_not_hear_of_budgets(engine: str) -> None:
    """A budget that is reached is told to active partners only."""
    with Service(engine) as service:
        alice = service.member("alice")
        program = offer(alice, total_budget=FEE)
        there, *out = (service.member(name) for name in ("active", "removed", "left", "blocked"))
        _, removed, left, blocked = (join(who, program)["uuid"] for who in (there, *out))
        partners = f"/v2/partner_programs/{program['uuid']}/partners"
        alice.delete(f"{partners}/{removed}")
        alice.post(f"{partners}/{blocked}/block")
        out[1].delete(f"/v2/partner_profile/partner_campaigns/{left}")
        alice.subscribe("one@example.org", referrer_code=join(there, program)["ref_code"])
        service.run_jobs()
        assert len(notified(there, "budget_reached")) == 1
        assert [notified(who, "budget_reached") for who in out] == [[], [], []]


def test_a_partner_of_a_deleted_program_can_still_be_ended(deal: Deal) -> None:
    waiting = deal.arrive()
    deal.alice.delete(deal.api)
    answer = deal.alice.delete(deal.partner, params={"end_pending": "true"})
    assert answer.status_code == 200
    assert deal.alice.subscriber(waiting)["email"] == waiting
    assert answer.json()["partner"]["pending_referrals"] == 0


def test_the_list_of_partners_has_those_who_are_out(deal: Deal, mallory: Member) -> None:
    join(mallory, deal.program)
    deal.alice.delete(deal.partner)
    found = deal.alice.get(f"{deal.api}/partners", params={"per_page": 1, "page": 2}).json()
    assert found["meta"]["total_partners"] == 2
    assert [each["status"] for each in found["partners"]] == ["removed"]


ROUTES = (
    ("GET", "partners"),
    ("GET", "partner"),
    ("DELETE", "partner"),
    ("POST", "allow"),
    ("POST", "block"),
    ("POST", "unblock"),
    ("GET", "mine"),
    ("DELETE", "mine"),
)
OWNERS, PARTNERS = {"partners", "partner", "allow", "block", "unblock"}, {"mine"}


@pytest.mark.parametrize("who", ["owner", "partner", "other partner", "stranger"])
def test_each_side_sees_and_does_only_its_part(
    service: Service, deal: Deal, mallory: Member, who: str
) -> None:
    other = service.member("carol")
    join(other, deal.program)
    paths = {
        "partners": f"{deal.api}/partners",
        "partner": deal.partner,
        "mine": deal.own,
        **{name: f"{deal.partner}/{name}" for name in ("allow", "block", "unblock")},
    }
    caller = {
        "owner": deal.alice,
        "partner": deal.bob,
        "other partner": other,
        "stranger": mallory,
    }[who]
    allowed = {"owner": OWNERS, "partner": PARTNERS}.get(who, set())
    for method, name in ROUTES:
        status = caller.http.request(method, paths[name]).status_code
        assert status == (200 if name in allowed else 404), (who, method, name)
    if not allowed:
        assert deal.status() == ("active", "active")


def test_a_partner_is_found_in_their_own_program_only(deal: Deal) -> None:
    elsewhere = offer(deal.alice)
    wrong = f"/v2/partner_programs/{elsewhere['uuid']}/partners/{deal.joined['uuid']}"
    assert deal.alice.get(wrong).status_code == 404
    assert deal.alice.delete(wrong).status_code == 404
    assert deal.status() == ("active", "active")
