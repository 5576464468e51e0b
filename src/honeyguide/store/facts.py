"""What a reading has loaded and may be asked for again, and which tables its transaction wrote."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, NamedTuple

from honeyguide.store.statements import Statement


class Fact(NamedTuple):
    value: Any
    tables: Set[str]
    """Which it was read from."""
    writes: int
    """How many writes its transaction had made."""


class TableWrites:
    """The tables that a transaction has written to, and when."""

    __slots__ = ("_last", "writes")

    def __init__(self) -> None:
        self.writes = 0
        self._last: dict[str, int] = {}

    def note(self, statement: Statement[Any]) -> None:
        if statement.changed_tables:
            self.writes += 1
        for table in statement.changed_tables:
            self._last[table] = self.writes

    def is_stale(self, fact: Fact) -> bool:
        """Whether a table was written to since the fact was read from it."""
        return self.writes > fact.writes and any(
            self._last.get(table, 0) > fact.writes for table in fact.tables
        )
