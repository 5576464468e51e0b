"""Where the hexagons and bars of a comparison stand: readers through a partner stand on a line, the
newsletter's own hang from it. Pure.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.screening.look_cohorts import Comparison

WIDTH, LINE_Y = 300.0, 72.0
MOST_ROWS = 7
DEEPEST = 34.0
"""Of a bar that is all of them."""
NARROW_FROM = 8
"""From so many columns on, names stand under every third."""


class DrawnColumn(NamedTuple):
    x: float
    """Of its middle."""
    label: str
    n: int
    top: float
    """Where the number of readers stands."""
    cells: list[tuple[float, float]]
    width: float
    depth: float
    percent: int
    is_named: bool


class Drawing(NamedTuple):
    columns: list[DrawnColumn]
    radius: float
    each: int
    """How many readers one hexagon is."""
    hexagon: str
    """The path around the middle of one."""


def draw(comparison: Comparison) -> Drawing:
    bars = comparison.bars
    is_narrow = len(bars) >= NARROW_FROM
    across, radius = (2, 4.4) if is_narrow else (3, 5.4)
    most = max((bar.n for bar in bars), default=0)
    each = max(1, -(-most // (across * MOST_ROWS)))
    step = WIDTH / len(bars)
    columns = []
    for number, bar in enumerate(bars):
        middle = step * (number + 0.5)
        cells = [_place(i, across, radius, middle) for i in range(-(-bar.n // each))]
        share = bar.others / comparison.others if comparison.others else 0
        columns.append(
            DrawnColumn(
                x=round(middle, 1),
                label=bar.label,
                n=bar.n,
                top=round(min((y for _, y in cells), default=LINE_Y) - radius - 4, 1),
                cells=cells,
                width=round(step * 0.62, 1),
                depth=round(max(share * DEEPEST, 1.5 if share else 0), 1),
                percent=bar.other_percent(comparison.others),
                is_named=not is_narrow or number % 3 == 0,
            )
        )
    return Drawing(columns, radius, each, _hexagon(radius))


def _place(i: int, across: int, radius: float, middle: float) -> tuple[float, float]:
    """Rows lie in the gaps of those below, as cells of a comb do."""
    row, place = divmod(i, across)
    wide = radius * 2.1
    shift = radius * 0.5 if row % 2 else -radius * 0.5
    x = middle + (place - (across - 1) / 2) * wide + shift
    return round(x, 1), round(LINE_Y - radius - 1.5 - row * radius * 1.9, 1)


def _hexagon(radius: float) -> str:
    half, side = round(radius * 0.866, 2), round(radius / 2, 2)
    return f"M0-{radius}l{half} {side}v{radius}l-{half} {side}-{half}-{side}v-{radius}z"
