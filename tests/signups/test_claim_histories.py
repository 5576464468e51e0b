"""Random histories of addresses that come with several codes and are confirmed, left, erased or
forgotten, on both engines, against a model of what each signup should become.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from honeyguide.partners import ledger_check
from honeyguide.subscribers import reader_links
from tests.support.mailbox import Mailbox
from tests.support.partner_network import join
from tests.support.robots import Robots
from tests.support.service import ENGINES, Service
from tests.support.stores import statement

EMAILS = [f"person{number}@gmail.com" for number in range(3)]
PENDING, VERIFIED = ("pending", "awaiting_confirmation"), ("verified", None)
UNCONFIRMED, LEFT = ("rejected", "unconfirmed"), ("rejected", "left_during_hold")
DAYS = 30
State = tuple[str, str | None]
STATES = statement(
    "SELECT r.referrer_code, r.referral_status, r.referral_reason FROM subscriber AS r "
    "WHERE r.campaign_id = :campaign_id AND r.referrer_code IS NOT NULL"
)
PARTNER_STATES = statement(
    "SELECT s.referrer_code, s.referral_status, s.referral_reason FROM partner_referral AS p "
    "JOIN subscriber AS s ON s.id = p.subscriber_id WHERE p.account_id = :account_id"
)
CHARGES = statement(
    "SELECT s.referrer_code FROM partner_referral AS p JOIN subscriber AS s "
    "ON s.id = p.subscriber_id WHERE p.account_id = :account_id AND p.charged_cents > 0"
)


@dataclass
class Signup:
    code: str | None
    come_s: float
    state: State | None
    link: str = ""


@dataclass
class Person:
    email: str
    id: str
    ref_code: str
    signups: list[Signup] = field(default_factory=list)
    """The last one is shown."""
    status: str = "active"
    must_confirm: bool = True


class History:
    def __init__(self, service: Service, seed: int) -> None:
        self.chance = random.Random(seed)
        self.service, self.robots = service, Robots(service)
        self.owner, self.wax = self.robots.owner, self.robots.wax
        answer = self.owner.put(f"{self.owner.v1}/settings", {"needs_confirmation": True})
        assert answer.status_code == 200, answer.text
        other = join(service.member("carol"), self.robots.program)["ref_code"]
        friends = [self.owner.subscribe(f"friend{n}@example.org")["ref_code"] for n in range(2)]
        self.partners = (self.robots.code, other)
        self.codes = (*self.partners, *friends)
        self.people: dict[str, Person] = {}
        self.gone: list[Signup] = []
        """Of erased people."""
        self.charged: list[str] = []
        self.paid = set[str]()
        """Addresses: the program pays once for each."""
        self.now_s = 0.0
        self.log: list[str] = []

    def step(self) -> None:
        moves = [self.come] * 8 + [self.press] * 2 + [self.wait, self.leave] + [self.erase] * 2
        self.chance.choice(moves)()

    # -- what happens

    def come(self) -> None:
        email, code = self.chance.choice(EMAILS), self.chance.choice([*self.codes, None])
        self.pass_time(3_601)  # a mailbox can be typed in five times an hour
        self.log.append(f"come {email} {code}")
        self.robots.visit()
        path = self.wax.page + (f"?ref={code}" if code else "")
        if code in self.partners:
            path = f"/m/{code}"
        answer = self.wax.fill_in(path, email)
        assert answer.status_code == 303, answer.text
        self.pass_time(0)
        person = self.people.get(email)
        if person is None:
            shown = self.wax.person(email)
            person = self.people[email] = Person(email, shown.id, shown.ref_code)
            person.signups = [Signup(code, self.now_s, PENDING if code else None)]
        elif person.status == "active" and code and code != person.signups[-1].code:
            again = [each for each in person.signups if each.code == code]
            pending = [each for each in again if each.state == PENDING]
            signup = pending[-1] if pending else Signup(code, self.now_s, PENDING)
            person.signups = [each for each in person.signups if each is not signup] + [signup]
        if person.status == "active":
            person.signups[-1].link = self.link_of(person)

    def link_of(self, person: Person) -> str:
        """As the email about the signup that is shown has it."""
        until_ms = self.service.now_ms() + 40 * 86_400_000
        shown = self.wax.person(person.email)
        return f"/confirm/{reader_links.confirm_token(self.service.services.site, shown, until_ms)}"

    def press(self) -> None:
        waiting = [each for each in self.people.values() if each.status == "active"]
        if not waiting:
            return
        person = self.chance.choice(waiting)
        signup = self.chance.choice(person.signups)
        self.log.append(f"press {person.email} {signup.code}")
        answer = self.wax.visitor.post(signup.link, data=self.wax.fields(signup.link))
        assert answer.status_code == 303, answer.text
        newest = [each for each in person.signups if each.code == signup.code][-1]
        person.signups = [each for each in person.signups if each is not newest] + [newest]
        person.status, person.must_confirm = "confirmed", False
        if newest.state == PENDING:
            newest.state = VERIFIED
            if newest.code in self.partners and person.email not in self.paid:
                self.paid.add(person.email)
                self.charged.append(newest.code or "")
        self.end_others(person)

    def end_others(self, person: Person) -> None:
        for each in person.signups[:-1]:
            if each.state == PENDING:
                each.state = UNCONFIRMED

    def leave(self) -> None:
        if not self.people:
            return
        person = self.chance.choice(list(self.people.values()))
        self.log.append(f"leave {person.email}")
        path = f"{self.owner.v1}/subscribers/{person.email}"
        assert self.owner.put(path, {"status": "unsubscribed"}).status_code == 200
        shown = person.signups[-1]
        if shown.state == PENDING:
            shown.state = LEFT
        person.status = "unsubscribed"
        self.end_others(person)

    def erase(self) -> None:
        if not self.people:
            return
        person = self.people.pop(self.chance.choice(list(self.people)))
        self.log.append(f"erase {person.email}")
        path = f"{self.owner.v1}/subscribers/{person.email}"
        assert self.owner.delete(path).status_code in (200, 204)
        shown = person.signups[-1]
        if shown.state == PENDING and shown.code in self.partners:
            shown.state = LEFT
        self.end_others(person)
        self.gone += person.signups

    def wait(self) -> None:
        days = self.chance.choice([0.1, 1, 8, 31])
        self.log.append(f"wait {days} days")
        self.pass_time(days * 86_400)

    def pass_time(self, seconds: float) -> None:
        self.wax.later(seconds)
        self.now_s = float(self.service.clock_file.read_text())
        if seconds:
            self.service.run_jobs()
        for person in self.people.values():
            for each in person.signups:
                is_shown = each is person.signups[-1]
                # A referral by a friend that is shown waits for ever, as without claims.
                ends = each.code in self.partners or not is_shown
                if each.state == PENDING and ends and self.now_s >= each.come_s + DAYS * 86_400:
                    each.state = UNCONFIRMED

    # -- what should be so

    def check(self) -> None:
        for person in self.people.values():
            shown = self.wax.person(person.email)
            expected = person.signups[-1]
            assert (shown.id, shown.ref_code) == (person.id, person.ref_code)
            assert (shown.status, shown.referrer_code) == (person.status, expected.code)
            if expected.state:
                assert (shown.referral_status, shown.referral_reason) == expected.state
            assert bool(shown.must_confirm) == person.must_confirm, person
        everybody = [each for person in self.people.values() for each in person.signups]
        made = [each for each in [*everybody, *self.gone] if each.code]
        expected_states = sorted((each.code, *each.state) for each in made if each.state)
        tenant = self.wax.tenant
        assert self.ask(STATES, campaign_id=tenant.campaign_id) == expected_states
        of_partners = [each for each in expected_states if each[0] in self.partners]
        assert self.ask(PARTNER_STATES, account_id=tenant.account_id) == of_partners
        charged = [row[0] for row in self.ask(CHARGES, account_id=tenant.account_id)]
        assert charged == sorted(self.charged)
        listed = self.owner.get(f"{self.owner.v1}/subscribers?per_page=100").json()
        assert len(listed["subscribers"]) == 2 + len(self.people)
        self.check_counts()

    def check_counts(self) -> None:
        friends = {code: [0, 0, 0] for code in self.codes if code not in self.partners}
        for person in self.people.values():
            shown = person.signups[-1]
            if shown.code in friends and shown.state:
                place = ("verified", "pending", "rejected").index(shown.state[0])
                friends[shown.code][place] += 1
        for number, code in enumerate(code for code in self.codes if code not in self.partners):
            friend = self.wax.person(f"friend{number}@example.org")
            counts = [
                friend.referrals_verified,
                friend.referrals_pending,
                friend.referrals_rejected,
            ]
            assert counts == friends[code], code

    def ask(self, sql: Any, **params: Any) -> list[Any]:
        return sorted(self.service.read(lambda tx: tx.all(sql, **params)))

    def check_installation(self) -> None:
        """Counts, page index, ledger, and whose every row is."""
        findings, _ = self.service.read(ledger_check.verify)
        assert [each for each in findings if each.broken] == []


def play(engine: str, seed: int, steps: int) -> None:
    with Mailbox() as mailbox, Service(engine, smtp_url=mailbox.url, work=False) as service:
        history = History(service, seed)
        try:
            for _ in range(steps):
                history.step()
                history.check()
            history.check_installation()
        except Exception as error:
            error.add_note(f"seed {seed}: {', '.join(history.log[-15:])}")
            raise
        finally:
            service.set_clock(0)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_pressed_button_decides_in_any_history(engine: str) -> None:
    play(engine, 1, 30)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 20))
@pytest.mark.parametrize("engine", ENGINES)
def test_the_pressed_button_decides_in_long_histories(engine: str, seed: int) -> None:
    play(engine, seed, 400)
