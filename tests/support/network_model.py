"""A partner network in plain Python, to compare the real one with."""

from dataclasses import dataclass, field

from tests.support.trade import DAY_MS, HOUR_MS, NOON_MS


def month_of(ms: int) -> str:
    """By counting months from 2026-01, another way than the rules do it."""
    days, month = ms // DAY_MS - 20_454, 0
    while days >= (
        length := (31, 29 if month // 12 % 4 == 2 else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[
            month % 12
        ]
    ):
        days, month = days - length, month + 1
    return f"{2026 + month // 12}-{month % 12 + 1:02d}"


@dataclass(eq=False)  # two may say the same and are still two
class Owner:
    """Whose list the readers of some programs are on."""

    blocked_people: set[int] = field(default_factory=set)


@dataclass(eq=False)
class Offer:
    """The model's view of a program."""

    cpa: int
    budget: int
    cap: int
    hold_days: int
    paused: bool = False
    is_deleted: bool = False
    owner: Owner = field(default_factory=Owner)
    needs_confirmation: bool = False
    paid_people: set[int] = field(default_factory=set)
    spent: dict[str, int] = field(default_factory=dict)
    begun: set[str] = field(
        default_factory=set
    )  # months in which a fee was asked for or the budget changed
    reached: set[str] = field(default_factory=set)  # the budget of today, while the month is open
    reached_at: dict[str, int] = field(default_factory=dict)  # the highest budget that was
    overrun: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The highest budget without room for a fee, and when the reader with that fee came."""
    earned: dict[tuple[int, str], int] = field(default_factory=dict)

    def reach(self, month: str, at: int) -> None:
        self.reached_at[month] = max(self.reached_at.get(month, -1), at)
        self._mark(month)

    def overspend(self, month: str, at: int, came_ms: int) -> None:
        """Only those who came then or later are stopped by it."""
        old_at, old_ms = self.overrun.get(month, (-1, 0))
        if at > old_at or (at == old_at and came_ms < old_ms):
            self.overrun[month] = at, came_ms
        self._mark(month)

    def _mark(self, month: str) -> None:
        highest = max(self.reached_at.get(month, -1), self.overrun.get(month, (-1, 0))[0])
        if highest >= self.budget:
            self.reached.add(month)

    def stops(self, month: str, budget: int, came_ms: int) -> bool:
        at, since_ms = self.overrun.get(month, (-1, 0))
        return budget <= self.reached_at.get(month, -1) or (budget <= at and came_ms >= since_ms)

    removed: set[int] = field(default_factory=set)  # partners, by the owner
    blocked: set[int] = field(default_factory=set)  # in all programs of the owner
    left: set[int] = field(default_factory=set)  # by themselves
    shared: set[int] = field(default_factory=set)  # have a member in common with the owner


@dataclass
class Reader:
    offer: Offer
    partner: int
    person: int
    fee: int
    budget: int  # when they came, like the fee
    cap: int
    status: str
    listed_as: int  # the person whose address they have by now
    is_own: bool
    came_ms: int = 0
    due_ms: int | None = None
    charged: int | None = None
    charged_month: str = ""
    is_reversed: bool = False
    was_verified: bool = False
    why_not: str | None = None
    here: bool = True
    must_confirm: bool = False
    by_hand: bool = False
    """Whether the owner verified it, who need not wait for anything."""
    has_left: bool = False
    is_ended: bool = False
    """By the owner's team, so the owner decides about the fee."""
    id: str = ""

    @property
    def is_subscriber(self) -> bool:
        """Or was one: who still has to confirm is none yet."""
        return self.here and (self.has_left or not self.must_confirm)


class Model:
    """A hundred lines of what product.md says, without a database."""

    def __init__(self) -> None:
        self.readers: list[Reader] = []
        self.closed: set[str] = set()

    def open_month(self, now_ms: int) -> str:
        latest = max(self.closed, default="")
        month = month_of(now_ms)
        if month > latest:
            return month
        year, number = int(latest[:4]), int(latest[5:])
        return f"{year + number // 12}-{number % 12 + 1:02d}"

    def arrive(
        self,
        offer: Offer,
        partner: int,
        person: int,
        now_ms: int,
        *,
        is_asked: bool,
        is_refused: bool = False,
    ) -> Reader:
        """`is_asked`: they came in a way that asks for a confirmation, if the newsletter does.
        `is_refused`: their address is one that does not count."""
        reader = Reader(
            offer,
            partner,
            person,
            offer.cpa,
            offer.budget,
            offer.cap,
            "verified",
            listed_as=person,
            is_own=partner < 0 or partner in offer.shared,
            came_ms=now_ms,
        )
        reader.must_confirm = is_asked and offer.needs_confirmation
        if (
            is_refused
            or offer.paused
            or offer.is_deleted
            or person in offer.owner.blocked_people
            or partner in offer.removed | offer.blocked | offer.left
            or any(
                other.is_subscriber
                and other.listed_as == person
                and other.offer.owner is offer.owner
                for other in self.readers
            )
        ):
            reader.status = "rejected"
        elif offer.hold_days or reader.must_confirm:
            reader.status = "pending"
            if offer.hold_days:
                reader.due_ms = now_ms + offer.hold_days * DAY_MS
        else:
            self.verify(reader, now_ms)
        self.readers.append(reader)
        return reader

    def verify(self, reader: Reader, now_ms: int) -> None:
        offer, month = reader.offer, self.open_month(now_ms)
        reader.status, reader.why_not = "verified", None
        reader.was_verified, reader.is_reversed = True, False
        if not reader.is_own and reader.fee > 0:
            offer.begun.add(month)
        spent, earned = offer.spent.get(month, 0), offer.earned.get((reader.partner, month), 0)
        budget, cap = max(offer.budget, reader.budget), max(offer.cap, reader.cap)
        if reader.is_own:
            reader.why_not = "own_program"
        elif reader.fee == 0:
            reader.why_not = "free"
        elif reader.person in offer.paid_people:
            reader.why_not = "already_charged"
        elif offer.stops(month, budget, reader.came_ms):
            reader.why_not = "budget_spent"
        elif spent + reader.fee > budget:
            reader.why_not = "budget_spent"
            offer.overspend(month, budget, reader.came_ms)
        elif earned + reader.fee > cap:
            reader.why_not = "partner_cap"
        else:
            reader.charged, reader.charged_month = reader.fee, month
            offer.paid_people.add(reader.person)
            offer.spent[month] = spent + reader.fee
            offer.earned[reader.partner, month] = earned + reader.fee
            for full in (offer.budget, budget):
                if offer.spent[month] == full or offer.spent[month] > full == offer.budget:
                    offer.reach(month, full)

    def reverse(self, reader: Reader) -> str | None:
        """Why it cannot be; None if it was."""
        if reader.is_reversed:
            return "already_reversed"
        if reader.charged is None:
            return "not_charged"
        if reader.charged_month in self.closed:
            return "month_closed"
        offer, month = reader.offer, reader.charged_month
        offer.spent[month] -= reader.charged
        offer.earned[reader.partner, month] -= reader.charged
        offer.paid_people.remove(reader.person)
        reader.status, reader.is_reversed, reader.charged = "rejected", True, None
        return None

    def end_pending(self, offer: Offer, partner: int) -> None:
        """They stay subscribers, or go on not being one yet."""
        for reader in self.readers:
            if reader.offer is offer and reader.partner == partner and reader.status == "pending":
                reader.status = "rejected"

    def set_budget(self, offer: Offer, budget: int, now_ms: int) -> None:
        if budget == offer.budget:
            return
        offer.begun.add(self.open_month(now_ms))
        offer.budget = budget
        for month in offer.begun - self.closed:
            offer.reached.discard(month)
            at = budget if budget <= offer.spent.get(month, 0) else -1
            offer.reach(month, at)

    def confirm(self, reader: Reader, now_ms: int) -> None:
        """They confirm their address."""
        reader.has_left = False
        has_waited, reader.must_confirm = reader.must_confirm or reader.is_ended, False
        if reader.is_ended and reader.status == "pending":
            reader.is_ended, reader.due_ms = False, (reader.due_ms or 0) - 30 * DAY_MS
        is_over = reader.due_ms is None or reader.due_ms <= now_ms
        if has_waited and reader.status == "pending" and is_over:
            self.verify(reader, now_ms)

    def leave(
        self, reader: Reader, now_ms: int = 0, *, by_team: bool = False, erased: bool = False
    ) -> None:
        was_gone, reader.has_left, reader.here = reader.has_left, True, not erased
        if reader.status != "pending" or (reader.is_ended and (was_gone or by_team or erased)):
            return
        if by_team and reader.fee and not reader.is_own:
            reader.is_ended = True
            reader.due_ms = (now_ms if reader.due_ms is None else reader.due_ms) + 30 * DAY_MS
        else:
            reader.status = "rejected"

    def verify_due(self, now_ms: int) -> list[Reader]:
        ripe = [
            r
            for r in self.readers
            if r.status == "pending"
            if r.is_ended or (r.here and not r.must_confirm)
            if r.due_ms is not None and r.due_ms <= now_ms
        ]
        return sorted(ripe, key=lambda reader: reader.due_ms or 0)

    def close(self, now_ms: int, begun: set[str]) -> None:
        this = month_of(now_ms)
        over = {month for month in begun | {month_of(_first_ms(this) - 1)} if month < this}
        self.closed |= {month for month in over if now_ms >= _first_ms(_after(month)) + HOUR_MS}


def _after(month: str) -> str:
    year, number = int(month[:4]), int(month[5:])
    return f"{year + number // 12}-{number % 12 + 1:02d}"


def _first_ms(month: str) -> int:
    ms = NOON_MS - 700 * DAY_MS
    ms -= ms % DAY_MS
    while month_of(ms) < month:
        ms += DAY_MS
    return ms
