"""A month of one owner with two programs of the same name and two partners, made over HTTP, and an
independent count of it: plain loops over the rows, none of the code that the pages use.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from honeyguide.kernel.clock import DAY_MS, system_clock
from honeyguide.partners import rules
from honeyguide.subscribers import clicks
from tests.support.partner_network import join, offer, publish
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import Operator, operator

BUDGET, CAP, FEE = 3_000, 1_500, 250
HOLD = {"referral_pending_duration_enabled": True, "referral_pending_duration": 3}


class Row(NamedTuple):
    partner: str
    program: str
    subscriber_id: str
    fee_cents: int
    arrived_ms: int
    decided_ms: int | None
    due_ms: int | None
    status: str
    subscription: str


class Ahead(NamedTuple):
    """What one partner can still get in one program in one month."""

    pending: int = 0
    pending_cents: int = 0
    expected_cents: int = 0
    over_cap_cents: int = 0
    over_budget_cents: int = 0

    def __add__(self, other: Any) -> Ahead:
        return Ahead(*(a + b for a, b in zip(self, other, strict=True)))


class RecordedMonth:
    """Seen on its twelfth day."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.month = rules.next_month(rules.month_of(service.now_ms()))
        self.first_ms = rules.month_bounds(self.month)[0]
        self._be_on(1)
        self.owner = operator(service, "alice")
        self.partners = {name: operator(service, name) for name in ("bob", "carl")}
        held = offer(
            self.owner,
            publish(self.owner),
            cpa=2.5,
            total_budget=BUDGET / 100,
            max_payout=CAP / 100,
            **HOLD,
        )
        quick = offer(self.owner, publish(self.owner), cpa=1, total_budget=10, max_payout=10)
        self.programs = {"held": held, "quick": quick}
        self.joined = {
            (name, key): join(partner, program)
            for name, partner in self.partners.items()
            for key, program in self.programs.items()
        }
        self._number = 0

    def play(self) -> None:
        self._be_on(2)
        friend = self._come()
        for _ in range(2):
            self._come(code=friend["ref_code"])
        first = [self._partner("bob") for _ in range(4)]
        carls = [self._partner("carl") for _ in range(3)]
        self._partner("bob", "quick")
        self._partner("bob", "quick")
        self._come("bot@mailinator.com", code=self.joined["bob", "held"]["ref_code"])
        path = f"{self.owner.v1}/subscribers/{first[0]['uuid']}"
        assert self.owner.put(path, {"status": "unsubscribed"}).status_code == 200
        self._click("bob", 5)
        self._be_on(6)
        self.service.run_jobs()
        self._take_back(carls[0]["uuid"])
        self._be_on(10)
        for _ in range(4):
            self._partner("bob")
            self._partner("carl")
        for _ in range(3):
            self._partner("bob")
        self._click("carl", 2)
        self._be_on(11)
        self.service.run_jobs()
        for who in (self.owner, *self.partners.values()):
            who.web.log_in(who.email)

    def _be_on(self, day: int) -> None:
        at_ms = self.first_ms + day * DAY_MS + DAY_MS // 2
        self.service.set_clock((at_ms - system_clock()) / 1000)

    def _come(self, email: str = "", **fields: Any) -> dict[str, Any]:
        self._number += 1
        code = fields.get("code")
        return self.owner.subscribe(
            email or f"reader{self._number}@example.org",
            **({"referrer_code": code} if code else {}),
        )

    def _partner(self, name: str, program: str = "held") -> dict[str, Any]:
        return self._come(code=self.joined[name, program]["ref_code"])

    def _click(self, name: str, many: int) -> None:
        site, now_ms = self.service.services.site, self.service.now_ms()
        joined = self.joined[name, "held"]
        made = [
            clicks.click(
                site,
                account_id=self.owner.account_id,
                target_id=joined["uuid"],
                code=joined["ref_code"],
                address=f"198.51.100.{number}",
                user_agent="a browser",
                now_ms=now_ms,
            )
            for number in range(many)
        ]
        self.service.write(lambda tx: clicks.count_clicks(tx, made))

    def _take_back(self, subscriber_id: str) -> None:
        uuid = self.programs["held"]["uuid"]
        rows = self.owner.get(f"/v2/partner_programs/{uuid}/referrals", params={"per_page": 200})
        (referral,) = [
            row["uuid"]
            for row in rows.json()["referrals"]
            if row["subscriber_uuid"] == subscriber_id
        ]
        path = f"/v2/partner_programs/{uuid}/referrals/{referral}/reversal"
        answer = self.owner.post(path, {"reason": "robot"})
        assert answer.status_code == 201, answer.text

    # -- counted again, in the plainest way

    def rows(self) -> list[Row]:
        sql = (
            "SELECT r.partner_campaign_id, r.program_id, r.subscriber_id, r.fee_cents, "
            "r.arrived_ms, r.decided_ms, s.referral_due_ms, s.referral_status, s.status "
            "FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id "
            "WHERE r.account_id = :account_id"
        )
        names = {joined["uuid"]: key for key, joined in self.joined.items()}
        found = self.service.read(
            lambda tx: tx.all(statement(sql), account_id=self.owner.account_id)
        )
        return [Row(*names[row[0]], *row[2:]) for row in found]

    def charges(self) -> list[tuple[str, str, int]]:
        """(partner, program, cents) of the month; a reversal is negative."""
        sql = (
            "SELECT partner_campaign_id, fee_cents FROM charge "
            "WHERE account_id = :account_id AND month = :month"
        )
        names = {joined["uuid"]: key for key, joined in self.joined.items()}
        found = self.service.read(
            lambda tx: tx.all(statement(sql), account_id=self.owner.account_id, month=self.month)
        )
        return [(*names[row[0]], row[1]) for row in found]

    def charged_cents(self, partner: str = "", program: str = "") -> int:
        return sum(
            cents
            for who, what, cents in self.charges()
            if partner in ("", who) and program in ("", what)
        )

    def charged_referrals(self, partner: str = "", program: str = "") -> int:
        return sum(
            1 if cents > 0 else -1
            for who, what, cents in self.charges()
            if partner in ("", who) and program in ("", what)
        )

    def ahead(self) -> dict[str, Ahead]:
        """Of the program with a holding period: one referral after the other."""
        left = BUDGET - self.charged_cents(program="held")
        caps = {name: CAP - self.charged_cents(name, "held") for name in self.partners}
        found = {name: Ahead() for name in self.partners}
        is_reached = False
        waiting = [row for row in self.rows() if row.decided_ms is None]
        for row in sorted(waiting, key=lambda each: (each.due_ms or 0, each.subscriber_id)):
            assert row.program == "held" and row.fee_cents == FEE
            one = Ahead(1, FEE)
            if is_reached or left < FEE:
                is_reached, one = True, one._replace(over_budget_cents=FEE)
            elif caps[row.partner] < FEE:
                one = one._replace(over_cap_cents=FEE)
            else:
                one = one._replace(expected_cents=FEE)
                left -= FEE
                caps[row.partner] -= FEE
                is_reached = left == 0
            sums = zip(found[row.partner], one, strict=True)
            found[row.partner] = Ahead(*(a + b for a, b in sums))
        return found

    def limit_cents(self, name: str) -> int:
        """The most that a partner can still get in it, in whatever order referrals are decided."""
        waiting = [row for row in self.rows() if row.decided_ms is None and row.partner == name]
        budget_cents = BUDGET - self.charged_cents(program="held")
        cap_cents = CAP - self.charged_cents(name, "held")
        return min(FEE * len(waiting), budget_cents, cap_cents)

    def signups(self) -> Counter[str]:
        """Of everybody, by what became of them; in the words of the CSV."""
        sql = "SELECT referrer_code, referral_status FROM subscriber WHERE account_id = :account_id"
        found = self.service.read(
            lambda tx: tx.all(statement(sql), account_id=self.owner.account_id)
        )
        counts = Counter({"New": len(found)})
        for code, status in found:
            counts[status.capitalize() if code else "Not referred"] += 1
        return counts


def member_of(played: RecordedMonth, who: str) -> Operator:
    return played.owner if who == "owner" else played.partners[who]
