"""Work on many items, of which one may fail: the others are done all the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from honeyguide.kernel.errors import Unavailable

T = TypeVar("T")


async def do_all(
    items: Sequence[T], do: Callable[[Sequence[T]], Awaitable[object]]
) -> list[tuple[T, Exception]]:
    """Does them together and, if that fails, each alone. Returns those that fail alone, and why.
    What `do` leaves of a failed try must not be in the way of the next one. While the database is
    away, this raises `Unavailable`: that is the fault of no item.
    """
    error = await _try(items, do)
    if error is None:
        return []
    if len(items) == 1:
        return [(items[0], error)]
    alone = [(item, await _try([item], do)) for item in items]
    return [(item, error) for item, error in alone if error is not None]


async def _try(
    items: Sequence[T], do: Callable[[Sequence[T]], Awaitable[object]]
) -> Exception | None:
    try:
        await do(items)
    except Unavailable:
        raise
    except Exception as error:
        return error
    return None
