"""A random history of one owner's programs and partners, made over HTTP, and an independent count
of it: plain loops over the rows, none of the code that the pages use.
"""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from honeyguide.accounts import accounts
from honeyguide.kernel.clock import DAY_MS, system_clock
from honeyguide.partners import rules
from tests.support.partner_network import join, offer, publish
from tests.support.recorded_month import Ahead
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import operator

# By their cents, budgets, caps and days of holding period. The first two have the same name.
PROGRAMS = {
    "a": (250, (1_000, 2_000, 3_000), (500, 1_000, 1_500), (3, 10, 20)),
    "b": (300, (400, 1_000, 2_500), (300, 900, 5_000), (0, 5)),
    "free": (0, (1_000,), (1_000,), (0, 5)),
}
WAIT = ("needs_review", "awaiting_activity")
# What is known of a referral only by its evidence or by email is written into the row.
SET_REASON = statement(
    "UPDATE subscriber SET referral_reason = :reason, referral_due_ms = :due_ms WHERE id = :id"
)


class Row(NamedTuple):
    """A partner's referral."""

    place: str
    program: str
    subscriber_id: str
    fee_cents: int
    is_own: int
    decided_ms: int | None
    person_key: str
    reason: str | None
    due_ms: int | None
    budget_cents: int
    cap_cents: int


class Step(NamedTuple):
    """A charge, or the reversal of one."""

    place: str
    program: str
    month: str
    cents: int
    person_key: str


# A month and a partner campaign.
Place = tuple[str, str]


class RandomHistory:
    def __init__(self, service: Service, seed: int, zone: str) -> None:
        self.service, self.chance = service, random.Random(seed)
        month = rules.next_month(rules.month_of(service.now_ms()))
        self.first_ms = rules.month_bounds(month)[0]
        self.be_on(0.5)
        self.owner = operator(service, "alice")
        self.owner.make(accounts.set_time_zone, zone)
        self.partners = {name: operator(service, name) for name in ("bob", "carl", "dora")}
        self.publications: dict[str, dict[str, Any]] = {}
        self.programs: dict[str, dict[str, Any]] = {}
        for key, (cpa, budgets, caps, days) in PROGRAMS.items():
            name = "The Morning Wax" if cpa else "The Free Paper"
            self.publications[key] = publish(self.owner, name=name)
            hold = self.chance.choice(days)
            self.programs[key] = offer(
                self.owner,
                self.publications[key],
                cpa=cpa / 100,
                total_budget=self.chance.choice(budgets) / 100,
                max_payout=self.chance.choice(caps) / 100,
                referral_pending_duration_enabled=hold > 0,
                referral_pending_duration=hold,
            )
        self.joined = {
            (name, key): join(partner, program)
            for name, partner in [*self.partners.items(), ("alice", self.owner)]
            for key, program in self.programs.items()
            if name != "alice" or key == "a"
        }
        self.people: list[dict[str, Any]] = []
        self.gone: list[str] = []
        self._number = 0

    def be_on(self, day: float) -> None:
        at_ms = self.first_ms + round(day * DAY_MS)
        self.service.set_clock((at_ms - system_clock()) / 1000)

    def live(self, days: int) -> None:
        """From the day on which the clock is; jobs run on some of them."""
        start = (self.service.now_ms() - self.first_ms) // DAY_MS
        for day in range(start, start + days):
            self.be_on(day + self.chance.random())
            for _ in range(self.chance.randrange(10)):
                self._happen()
            if self.chance.random() < 0.5:
                self.service.run_jobs()
        self.be_on(start + days + self.chance.choice([0.001, 0.5, 0.99]))
        self.service.run_jobs()
        for who in (self.owner, *self.partners.values()):
            who.web.log_in(who.email)

    def _happen(self) -> None:
        kinds: list[tuple[int, Callable[[], Any]]] = [
            (60, self._come),
            (7, self._unsubscribe),
            (4, self._erase),
            (7, self._decide),
            (6, self._take_back),
            (6, self._change_terms),
            (4, self._switch),
            (5, self._part),
            (5, self._wait_for_somebody),
        ]
        weights, acts = zip(*kinds, strict=True)
        self.chance.choices(acts, weights)[0]()

    def _come(self) -> None:
        self._number += 1
        email, chance = f"reader{self._number}@example.org", self.chance
        if self.gone and chance.random() < 0.1:
            email = chance.choice(self.gone)
        codes = [each["ref_code"] for each in self.joined.values()]
        codes += [each["ref_code"] for each in self.people[-3:]]
        fields: dict[str, Any] = {"email": email, "referrer_code": chance.choice([*codes, None])}
        if chance.random() < 0.1:
            past = datetime.fromtimestamp(self.service.now_ms() // 1000 - 3 * 86_400, UTC)
            fields["created_at"] = past.strftime("%Y-%m-%dT%H:%M:%SZ")
        answer = self.owner.post(f"{self.owner.v1}/subscribers", fields)
        if answer.status_code == 201:
            self.people.append(answer.json()["subscriber"])

    def _somebody(self) -> str:
        """The path of a subscriber; of nobody, if nobody is there."""
        person = self.chance.choice(self.people)["uuid"] if self.people else "nobody"
        return f"{self.owner.v1}/subscribers/{person}"

    def _unsubscribe(self) -> None:
        self.owner.put(self._somebody(), {"status": "unsubscribed"})

    def _erase(self) -> None:
        if self.people:
            person = self.people.pop(self.chance.randrange(len(self.people)))
            self.owner.delete(f"{self.owner.v1}/subscribers/{person['uuid']}")
            self.gone.append(person["email"])

    def _decide(self) -> None:
        how = self.chance.choice(["verify", "verify", "reject"])
        self.owner.post(f"{self._somebody()}/referral/{how}")

    def _take_back(self) -> None:
        path = f"/v2/partner_programs/{self.programs[self.chance.choice('ab')]['uuid']}"
        rows = self.owner.get(f"{path}/referrals").json().get("referrals", [])
        if rows:
            uuid = self.chance.choice(rows)["uuid"]
            self.owner.post(f"{path}/referrals/{uuid}/reversal", {"reason": "robot"})

    def _change_terms(self) -> None:
        key, dollars = self.chance.choice("ab"), self.chance.choice([2, 5, 8, 20, 40])
        # Fees change only to nothing and back: then the month's most is the same in any order.
        cpa = self.chance.choice([0, PROGRAMS[key][0] / 100])
        terms = [{"total_budget": dollars}, {"max_payout": dollars}, {"cpa": cpa}]
        path = f"/v2/partner_programs/{self.programs[key]['uuid']}"
        self.owner.put(path, self.chance.choice(terms))

    def _switch(self) -> None:
        path = f"/v2/publications/{self.publications[self.chance.choice('ab')]['uuid']}"
        off = [{"enabled_partner_program": False}, {"status": "archived"}]
        on = [{"enabled_partner_program": True}, {"status": "active"}]
        self.owner.put(path, self.chance.choice([*off, *on, *on]))

    def _part(self) -> None:
        if self.chance.random() < 0.1:
            self.owner.delete(f"/v2/partner_programs/{self.programs['b']['uuid']}")
            return
        (name, key), place = self.chance.choice(list(self.joined.items()))
        path = f"/v2/partner_programs/{self.programs[key]['uuid']}/partners/{place['uuid']}"
        network = f"/v2/partner_network/partner_programs/{self.programs[key]['uuid']}/join"
        partner = self.partners.get(name, self.owner)
        ends = self.chance.choice(["true", "false"])
        acts: list[Callable[[], Any]] = [
            lambda: self.owner.delete(path, params={"end_pending": ends}),
            lambda: self.owner.post(f"{path}/allow"),
            lambda: partner.delete(f"/v2/partner_profile/partner_campaigns/{place['uuid']}"),
            lambda: partner.post(network),
        ]
        self.chance.choice(acts)()

    def _wait_for_somebody(self) -> None:
        waiting = [row for row in self.rows() if row.decided_ms is None]
        if waiting:
            row, reason = self.chance.choice(waiting), self.chance.choice([*WAIT, "confirm"])
            due_ms = row.due_ms
            if reason in WAIT:
                due_ms = self.service.now_ms() + self.chance.randrange(20, 44) * DAY_MS
            values = {"reason": reason.replace("confirm", "awaiting_confirmation")}
            self.service.write(
                lambda tx: tx.run(SET_REASON, **values, due_ms=due_ms, id=row.subscriber_id)
            )

    # -- counted again, in the plainest way

    def read(self, sql: str) -> list[Any]:
        account_id = self.owner.account_id
        return self.service.read(lambda tx: tx.all(statement(sql), account_id=account_id))

    def rows(self) -> list[Row]:
        sql = (
            "SELECT r.partner_campaign_id, r.program_id, r.subscriber_id, r.fee_cents, r.is_own, "
            "r.decided_ms, r.person_key, s.referral_reason, s.referral_due_ms, "
            "r.budget_cents, r.cap_cents "
            "FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id "
            "WHERE r.account_id = :account_id"
        )
        return [Row(*row) for row in self.read(sql)]

    def steps(self) -> list[Step]:
        sql = (
            "SELECT partner_campaign_id, program_id, month, fee_cents, person_key FROM charge "
            "WHERE account_id = :account_id"
        )
        return [Step(*row) for row in self.read(sql)]

    def ahead(self, program_id: str, *, is_shuffled: bool = False) -> dict[Place, Ahead]:
        """By month and partner: one referral after the other, as they fall due; or in any order."""
        sql = "SELECT id, total_budget_cents, max_payout_cents FROM program"
        terms = {row[0]: row[1:] for row in self.read(f"{sql} WHERE account_id = :account_id")}
        budget, cap = terms[program_id]
        sql = "SELECT program_id, month, reached_cents FROM budget WHERE account_id = :account_id"
        reached = {month: at for of, month, at in self.read(sql) if of == program_id}
        steps = [step for step in self.steps() if step.program == program_id]
        due, found = self._due(program_id, steps), {}
        if is_shuffled:
            self.chance.shuffle(due)
        for month, place, fee_cents, *limits in due:
            most, most_of_partner = (max(pair) for pair in zip((budget, cap), limits, strict=True))
            spent = sum(each.cents for each in steps if each.month == month)
            own = sum(each.cents for each in steps if (each.month, each.place) == (month, place))
            one = Ahead(1, fee_cents)
            if most <= reached.get(month, -1) or spent + fee_cents > most:
                reached[month] = max(most, reached.get(month, -1))
                one = one._replace(over_budget_cents=fee_cents)
            elif own + fee_cents > most_of_partner:
                one = one._replace(over_cap_cents=fee_cents)
            else:
                one = one._replace(expected_cents=fee_cents)
                steps.append(Step(place, program_id, month, fee_cents, ""))
                full = most if spent + fee_cents == most else budget
                if spent + fee_cents >= full:
                    reached[month] = max(full, reached.get(month, -1))
            found[month, place] = found.get((month, place), Ahead()) + one
        return found

    def standing(self, program_id: str, place: str, month: str) -> tuple[int, int]:
        """The pending fees of a partner that can still be charged in a month, and the most that is
        charged of them, in whatever order they are decided."""
        sql = "SELECT id, total_budget_cents, max_payout_cents FROM program"
        terms = {row[0]: row[1:] for row in self.read(f"{sql} WHERE account_id = :account_id")}
        budget, cap = terms[program_id]
        sql = "SELECT program_id, month, reached_cents FROM budget WHERE account_id = :account_id"
        reached = {name: at for of, name, at in self.read(sql) if of == program_id}
        steps = [step for step in self.steps() if step.program == program_id]
        spent = sum(each.cents for each in steps if each.month == month)
        own = sum(each.cents for each in steps if (each.month, each.place) == (month, place))
        rooms, pending = [], 0
        for row in self._payable(program_id, steps):
            if row.place == place and month in self._months(row):
                most = max(budget, row.budget_cents)
                room = min(most - spent, max(cap, row.cap_cents) - own)
                is_stopped = most <= reached.get(month, -1) or room < row.fee_cents
                pending += row.fee_cents
                rooms += [] if is_stopped else [(room, row.fee_cents)]
        most_cents = 0
        for room, fee_cents in sorted(rooms):
            most_cents = min(most_cents + fee_cents, room)
        return pending, most_cents

    def _months(self, row: Row) -> list[str]:
        """This and the next, as far as it can be decided in them."""
        now_ms = self.service.now_ms()
        months = [rules.month_of(now_ms)]
        months.append(rules.next_month(months[0]))
        from_ms = max(now_ms, (None if row.reason in WAIT else row.due_ms) or now_ms)
        until_ms = from_ms
        if row.reason in WAIT:
            until_ms = max(from_ms, row.due_ms or 0)
        elif row.reason == "awaiting_confirmation" or row.due_ms is None:
            return [each for each in months if each >= rules.month_of(from_ms)]
        last = rules.month_of(until_ms + 3_600_000)
        return [each for each in months if rules.month_of(from_ms) <= each <= last]

    def limits(self, program_id: str) -> set[tuple[int, int]]:
        """Budget and cap of today, and those under which those who wait came, if higher."""
        sql = "SELECT id, total_budget_cents, max_payout_cents FROM program"
        of_all = self.read(f"{sql} WHERE account_id = :account_id")
        (budget, cap), *_ = [row[1:] for row in of_all if row[0] == program_id]
        waiting = [r for r in self.rows() if r.program == program_id and r.decided_ms is None]
        return {(budget, cap)} | {
            (max(budget, r.budget_cents), max(cap, r.cap_cents)) for r in waiting
        }

    def _due(self, program_id: str, steps: list[Step]) -> list[tuple[str, str, int, int, int]]:
        """What may be charged, with its month and its limits, in the order in which it falls due;
        what waits for somebody comes last."""
        now_ms, found = self.service.now_ms(), []
        for row in self._payable(program_id, steps):
            dated = None if row.reason in WAIT else row.due_ms
            due_ms = max(dated or now_ms, now_ms)
            waits = dated is None or row.reason == "awaiting_confirmation"
            order = (rules.month_of(due_ms), waits, due_ms, row.subscriber_id)
            limits = (row.budget_cents, row.cap_cents)
            found.append((order, (order[0], row.place, row.fee_cents, *limits)))
        return [each for _, each in sorted(found)]

    def _payable(self, program_id: str, steps: list[Step]) -> list[Row]:
        """What is pending and may be charged."""
        found = []
        for row in self.rows():
            is_paid = sum(
                1 if step.cents > 0 else -1 for step in steps if step.person_key == row.person_key
            )
            if row.program != program_id or row.decided_ms is not None or row.is_own or is_paid:
                continue
            if row.fee_cents and row.reason != "partner_removed":
                found.append(row)
        return found
