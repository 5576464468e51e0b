"""The numbers of the filled databases, and the SQL expressions that fill them on each engine."""

from __future__ import annotations

from dataclasses import dataclass

from bench.people import Campaign
from honeyguide.kernel.clock import DAY_MS

LARGE, ORDINARY = "large", "ordinary"


@dataclass(frozen=True)
class Sizes:
    subscribers: int
    accounts: int

    @property
    def events(self) -> int:
        return self.subscribers // 10

    @property
    def large(self) -> int:
        return self.subscribers // 10

    @property
    def ordinary(self) -> int:
        """Subscribers of the first ordinary account."""
        return -(-(self.subscribers - self.large) // (self.accounts - 1))


def webhook_id(account_n: int) -> str:
    return f"0000000b-0000-7000-8000-{account_n:012d}"


def program_id(account_n: int) -> str:
    return f"00000003-0000-7000-8000-{account_n:012d}"


@dataclass(frozen=True)
class Expressions:
    """What the statements leave open, as SQL of one engine."""

    on_sqlite: bool
    sizes: Sizes
    campaigns: dict[str, Campaign]
    now_ms: int

    def padded(self, number: str) -> str:
        if self.on_sqlite:
            return f"printf('%012d', {number})"
        return f"lpad(({number})::text, 12, '0')"

    def series(self, first: int, end: int) -> str:
        if not self.on_sqlite:
            return f"generate_series({first}::bigint, {end - 1}) AS s(n)"
        numbers = f"SELECT {first} UNION ALL SELECT n + 1 FROM s LIMIT {end - first}"
        return f"(WITH RECURSIVE s(n) AS ({numbers}) SELECT n FROM s)"

    def subscriber_id(self, number: str, created_ms: str) -> str:
        """As the service makes them: they begin with the time."""
        if self.on_sqlite:
            time = f"printf('%012x', {created_ms})"
        else:
            time = f"lpad(to_hex({created_ms}), 12, '0')"
        return (
            f"substr({time}, 1, 8) || '-' || substr({time}, 9) || '-7000-8000-' || "
            f"{self.padded(number)}"
        )

    def day(self) -> str:
        if self.on_sqlite:
            return "strftime('%Y-%m-%d', created_ms / 1000, 'unixepoch')"
        return "to_char(to_timestamp(created_ms / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')"

    def month(self, created_ms: str) -> str:
        if self.on_sqlite:
            return f"strftime('%Y-%m', {created_ms} / 1000, 'unixepoch')"
        return f"to_char(to_timestamp({created_ms} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM')"

    def created(self, number: str) -> str:
        """The large account's subscribers joined in three years, the others in thirty days."""
        sizes, start_ms = self.sizes, self.now_ms - 1096 * DAY_MS
        others = sizes.subscribers - sizes.large
        return (
            f"CASE WHEN {number} < {sizes.large} "
            f"THEN {start_ms} + {number} * {1095 * DAY_MS // sizes.large} "
            f"ELSE {self.now_ms - 31 * DAY_MS} + "
            f"({number} - {sizes.large}) * {30 * DAY_MS} / {others} END"
        )

    def of_account(self, prefix: str, known: tuple[str, str], number: str) -> str:
        return (
            f"CASE {number} WHEN 0 THEN '{known[0]}' WHEN 1 THEN '{known[1]}' "
            f"ELSE '{prefix}-0000-7000-8000-' || {self.padded(number)} END"
        )

    def account(self, number: str = "account_n") -> str:
        large, ordinary = self.campaigns[LARGE], self.campaigns[ORDINARY]
        return self.of_account("0000000a", (large.account_id, ordinary.account_id), number)

    def campaign(self, number: str = "account_n") -> str:
        large, ordinary = self.campaigns[LARGE], self.campaigns[ORDINARY]
        return self.of_account("0000000c", (large.id, ordinary.id), number)
