"""What a reading has loaded and may be asked for again, and what its transaction wrote since."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, NamedTuple

from honeyguide.store.statements import Statement


class Fact(NamedTuple):
    value: Any
    names: Set[str]
    """The tables and columns that the statements name which it was read by."""
    writes: int
    """How many writes its transaction had made."""


class TableWrites:
    """The writes of a transaction, and when each ran last."""

    __slots__ = ("_last", "writes")

    def __init__(self) -> None:
        self.writes = 0
        self._last: dict[Statement[Any], int] = {}

    def note(self, statement: Statement[Any]) -> None:
        if statement.altered:
            self.writes += 1
            self._last[statement] = self.writes

    def is_stale(self, fact: Fact) -> bool:
        """Whether something was written since that it was read from."""
        return self.writes > fact.writes and any(
            at > fact.writes and statement.alters(fact.names)
            for statement, at in self._last.items()
        )
