"""A program and its partners over HTTP, beside the model of a partner network in which every
referral has the terms of its arrival. What an owner does to them is in the modules named after it.
"""

import random
import re
from typing import Any

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, system_clock
from honeyguide.partners import public_figures, rules
from honeyguide.partners.public_figures import DueProgram
from honeyguide.partners.term_changes import BEGINNING
from honeyguide.signups import group_looks
from honeyguide.work import money
from tests.support.network_model import Model, Offer, Reader
from tests.support.page_forms import PageForms
from tests.support.partner_network import join, offer, publish
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.trade import verify
from tests.support.web import operator

PARTNERS, PEOPLE = 3, 400
LIGHT_PAGE = "/settings/screening-lists"
JOBS = (
    BEGINNING,
    money.VERIFYING,
    group_looks.LOOKING,
    "reject unconfirmed referrals",
    "close months and create payouts",
)
REFERRALS = statement(
    "SELECT r.subscriber_id, s.referral_status, r.charged_cents, r.uncharged_reason "
    "FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id"
)
BUDGETS = statement("SELECT program_id, month, spent_cents, reached_ms FROM budget")


class OwnProgram:
    """A program of the owner, its partners and what the model knows of it."""

    def __init__(self, made: dict[str, Any], terms: Offer) -> None:
        self.made, self.offer = made, terms
        self.id: str = made["uuid"]
        self.path, self.page = f"/v2/partner_programs/{self.id}", f"/program/{self.id}"
        self.joined: dict[int, dict[str, Any]] = {}
        self.outside = 0
        """Who came while a partner or the program was out: not in all public figures."""


class ArrivalWorld:
    def __init__(self, service: Service, seed: int) -> None:
        self.service, self.chance = service, random.Random(seed)
        self.first_ms = rules.month_bounds(rules.next_month(rules.month_of(service.now_ms())))[0]
        self.ahead_ms = self.first_ms - system_clock()
        self._pass(0)
        service.member("root")  # who runs the installation cannot close their account
        self.owner = operator(service)
        self.publication_made = publish(self.owner)
        self.publication = f"/v2/publications/{self.publication_made['uuid']}"
        self.people = f"{self.owner.v1}/subscribers"
        self.partners = [service.member("bob") for _ in range(PARTNERS)]
        self.model, self.log = Model(), []  # type: Model, list[str]
        self.programs: list[OwnProgram] = []
        self.open_program()

    # -- the program of today

    @property
    def live(self) -> OwnProgram:
        return self.programs[-1]

    @property
    def offer(self) -> Offer:
        return self.live.offer

    @property
    def program(self) -> str:
        return self.live.path

    def open_program(self) -> None:
        made = offer(
            self.owner,
            self.publication_made,
            cpa=3,
            total_budget=90,
            max_payout=40,
            **self._hold(3),
        )
        terms = Offer(300, 9_000, 4_000, 3)
        if self.programs:
            terms.owner, terms.shared = self.offer.owner, self.offer.shared
        self.programs.append(OwnProgram(made, terms))
        self._put(f"{self.program}/verification", rule="none", screening="flexible")
        for number, partner in enumerate(self.partners):
            self.live.joined[number] = join(partner, made)

    @staticmethod
    def _hold(days: int) -> dict[str, Any]:
        return {
            "referral_pending_duration_enabled": days > 0,
            "referral_pending_duration": days,
        }

    # -- the clock

    def _pass(self, ms: int) -> None:
        self.ahead_ms += ms
        self.service.set_clock(self.ahead_ms / 1_000)

    def _pass_the_minute_of_undo(self) -> None:
        """What is taken back within it counts as if it had not been."""
        self._pass(2 * MINUTE_MS)

    def time_passes(self) -> None:
        self._pass(self.chance.randrange(HOUR_MS, 9 * HOUR_MS))
        self._work()

    def _work(self) -> None:
        for job in self.service.services.loop.jobs:
            if job.name in JOBS:
                self.service.run_job(job)
        now_ms = self.service.now_ms()
        for reader in self.model.verify_due(now_ms):
            self.model.verify(reader, now_ms)
        begun = set().union(*(program.offer.begun for program in self.programs))
        self.model.close(now_ms, begun)

    # -- how the owner does something

    def _put(self, path: str, **fields: Any) -> None:
        answer = self.owner.put(path, fields)
        assert answer.status_code == 200, answer.text

    def _press(self, path: str, **fields: Any) -> None:
        """Sends a form of the dashboard. The questions that pages ask first are answered."""
        web = self.owner.web
        answer = web.post(path, page=LIGHT_PAGE, **fields)
        if answer.headers.get("location", "").startswith("/login"):
            web.log_in(self.owner.email)
            answer = web.post(path, page=LIGHT_PAGE, **fields)
        wrong = re.findall(r'class="wrong".*', answer.text)
        assert answer.status_code == 303, (path, answer.status_code, wrong)

    def _save(self, path: str, **fields: Any) -> None:
        """Sends a form with what it shows but for these fields."""
        web = self.owner.web
        if web.get(LIGHT_PAGE).status_code == 303:
            web.log_in(self.owner.email)
        shown = PageForms(web.get(path).text, path).found[path]
        kept = {name: value for name, value in shown.items() if name not in ("", "csrf")}
        self._press(path, **{**kept, **fields})

    def _reader(self, *statuses: str) -> Reader | None:
        found = [each for each in self.model.readers if each.here and each.status in statuses]
        # Of those who are pending, and the newest of the others.
        return self.chance.choice(found[-50:]) if found else None

    def _new_email(self, person: int) -> str:
        return f"p{person}+{len(self.log)}.{len(self.model.readers)}@gmail.com"

    def arrive(self) -> None:
        """By a partner's link; now and then by one of a program that was deleted."""
        program = self.live if self.chance.random() < 0.95 else self.chance.choice(self.programs)
        person = self.chance.randrange(PEOPLE)
        self._arrive(program, self._new_email(person), person)

    def _arrive(
        self, program: OwnProgram, email: str, person: int, *, is_refused: bool = False
    ) -> None:
        partner = self.chance.randrange(PARTNERS)
        body = {"email": email, "referrer_code": program.joined[partner]["ref_code"]}
        answer = self.owner.post(self.people, body)
        assert answer.status_code == 201, answer.text
        now_ms, terms = self.service.now_ms(), program.offer
        reader = self.model.arrive(
            terms, partner, person, now_ms, is_asked=False, is_refused=is_refused
        )
        reader.id = answer.json()["subscriber"]["uuid"]
        is_away = terms.is_deleted or partner in terms.removed | terms.blocked
        program.outside += is_away and not reader.is_own

    # -- what the service says

    def check(self) -> None:
        rows = self.service.read(lambda tx: tx.all(REFERRALS))
        readers = self.model.readers
        promised = {(r.id, r.status, r.charged, r.why_not) for r in readers}
        assert set(rows) == promised, self._about(set(rows) ^ promised)
        budgets = self.service.read(lambda tx: tx.all(BUDGETS))
        for program in self.programs:
            terms, own = program.offer, [row[1:] for row in budgets if row[0] == program.id]
            assert {month: cents for month, cents, _ in own if cents} == {
                month: cents for month, cents in terms.spent.items() if cents
            }
            reached = {month for month, _, reached_ms in own if reached_ms is not None}
            assert reached - self.model.closed == terms.reached - self.model.closed

    def _about(self, different: set[tuple[Any, ...]]) -> list[Any]:
        """Each of them, and what is known of who came."""
        by_id = {reader.id: reader for reader in self.model.readers}
        sql = statement("SELECT id, email, referral_reason FROM subscriber")
        found = {row[0]: row[1:] for row in self.service.read(lambda tx: tx.all(sql))}
        return [
            (row, found.get(row[0]), by_id.get(row[0])) for row in sorted(different, key=str)[:6]
        ]

    def check_public_figures(self) -> None:
        """Every decision and everybody who left is in them."""
        now_ms = self.service.now_ms()
        assert now_ms - self.first_ms < public_figures.DAYS * DAY_MS, "they forget the first"
        for program in self.programs:
            due = DueProgram(program.id, self.owner.account_id)
            found = self.service.read(lambda tx, due=due: public_figures.count(tx.at(now_ms), due))
            own = [r for r in self.model.readers if r.offer is program.offer and not r.is_own]
            counted = [reader for reader in own if reader.status != "pending"]
            verified = sum(r.status == "verified" for r in counted)
            taken_back = sum(r.is_reversed for r in counted)
            assert (found.verified, found.reversed) == (verified, taken_back)
            rejected = len(counted) - verified - taken_back
            assert rejected - program.outside <= found.rejected <= rejected
        self.service.run(verify(self.service.services.store))
