"""Which statements a piece of work runs, by their names."""

from collections.abc import Callable
from typing import Any

RUNS = ("one", "all", "lock", "run", "put")


class Counted:
    """A transaction that notes the statements that pass through it."""

    def __init__(self, tx: Any, note: Callable[[str], None] | None = None) -> None:
        self._tx = tx
        self.names: list[str] = []
        self._note = note or self.names.append

    def at(self, now_ms: int) -> Any:
        return Counted(self._tx.at(now_ms), self._note)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._tx, name)
        if name not in RUNS:
            return method

        def counted(statement: Any, *args: Any, **params: Any) -> Any:
            self._note(statement.name)
            return method(statement, *args, **params)

        return counted
