"""Deleting old rows: a batch is found first and then deleted by its keys, so that a row that cannot
be deleted can be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from honeyguide.store.statements import Statement
from honeyguide.store.tx import Tx

K = TypeVar("K")


class Purge(Generic[K]):
    """`find` binds `most` and what `limits` says about now; `delete` binds the list `rows`, and so
    does `note`, which runs before it."""

    def __init__(
        self,
        find: Statement[K],
        delete: Statement[None],
        limits: Callable[[int], dict[str, Any]],
        *,
        batch: int,
        note: Statement[None] | None = None,
    ) -> None:
        self._find = find
        self._delete = delete
        self._limits = limits
        self._note = note
        self.batch = batch

    async def find(self, tx: Tx, *, most: int) -> list[K]:
        return await tx.all(self._find, most=most, **self._limits(tx.now_ms))

    async def delete(self, tx: Tx, rows: Sequence[K]) -> None:
        bound = [_bound(row) for row in rows]
        if self._note is not None:
            await tx.run(self._note, rows=bound)
        await tx.run(self._delete, rows=bound)

    async def __call__(self, tx: Tx) -> bool:
        """Deletes one batch, and returns whether there may be more."""
        rows = await self.find(tx, most=self.batch)
        await self.delete(tx, rows)
        return len(rows) == self.batch


def _bound(row: Any) -> Any:
    """A key of several columns is a named tuple."""
    return row if isinstance(row, str) else row._asdict()
