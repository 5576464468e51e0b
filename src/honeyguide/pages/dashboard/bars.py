"""Amounts as parts of a bar, and months as columns: numbers only, the templates draw them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from honeyguide.kernel import money
from honeyguide.kernel.clock import MONTHS
from honeyguide.partners import rules

# Of a column, in pixels.
HEIGHT = 96
LEAST_HEIGHT = 3


class BarPart(NamedTuple):
    """In percent of the whole bar."""

    kind: str
    x: float
    width: float


class Column(NamedTuple):
    month: str
    label: str
    """`Nov`, and the year in January and in the first column."""
    value: str
    height: int
    """Of what is certain, in pixels."""
    more_height: int
    """Of what may come on top of it."""
    note: str = ""


def parts(amounts: Mapping[str, int], *, whole: int = 0) -> list[BarPart]:
    """The amounts by their kinds, one beside the other. Without a whole, they fill the bar."""
    whole = max(whole, sum(amounts.values()), 1)
    found, at = [], 0.0
    for kind, amount in amounts.items():
        width = 100 * amount / whole
        if amount:
            found.append(BarPart(kind, round(at, 2), round(width, 2)))
        at += width
    return found


def months(
    values: Mapping[str, int], present: str, most: int, *, more: int = 0, is_money: bool = True
) -> list[Column]:
    """A column for each month from the first with a value up to the present one, at most so many.
    `more` may come on top of the present month."""
    first = max(min([*values, present]), _months_before(present, most - 1))
    names, month = [], first
    while month <= present:
        names.append(month)
        month = rules.next_month(month)
    tallest = max([*(values.get(name, 0) for name in names), values.get(present, 0) + more, 1])
    show = money.show if is_money else "{:,}".format
    return [
        Column(
            month=name,
            label=_label(name, is_first=name == first),
            value=show(values.get(name, 0)),
            height=_height(values.get(name, 0), tallest),
            more_height=_height(more, tallest) if name == present else 0,
            note=f"at most {show(values.get(name, 0) + more)}" if more and name == present else "",
        )
        for name in names
    ]


def _height(value: int, tallest: int) -> int:
    return max(LEAST_HEIGHT, round(HEIGHT * value / tallest)) if value else 0


def _label(month: str, *, is_first: bool) -> str:
    name = MONTHS[int(month[5:]) - 1][:3]
    return f"{name} {month[:4]}" if is_first or month.endswith("-01") else name


def _months_before(month: str, n: int) -> str:
    for _ in range(n):
        month = rules.previous_month(month)
    return month


def spark(values: Sequence[int]) -> str:
    """A small line as an SVG path, 92 wide and 26 high."""
    most = max(*values, 1)
    step = 92 / max(1, len(values) - 1)
    points = " ".join(f"{n * step:.1f} {24 - 22 * v / most:.1f}" for n, v in enumerate(values))
    return f"M{points}"


def sentence(columns: Iterable[Column]) -> str:
    """What the columns show, for who does not see them."""
    return ", ".join(
        f"{each.label} {each.value}{f' ({each.note})' if each.note else ''}" for each in columns
    )
