"""An owner who calls their routes in any order after readers came, over HTTP, beside the model of a
partner network in which every referral has the terms of its arrival.
"""

from __future__ import annotations

import random
from functools import partial
from typing import Any

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, system_clock
from honeyguide.partners import public_figures, rules
from honeyguide.partners.public_figures import DueProgram
from honeyguide.signups import group_looks
from honeyguide.work import money
from tests.support.network_model import Model, Offer, Reader
from tests.support.network_partings import share_member
from tests.support.partner_network import join, offer, publish
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.trade import verify

PARTNERS, PEOPLE = 3, 400
JOBS = (
    money.VERIFYING,
    group_looks.LOOKING,
    "reject unconfirmed referrals",
    "close months and create payouts",
)
CENTS = (0, 1, 299, 300, 600, 2_000, 9_000, 90_000, 1_000_000)
FEES = (0, 100, 250, 300)
DAYS = (0, 1, 3, 10)
REFERRALS = statement(
    "SELECT r.subscriber_id, s.referral_status, r.charged_cents, r.uncharged_reason "
    "FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id"
)
BUDGETS = statement("SELECT month, spent_cents, reached_ms FROM budget ORDER BY month")


class ArrivalHistory:
    def __init__(self, service: Service, seed: int) -> None:
        self.service, self.chance = service, random.Random(seed)
        self.first_ms = rules.month_bounds(rules.next_month(rules.month_of(service.now_ms())))[0]
        self.ahead_ms = self.first_ms - system_clock()
        self._pass(0)
        self.owner = service.member()
        publication = publish(self.owner)
        program = offer(
            self.owner, publication, cpa=3, total_budget=90, max_payout=40, **self._hold(3)
        )
        self.publication = f"/v2/publications/{publication['uuid']}"
        self.program_id = program["uuid"]
        self.program = f"/v2/partner_programs/{self.program_id}"
        self.people = f"{self.owner.v1}/subscribers"
        self._put(f"{self.program}/verification", rule="none", screening="flexible")
        self.partners = [service.member("bob") for _ in range(PARTNERS)]
        self.places = [join(partner, program) for partner in self.partners]
        self.offer = Offer(300, 9_000, 4_000, 3)
        self.model, self.log = Model(), []  # type: Model, list[str]
        self.outside = 0
        """Rejected at once because their partner was removed: not in the public figures."""

    @staticmethod
    def _hold(days: int) -> dict[str, Any]:
        return {
            "referral_pending_duration_enabled": days > 0,
            "referral_pending_duration": days,
        }

    def step(self) -> None:
        moves = {
            self.arrive: 16,
            self.time_passes: 5,
            self.change_terms: 5,
            self.squeeze: 2,
            self.change_rules: 1,
            self.switch: 2,
            self.borrow_address: 5,
            self.change_person: 2,
            self.leave: 1,
            self.decide: 1,
            self.take_back: 1,
            self.part: 2,
            self.share_member: 2,
        }
        move = self.chance.choices(list(moves), list(moves.values()))[0]
        self.log.append(move.__name__)
        move()

    def _pass(self, ms: int) -> None:
        self.ahead_ms += ms
        self.service.set_clock(self.ahead_ms / 1_000)

    def _pass_the_minute_of_undo(self) -> None:
        """What is taken back within it counts as if it had not been."""
        self._pass(2 * MINUTE_MS)

    def _put(self, path: str, **fields: Any) -> None:
        answer = self.owner.put(path, fields)
        assert answer.status_code == 200, answer.text

    def _reader(self, *statuses: str) -> Reader | None:
        found = [each for each in self.model.readers if each.here and each.status in statuses]
        # Of those who are pending, and the newest of the others.
        return self.chance.choice(found[-50:]) if found else None

    def arrive(self) -> None:
        partner, person = self.chance.randrange(PARTNERS), self.chance.randrange(PEOPLE)
        body = {
            "email": f"p{person}+{len(self.log)}@gmail.com",
            "referrer_code": self.places[partner]["ref_code"],
        }
        answer = self.owner.post(self.people, body)
        assert answer.status_code == 201, answer.text
        now_ms = self.service.now_ms()
        reader = self.model.arrive(self.offer, partner, person, now_ms, is_asked=False)
        reader.id = answer.json()["subscriber"]["uuid"]
        is_away = partner in self.offer.removed | self.offer.blocked
        self.outside += is_away and not reader.is_own

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
        self.model.close(now_ms, self.offer.begun)

    def squeeze(self) -> None:
        """No limit at all, until what is due was decided: as an owner does who will not pay."""
        for budget, cap in ((0, 0), (self.offer.budget, self.offer.cap)):
            self._put(self.program, total_budget=budget / 100, max_payout=cap / 100)
            self.model.set_budget(self.offer, budget, self.service.now_ms())
            self.offer.cap = cap
            if not budget:
                self._pass(self.chance.randrange(6 * HOUR_MS, 30 * HOUR_MS))
                self._work()

    def change_terms(self) -> None:
        kind, now_ms = self.chance.choice(["budget", "cap", "fee", "hold"]), self.service.now_ms()
        cents = self.chance.choice(CENTS)
        if kind == "budget":
            self._put(self.program, total_budget=cents / 100)
            self.model.set_budget(self.offer, cents, now_ms)
        elif kind == "cap":
            self._put(self.program, max_payout=cents / 100)
            self.offer.cap = cents
        elif kind == "fee":
            self.offer.cpa = self.chance.choice(FEES)
            self._put(self.program, cpa=self.offer.cpa / 100)
        else:
            self.offer.hold_days = self.chance.choice(DAYS)
            self._put(self.program, **self._hold(self.offer.hold_days))

    def change_rules(self) -> None:
        """Stricter for a while in which nobody comes."""
        self._put(f"{self.program}/verification", screening="strict")
        hold_days = self.chance.choice(DAYS)
        self._put(f"{self.owner.v1}/settings", hold_days=hold_days, screening="strict")
        self.time_passes()
        self._put(f"{self.program}/verification", screening="flexible")

    def switch(self) -> None:
        self._pass_the_minute_of_undo()
        self.offer.paused = not self.offer.paused and self.chance.random() < 0.3
        if self.chance.random() < 0.5:
            self._put(self.publication, status="archived" if self.offer.paused else "active")
        self._put(self.publication, enabled_partner_program=not self.offer.paused)
        if not self.offer.paused:
            self._put(self.publication, status="active")

    def borrow_address(self) -> None:
        """Somebody's alias for somebody else, or their own one again."""
        if reader := self._reader("pending", "pending", "verified"):
            others = [each.person for each in self.model.readers[-99:]]
            reader.listed_as = self.chance.choice([reader.person, *others])
            email = f"p{reader.listed_as}+{len(self.log)}@gmail.com"
            status = {"status": "confirmed"} if self.chance.random() < 0.2 else {}
            self._put(f"{self.people}/{reader.id}", email=email, **status)

    def change_person(self) -> None:
        if reader := self._reader("pending", "verified", "rejected"):
            status = {} if reader.has_left else {"status": "confirmed"}
            self._put(f"{self.people}/{reader.id}", name="Somebody Else", **status)

    def leave(self) -> None:
        if reader := self._reader("pending", "verified"):
            if self.chance.random() < 0.5:
                self._put(f"{self.people}/{reader.id}", status="unsubscribed")
            else:
                assert self.owner.delete(f"{self.people}/{reader.id}").status_code == 200
                reader.here = False
            self.model.leave(reader)

    def decide(self) -> None:
        if reader := self._reader("pending", "rejected"):
            verb = self.chance.choice(["verify", "reject"])
            self.owner.post(f"{self.people}/{reader.id}/referral/{verb}")
            if verb == "verify":
                self.model.verify(reader, self.service.now_ms())
            else:
                reader.status = "rejected"

    def take_back(self) -> None:
        charged = [each for each in self.model.readers if each.charged is not None]
        if charged:
            reader = self.chance.choice(charged[-50:])
            sql = statement("SELECT id FROM partner_referral WHERE subscriber_id = :id")
            (row,) = self.service.read(lambda tx: tx.all(sql, id=reader.id))
            path = f"{self.program}/referrals/{row[0]}/reversal"
            answer = self.owner.post(path, {"reason": "robot"})
            assert (answer.status_code == 201) is (self.model.reverse(reader) is None)

    def part(self) -> None:
        """Removes or blocks a partner, or allows them again."""
        partner = self.chance.randrange(PARTNERS)
        path = f"{self.program}/partners/{self.places[partner]['uuid']}"
        if partner in self.offer.removed | self.offer.blocked:
            self._pass_the_minute_of_undo()
            self.owner.post(f"{path}/unblock")
            self.owner.post(f"{path}/allow")
            self.offer.removed.discard(partner)
            self.offer.blocked.discard(partner)
            return
        ends = self.chance.random() < 0.3
        if self.chance.random() < 0.5:
            self.owner.delete(path, params={"end_pending": str(ends).lower()})
            self.offer.removed.add(partner)
        else:
            self.owner.post(f"{path}/block", {"end_pending": ends})
            self.offer.blocked.add(partner)
        if ends:
            self.model.end_pending(self.offer, partner)
            self._work()  # more than twenty are ended by a job

    def share_member(self) -> None:
        partner = self.chance.randrange(PARTNERS)
        accounts = (self.owner.account_id, self.partners[partner].account_id)
        self.offer.shared ^= {partner}
        is_shared, now_ms = partner in self.offer.shared, self.service.now_ms()
        share = partial(share_member, accounts, is_shared=is_shared, now_ms=now_ms)
        self.service.write(share)

    # -- what the service says

    def check(self) -> None:
        rows = self.service.read(lambda tx: tx.all(REFERRALS))
        readers = self.model.readers
        promised = {(r.id, r.status, r.charged, r.why_not) for r in readers}
        assert set(rows) == promised, sorted(set(rows) ^ promised, key=str)
        budgets = self.service.read(lambda tx: tx.all(BUDGETS))
        assert {month: cents for month, cents, _ in budgets if cents} == {
            month: cents for month, cents in self.offer.spent.items() if cents
        }
        reached = {month for month, _, reached_ms in budgets if reached_ms is not None}
        assert reached - self.model.closed == self.offer.reached - self.model.closed

    def check_public_figures(self) -> None:
        """Every decision and everybody who left is in them."""
        now_ms = self.service.now_ms()
        assert now_ms - self.first_ms < public_figures.DAYS * DAY_MS, "they forget the first"
        due = DueProgram(self.program_id, self.owner.account_id)
        found = self.service.read(lambda tx: public_figures.count(tx, due, now_ms=now_ms))
        counted = [r for r in self.model.readers if r.status != "pending" and not r.is_own]
        verified = sum(r.status == "verified" for r in counted)
        taken_back = sum(r.is_reversed for r in counted)
        assert (found.verified, found.reversed) == (verified, taken_back)
        rejected = len(counted) - verified - taken_back
        assert rejected - self.outside <= found.rejected <= rejected
        self.service.run(verify(self.service.services.store))
