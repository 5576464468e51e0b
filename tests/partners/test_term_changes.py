"""Partners are told what a program pays for, each time it changes; what is worse begins on the next
day if it was set on the dashboard.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from honeyguide.kernel.clock import DAY_MS, short_day
from tests.support.page_forms import PageForms
from tests.support.partner_network import join, offer
from tests.support.service import Member, Service
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of

TELL, BEGIN = "tell partners of changed terms", "begin changed terms of programs"


class Deal:
    """A program of Alice's with a partner, and one who left."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.alice: Operator = operator(service)
        self.bob, self.carol = service.member("bob"), service.member("carol")
        hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 7}
        self.program = offer(self.alice, **hold)
        self.api = f"/v2/partner_programs/{self.program['uuid']}"
        self.page = f"/program/{self.program['uuid']}/change"
        self.joined = join(self.bob, self.program)
        gone = join(self.carol, self.program)
        self.carol.delete(f"/v2/partner_profile/partner_campaigns/{gone['uuid']}")

    def put(self, **fields: Any) -> None:
        answer = self.alice.put(self.api, fields)
        assert answer.status_code == 200, answer.text

    def verification(self, **fields: Any) -> None:
        answer = self.alice.put(f"{self.api}/verification", {"verification": fields})
        assert answer.status_code == 200, answer.text

    def save(self, **fields: str) -> str:
        """The form as it is shown, with these values instead."""
        shown = self.form()
        answer = self.alice.web.post(self.page, page=self.page, **{**shown, **fields})
        assert answer.status_code == 303, text_of(answer.text)
        return text_of(self.alice.web.get(answer.headers["location"]).text)

    def form(self) -> dict[str, str]:
        page = self.alice.web.get(self.page).text
        return PageForms(page, self.page).found[self.page]

    def told(self, who: Member | None = None) -> list[str]:
        self.run(TELL)
        return emails_to(who or self.bob)

    def run(self, name: str) -> None:
        for job in self.service.services.loop.jobs:
            if job.name == name:
                self.service.run_job(job)

    def program_now(self) -> dict[str, Any]:
        return self.alice.get(self.api).json()["partner_program"]  # type: ignore[no-any-return]

    def fee_of_next(self) -> float:
        email = f"{self.service.now_ms()}@example.org"
        self.alice.subscribe(email, referrer_code=self.joined["ref_code"])
        sql = "SELECT fee_cents FROM partner_referral WHERE program_id = :id ORDER BY id DESC"
        ask = statement(sql)
        rows = self.service.read(lambda tx: tx.all(ask, id=self.program["uuid"]))
        return rows[0][0] / 100  # type: ignore[no-any-return]


def emails_to(who: Member) -> list[str]:
    sql = (
        "SELECT body_text FROM letter WHERE account_id = :id AND kind = 'terms_changed' ORDER BY id"
    )
    return [
        row[0] for row in who.service.read(lambda tx: tx.all(statement(sql), id=who.account_id))
    ]


@pytest.fixture
def deal(quiet_service: Service) -> Iterator[Deal]:
    yield Deal(quiet_service)
    quiet_service.set_clock(0)


CHANGES: dict[str, tuple[Callable[[Deal], None], str]] = {
    "fee": (lambda deal: deal.put(cpa=2), "Fee: $3.00 → $2.00"),
    "higher fee": (lambda deal: deal.put(cpa=4.5), "Fee: $3.00 → $4.50"),
    "cap": (lambda deal: deal.put(max_payout=30), "Cap per month: $90.00 → $30.00"),
    "budget": (lambda deal: deal.put(total_budget=0), "Budget for this month: open → used up"),
    "holding period": (
        lambda deal: deal.put(referral_pending_duration=30),
        "Holding period: 7 days → 30 days",
    ),
    "no holding period": (
        lambda deal: deal.put(referral_pending_duration_enabled=False),
        "Holding period: 7 days → 0 days",
    ),
    "rule": (
        lambda deal: deal.verification(rule="none", origins="hosted"),
        "Rule: Confirmed email address → None",
    ),
    "screening": (
        lambda deal: deal.verification(screening="strict", origins="hosted"),
        "Screening: Strong → Strict",
    ),
    "origins": (
        lambda deal: deal.verification(origins="all"),
        "Rule and screening hold for: Our pages and forms → All signups",
    ),
    "first look": (
        lambda deal: deal.verification(first_look=1000),
        "First look: none → after 1,000 verified",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_by_api_holds_at_once_and_is_told_with_old_and_new(deal: Deal, name: str) -> None:
    act, line = CHANGES[name]
    if name == "rule":
        set_rule = statement("UPDATE program SET rule = 'confirmed' WHERE id = :id")
        deal.service.write(lambda tx: tx.run(set_rule, id=deal.program["uuid"]))
    act(deal)
    (text,) = deal.told()
    assert line in text and "They hold now" in text
    assert text.count("→") == 1, "nothing else changed"
    assert f"/earnings/{deal.joined['uuid']}" in text
    assert deal.told() == [text], "once"
    assert deal.told(deal.carol) == [], "whoever left is not told"
    assert rows(deal) == []


def rows(deal: Deal) -> list[Any]:
    sql = statement("SELECT fields, is_told FROM term_change WHERE program_id = :id")
    return deal.service.read(lambda tx: tx.all(sql, id=deal.program["uuid"]))  # type: ignore[no-any-return]


def test_what_partners_are_not_paid_by_is_not_told(deal: Deal) -> None:
    deal.put(total_budget=200, terms="Be nice.", show_in_directory=False, cpa=3)
    deal.verification(screening="strong", origins="hosted", first_look=None)
    assert deal.told() == []


def test_a_budget_that_is_open_again_is_told_once(deal: Deal) -> None:
    """By the notification that there always was."""
    deal.put(total_budget=0)
    assert len(deal.told()) == 1
    deal.put(total_budget=300)
    assert len(deal.told()) == 1


def test_several_changes_are_one_email_that_hides_none(deal: Deal) -> None:
    """A fee that was low for a moment was low."""
    deal.put(cpa=0)
    deal.put(cpa=3, max_payout=60)
    (text,) = deal.told()
    assert "Fee: $3.00 → $0.00 → $3.00" in text and "Cap per month: $90.00 → $60.00" in text
    deal.put(cpa=1)
    assert "Fee: $3.00 → $1.00" in deal.told()[1]


def test_worse_terms_on_the_dashboard_begin_on_the_next_day(deal: Deal) -> None:
    page = deal.save(cpa="2.00", referral_pending_duration="30", max_payout="120.00")
    starts_ms = (deal.service.now_ms() // DAY_MS + 1) * DAY_MS
    day = short_day(starts_ms)
    assert f"What is worse for partners begins on {day}" in page
    now = deal.program_now()
    assert (now["cpa"], now["referral_pending_duration"], now["max_payout"]) == (3, 7, 120)
    deal.run(BEGIN)
    assert deal.fee_of_next() == 3
    texts = deal.told()
    together = "\n".join(texts)
    assert "Fee: $3.00 → $2.00" in together and "Holding period: 7 days → 30 days" in together
    assert f"come from {day} on" in together
    assert "Cap per month: $90.00 → $120.00" in together
    shown = deal.form()
    assert (shown["cpa"], shown["referral_pending_duration"]) == ("2.00", "30")
    deal.service.set_clock((starts_ms - deal.service.now_ms()) / 1000 + 60)
    deal.run(BEGIN)
    now = deal.program_now()
    assert (now["cpa"], now["referral_pending_duration"]) == (2, 30)
    assert deal.fee_of_next() == 2
    assert deal.told() == texts, "they were told before"
    assert rows(deal) == []
    sql = statement(
        "SELECT action, actor_kind, after FROM change_log WHERE subject_id = :id ORDER BY id DESC"
    )
    action, actor, after = deal.service.read(lambda tx: tx.all(sql, id=deal.program["uuid"]))[0]
    assert (action, actor) == ("program.changed", "member")
    assert json.loads(after) == {"cpa_cents": 200, "referral_pending_duration": 30}


def test_a_program_without_partners_changes_at_once(deal: Deal) -> None:
    own = f"/v2/partner_profile/partner_campaigns/{deal.joined['uuid']}"
    assert deal.bob.delete(own).status_code == 200
    deal.save(cpa="2.00")
    assert deal.program_now()["cpa"] == 2 and deal.told() == []


def test_saving_the_form_again_changes_nothing_of_what_waits(deal: Deal) -> None:
    deal.save(cpa="2.00", rule="none")
    told = deal.told()
    deal.save()
    assert deal.told() == told and len(rows(deal)) == 1


def test_what_waits_can_be_taken_back_and_that_is_told_to_who_heard_of_it(deal: Deal) -> None:
    deal.save(cpa="2.00")
    deal.save(cpa="3.00")
    assert deal.told() == [] and rows(deal) == [], "nobody had heard of it, and it never held"
    deal.save(cpa="2.00")
    assert len(deal.told()) == 1
    deal.save(cpa="3.00")
    assert "Fee: $2.00 → $3.00" in deal.told()[1]
    assert rows(deal) == [] and deal.program_now()["cpa"] == 3


def test_what_the_api_sets_wins_over_what_waits(deal: Deal) -> None:
    deal.save(cpa="2.00", max_payout="60.00")
    deal.told()
    deal.put(cpa=1)
    (_, text) = deal.told()
    assert "Fee: $2.00 → $1.00" in text and "Cap" not in text
    deal.service.set_clock(DAY_MS / 1000 + 60)
    deal.run(BEGIN)
    now = deal.program_now()
    assert (now["cpa"], now["max_payout"]) == (1, 60)


def test_nothing_begins_in_a_deleted_program_or_a_paused_account(deal: Deal) -> None:
    deal.save(cpa="2.00")
    pause = statement("UPDATE account SET paused_ms = :now_ms WHERE id = :id")
    deal.service.write(lambda tx: tx.run(pause, now_ms=1, id=deal.alice.account_id))
    deal.service.set_clock(DAY_MS / 1000 + 60)
    deal.run(BEGIN)
    assert len(rows(deal)) == 1 and deal.program_now()["cpa"] == 3
    deal.service.write(lambda tx: tx.run(pause, now_ms=None, id=deal.alice.account_id))
    assert deal.alice.delete(deal.api).status_code == 200
    deal.run(BEGIN)
    assert not [fields for fields, _ in rows(deal) if fields]
