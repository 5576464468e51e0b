"""How the columns of a row become what the types of its fields say. A database stores a flag as 0
or 1, and a list, a dictionary or a struct as JSON.

How is settled once, when a statement or a view is declared; nothing looks at types afterwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum
from itertools import repeat
from operator import itemgetter
from types import NoneType
from typing import Any, Generic, TypeVar, get_type_hints

import msgspec
from msgspec.structs import force_setattr

from honeyguide.kernel.fields import plain_types

R = TypeVar("R")

Read = Callable[[Any], Any]
_IN_JSON = (list, dict, set, tuple, msgspec.Struct)


def reader_of(hint: Any) -> Read | None:
    """What makes a stored value one of this type, or None if it is one already."""
    kinds = plain_types(hint)[0]
    for kind in kinds - {NoneType}:
        if issubclass(kind, (bool, Enum, *_IN_JSON)):
            read: Read = msgspec.json.Decoder(hint).decode if issubclass(kind, _IN_JSON) else kind
            return _unless_null(read) if NoneType in kinds else read
    return None


def _unless_null(read: Read) -> Read:
    return lambda value: None if value is None else read(value)


class RowMaker(Generic[R]):
    """Makes rows of columns, which are in the order of the fields. The last ones may be missing."""

    def __init__(self, row: Callable[..., R]) -> None:
        names = getattr(row, "__match_args__", ())
        hints = get_type_hints(row) if names else {}
        readers = [(place, name, reader_of(hints[name])) for place, name in enumerate(names)]
        self._row = row
        self._readers = [(place, name, read) for place, name, read in readers if read is not None]
        self._is_struct = isinstance(row, type) and issubclass(row, msgspec.Struct)
        self.one: Callable[..., R] = self._read_one if self._readers else row

    def _read_one(self, *columns: Any) -> R:
        values = list(columns)
        for place, _, read in self._readers:
            if place < len(values):
                values[place] = read(values[place])
        return self._row(*values)

    def all(self, rows: Sequence[Sequence[Any]]) -> list[R]:
        if not self._is_struct or not rows:
            return [self.one(*columns) for columns in rows]
        made = [self._row(*columns) for columns in rows]
        # Lists have large rows with one flag in them: this takes half the time of a copy of each.
        for place, name, read in self._readers:
            if place < len(rows[0]):
                values = map(read, map(itemgetter(place), rows))
                deque(map(force_setattr, made, repeat(name), values), maxlen=0)  # type: ignore[arg-type]
        return made
