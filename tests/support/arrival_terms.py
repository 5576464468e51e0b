"""An owner who changes what a program pays, by the API and on the dashboard."""

from typing import Any

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, SECOND_MS
from tests.support.arrival_world import ArrivalWorld
from tests.support.network_model import month_of

CENTS = (0, 1, 299, 300, 600, 2_000, 9_000, 90_000, 1_000_000)
FEES = (0, 100, 250, 300)
# Above the cap, and above the budget, that a program has at first.
HIGH_FEES = (700, 4_001, 9_001, 100_000)
DAYS = (0, 1, 3, 10)


class TermMoves(ArrivalWorld):
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
        field, value = self._new_term()
        self._put(self.program, **self._api_fields(field, value))
        self._set_term(field, value)

    def overprice(self) -> None:
        """A fee that no limit has room for, and one reader who comes under it and is verified by
        hand: the month has nothing left for them, and must keep what it has for those who wait."""
        old = self.offer.cpa
        for fee in (self.chance.choice(HIGH_FEES), old):
            self._put(self.program, cpa=fee / 100)
            self.offer.cpa = fee
            if fee != old:
                self.arrive()
                self._verify_newest()

    def _verify_newest(self) -> None:
        reader = self.model.readers[-1]
        self.owner.post(f"{self.people}/{reader.id}/referral/verify")
        if reader.status != "verified":
            self.model.verify(reader, self.service.now_ms())

    def change_terms_by_form(self) -> None:
        """What is worse for partners begins on the next day (UTC), and those who come before that
        have what was before."""
        if self.offer.paused or self.offer.removed | self.offer.blocked:
            return
        field, value = self._new_term()
        is_worse = self._is_worse(field, value)
        fields = {name: str(given) for name, given in self._api_fields(field, value).items()}
        if field == "hold_days":
            fields = {"referral_pending_duration": str(value)}
            fields["referral_pending_duration_enabled"] = "on" if value else ""
        self._save(f"{self.live.page}/change", **fields)
        if is_worse:
            self.arrive()
            to_midnight_ms = DAY_MS - self.service.now_ms() % DAY_MS
            self._pass(max(0, to_midnight_ms - 20 * SECOND_MS))
            self._work()
            self._pass(40 * SECOND_MS)
            self._set_term(field, value)
            self._work()
        else:
            self._set_term(field, value)

    def _new_term(self) -> tuple[str, int]:
        field = self.chance.choice(["budget", "cap", "cpa", "hold_days"])
        values = {"cpa": FEES, "hold_days": DAYS}.get(field, CENTS)
        return field, self.chance.choice(values)

    def _api_fields(self, field: str, value: int) -> dict[str, Any]:
        if field == "hold_days":
            return self._hold(value)
        names = {"budget": "total_budget", "cap": "max_payout", "cpa": "cpa"}
        return {names[field]: value / 100}

    def _is_worse(self, field: str, value: int) -> bool:
        if field == "budget":
            spent = self.offer.spent.get(month_of(self.service.now_ms()), 0)
            return spent < self.offer.budget and spent >= value
        old = getattr(self.offer, field)
        return bool(value > old if field == "hold_days" else value < old)

    def _set_term(self, field: str, value: int) -> None:
        if field == "budget":
            self.model.set_budget(self.offer, value, self.service.now_ms())
        else:
            setattr(self.offer, field, value)

    def change_rules(self) -> None:
        """Stricter for a while in which nobody comes."""
        self._put(f"{self.program}/verification", screening="strict")
        hold_days = self.chance.choice(DAYS)
        self._put(f"{self.owner.v1}/settings", hold_days=hold_days, screening="strict")
        self.time_passes()
        self._put(f"{self.program}/verification", screening="flexible")
