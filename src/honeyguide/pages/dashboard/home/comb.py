"""The Comb: who joined when, and through whom, as a honeycomb. Where each hexagon lies, and what is
said about it; the template draws it.

Time runs from left to right, a column is a day (or several), a hexagon is a person. People with the
same source touch. A source is whoever brought them: a subscriber, a partner, or nobody. If that
subscriber came through another source, their group is part of its group, so that pointing at one
person lights up everybody who came through them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.home import comb_parts
from honeyguide.pages.dashboard.home.comb_parts import (
    NOBODY,
    ROW,
    WIDTH,
    Cell,
    CellGroup,
    Comb,
    CombColumn,
    CombLabel,
    CombScale,
    CombSource,
    Joined,
    Mark,
    SourceLine,
    counts_of,
    in_words,
    short_name,
    span_in_words,
)

# The names in the list beside the picture; all others are one row.
NAMED = 6
# From so many people on, the keyboard stops at a source in the picture.
STOP_FROM = 3
# Waiting people of one source in one column that are worth a label, and how many labels there are.
LABEL_FROM, MOST_LABELS = 3, 3
# Up to so many people, each hexagon has the initials of who brought them.
MOST_INITIALS = 60
MOST_THREADS = 40
# With more people, the lines to those whom somebody brought would be half of the page's weight.
MOST_WITH_THREADS = 600
# Heights: the line that says who it is, a line of labels, a total, the dates.
TOP, LINE, OVER, UNDER = 22.0, 24.0, 18.0, 22.0
GAP = 3.0
MOST_DAYS, WEEK, FOUR_WEEKS = 92, 7, 28
MOST_DATES = 7
ORDER = "vpxn"


def days_in_column(days: int) -> int:
    """How many days one column has, in a range of so many."""
    if days <= MOST_DAYS:
        return 1
    return WEEK if days <= MOST_DAYS * WEEK else FOUR_WEEKS


def draw(
    people: list[Joined],
    sources: dict[str, CombSource],
    columns: list[CombColumn],
    *,
    ends_today: bool,
) -> Comb:
    drawing = _Drawing(people, sources, columns)
    scale = drawing.scale
    slant, high = _n(0.3 * scale.radius), _n(0.42 * scale.radius)
    return Comb(
        height=round(drawing.base + UNDER, 1),
        base=round(drawing.base, 1),
        hexagon=_hexagon(max(scale.radius - 0.7, 0.9 * scale.radius)),
        slash=f"M-{slant} {high}L{slant} -{high}",
        hint=_hint(scale, has_initials=drawing.has_initials),
        ghost=drawing.ghost(),
        axis=_axis(columns, drawing.base + 17, ends_today=ends_today),
        totals=drawing.total_marks(),
        flags=[
            round((place + 0.5) * drawing.width, 1)
            for place, column in enumerate(columns)
            if column.imported
        ],
        groups=[drawing.group(each) for each in drawing.inner[""]],
        labels=drawing.labels(),
        lines=drawing.lines(),
        people=scale.people,
    )


def ranked(people: Iterable[Joined], sources: dict[str, CombSource]) -> list[CombSource]:
    """Those that brought most people first. Several without names come after all that have one,
    and nobody is last."""
    counts: Counter[str] = Counter()
    for each in people:
        counts[each.source] += each.n
    last = {"several": 1, NOBODY: 2}
    return sorted(
        (sources[key] for key in counts),
        key=lambda each: (last.get(each.kind, 0), -counts[each.key], each.name, each.key),
    )


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _hexagon(radius: float, x: float | None = None, y: float = 0) -> str:
    """Lying on a side; around a point, or the place where it is used."""
    half, high, side = _n(radius / 2), _n(radius * ROW / 2), _n(radius)
    start = f"M-{side} 0" if x is None else f"M{_n(x - radius)} {_n(y)}"
    return f"{start}l{half}-{high}h{side}l{half} {high}-{half} {high}h-{side}z"


def _hint(scale: CombScale, *, has_initials: bool) -> str:
    if scale.people > 1:
        return f"One hexagon is {scale.people:,} people with the same source and status."
    if has_initials:
        return "Initials say who brought them. Point at one to see the rest."
    return "Point at a hexagon to see who brought whom."


def _axis(columns: list[CombColumn], y: float, *, ends_today: bool) -> list[Mark]:
    """Some dates: each if there are few, else Mondays, or every so many columns."""
    width, count = WIDTH / len(columns), len(columns)
    places = list(range(count))
    if count > MOST_DATES:
        is_daily = (columns[1].first - columns[0].first).days == 1
        mondays = [place for place in places if columns[place].first.weekday() == 0]
        found = mondays if is_daily else places
        places = found[:: -(-len(found) // MOST_DATES)]
    marks = [
        Mark(formats.date_in_words(columns[place].first).rpartition(" ")[0], x, y)
        for place in places
        if (x := round((place + 0.5) * width, 1)) >= 20
    ]
    if not ends_today:
        return [each for each in marks if each.x <= WIDTH - 20]
    last = WIDTH - width / 2
    today = Mark("Today", WIDTH, y, "end") if width < 50 else Mark("Today", last, y)
    return [*(each for each in marks if each.x < min(last, WIDTH - 60)), today]


class _Drawing:
    """One picture while it is laid out."""

    def __init__(
        self, people: list[Joined], sources: dict[str, CombSource], columns: list[CombColumn]
    ) -> None:
        self.people, self.sources, self.columns = people, sources, columns
        self.width = WIDTH / len(columns)
        self.of_source: dict[str, list[Joined]] = defaultdict(list)
        self.totals: Counter[int] = Counter()
        for each in people:
            self.of_source[each.source].append(each)
            self.totals[each.column] += each.n
        self.ranked = ranked(people, sources)
        self.named = self._named()
        self.slots = {each.key: f"s{place}" for place, each in enumerate(self.named)}
        self.parents = comb_parts.parents(self.ranked)
        self.inner = comb_parts.inner(self.ranked, self.parents)
        self.stacked = self._from_the_bottom()
        self.scale = comb_parts.fitting(len(columns), self._busiest)
        self.waiting = self._waiting()
        self.cells: dict[str, list[Cell]] = defaultdict(list)
        self.cell_of: dict[str, tuple[float, float]] = {}
        self.tops: dict[int, float] = {}
        in_columns = self._in_columns()
        self.base = TOP + LINE * len(self.waiting) + OVER + self._tallest(in_columns) + GAP
        for column, found in in_columns.items():
            for place, each in enumerate(found):
                self._lay(column, place, each)

    def _named(self) -> list[CombSource]:
        """Somebody who brought one person is named only where everybody is."""
        found = [each for each in self.ranked if each.kind != NOBODY]
        if len(found) > NAMED:
            found = [each for each in found if len(self.of_source[each.key]) > 1]
        return found[:NAMED]

    @property
    def has_initials(self) -> bool:
        few = 0 < sum(self.totals.values()) <= MOST_INITIALS
        return few and self.scale.people == 1 and self.scale.radius > 11

    # -- where everybody lies

    def _from_the_bottom(self) -> list[Joined]:
        """Everybody in the order in which they lie in their column."""
        order = {key: place for place, key in enumerate(comb_parts.order(self.inner))}
        return sorted(
            self.people,
            key=lambda one: (one.column, order[one.source], ORDER.index(one.status), one.waits),
        )

    def _hexagons(self, people: int) -> Iterator[tuple[Joined, int]]:
        """How many hexagons each makes. If one stands for several people, what is left over is
        carried to the next column, so that the sum is right."""
        so_far: Counter[tuple[str, str, bool]] = Counter()
        for each in self.stacked:
            kind = each.source, each.status, each.waits
            had = (so_far[kind] + people // 2) // people
            so_far[kind] += each.n
            yield each, (so_far[kind] + people // 2) // people - had

    def _in_columns(self) -> dict[int, list[Joined]]:
        found: dict[int, list[Joined]] = defaultdict(list)
        for each, n in self._hexagons(self.scale.people):
            found[each.column] += [each] * n
        return found

    def _busiest(self, people: int) -> int:
        found: Counter[int] = Counter()
        for each, n in self._hexagons(people):
            found[each.column] += n
        return max(found.values(), default=0)

    def _tallest(self, in_columns: dict[int, list[Joined]]) -> float:
        cells = max((len(each) for each in in_columns.values()), default=0)
        before = max(each.before or 0 for each in self.columns)
        ghost = min(comb_parts.TALLEST, self._height_of(before))
        return max(self.scale.height(cells) + self.scale.row / 2, ghost)

    def _height_of(self, people: int) -> float:
        return people / self.scale.people / self.scale.across * self.scale.row

    def _lay(self, column: int, place: int, each: Joined) -> None:
        scale = self.scale
        beside, above = place % scale.across, place // scale.across
        middle = (column + 0.5) * self.width
        x = round(middle + (beside - (scale.across - 1) / 2) * 1.5 * scale.radius, 1)
        is_raised = (column * scale.across + beside) % 2
        y = round(self.base - GAP - scale.row * (above + 0.5 + is_raised / 2), 1)
        self.cells[each.source].append(Cell(each.status, x, y, each.is_new, each.waits))
        self.tops[column] = min(y, self.tops.get(column, y))
        if each.id and scale.people == 1:
            self.cell_of[each.id] = x, y

    # -- what is drawn

    def group(self, source: CombSource) -> CellGroup:
        cells = self.cells[source.key]
        is_one = source.kind in ("subscriber", "partner")
        slot = "none" if source.kind == NOBODY else self.slots.get(source.key, "rest")
        radius = self.scale.radius + 1.6
        return CellGroup(
            slot=slot,
            path=source.path,
            text=self._describe(source, short_name(source.name)),
            label=self._describe(source, source.name),
            cells=cells,
            halo="".join(_hexagon(radius, each.x, each.y) for each in cells if each.waits),
            threads=self._threads(source, cells),
            initials=formats.initials(source.name)[:2] if self.has_initials and is_one else "",
            is_stop=len(self.of_source[source.key]) >= STOP_FROM,
            inner=[self.group(each) for each in self.inner[source.key]],
        )

    def _describe(self, source: CombSource, name: str) -> str:
        """`Mateo Torres: 13 joined, 10 verified, 3 pending. One of them, Selma, brought 2 more`"""
        those = self.of_source[source.key]
        n = sum(each.n for each in those)
        if source.kind == NOBODY:
            return f"{name}: {n:,} joined by themselves"
        text = f"{name}: {n:,} joined, {in_words(counts_of(those))}"
        inner = self.inner[source.key]
        more = sum(each.n for one in inner for each in self.of_source[one.key])
        if len(inner) == 1:
            text += f". One of them, {short_name(inner[0].name)}, brought {more:,} more"
        elif inner:
            text += f". {len(inner):,} of them brought {more:,} more"
        elif parent := self.parents[source.key]:
            text += f". Came through {short_name(self.sources[parent].name)}"
        return text

    def _threads(self, source: CombSource, cells: list[Cell]) -> str:
        """Lines from the cell of this subscriber to those they brought."""
        start = self.cell_of.get(source.key)
        if start is None or len(self.people) > MOST_WITH_THREADS:
            return ""
        x, y = start
        return "".join(
            f"M{_n(x)} {_n(y)}Q{_n((x + each.x) / 2)} {_n(min(y, each.y) - 36)} "
            f"{_n(each.x)} {_n(each.y)}"
            for each in cells[:MOST_THREADS]
        )

    def ghost(self) -> str:
        """The earlier range on the same scale."""
        if not any(each.before for each in self.columns):
            return ""
        path = ""
        for place, column in enumerate(self.columns):
            high = min(comb_parts.TALLEST, self._height_of(column.before or 0))
            y = _n(self.base - high)
            path += f"{'V' if place else 'M0 '}{y}H{_n((place + 1) * self.width)}"
        return path

    def total_marks(self) -> list[Mark]:
        """A number on each column, where there is room for it."""
        longest = len(f"{max(self.totals.values(), default=0):,}")
        if self.width < 7 * longest:
            return []
        return [
            Mark(f"{n:,}", round((column + 0.5) * self.width, 1), self._over(column))
            for column, n in sorted(self.totals.items())
        ]

    def _over(self, column: int) -> float:
        top = self.tops.get(column, self.base - GAP)
        return round(top - self.scale.row / 2 - 4, 1)

    def _waiting(self) -> list[tuple[int, str, str]]:
        """Column, source and words of the largest groups that wait for a decision."""
        groups: dict[tuple[int, str], list[Joined]] = defaultdict(list)
        for each in self.people:
            if each.waits and each.id:
                groups[each.column, each.source].append(each)
        found = [(key, each) for key, each in groups.items() if len(each) >= LABEL_FROM]
        found.sort(key=lambda one: (-len(one[1]), one[0]))
        return [
            (column, source, self._burst(source, those))
            for (column, source), those in found[:MOST_LABELS]
        ]

    def _burst(self, source: str, those: list[Joined]) -> str:
        """`Coupon Crumbs: 12 in 21 minutes`"""
        times = [each.joined_ms for each in those]
        span = span_in_words(max(times) - min(times))
        return f"{short_name(self.sources[source].name)}: {len(those):,} in {span}"

    def labels(self) -> list[CombLabel]:
        """One line each. The words are on the side with more room, and lower lines are nearer to
        that side, so that no line to a column goes through the words of another."""
        found = [((column + 0.5) * self.width, column, text) for column, _, text in self.waiting]
        left = sorted((each for each in found if each[0] < WIDTH / 2), reverse=True)
        right = sorted(each for each in found if each[0] >= WIDTH / 2)
        labels = []
        for place, (x, column, text) in enumerate([*left, *right]):
            y = TOP + LINE * (len(found) - place) - 6
            anchor, shift = ("start", -4) if x < WIDTH / 2 else ("end", 4)
            lead = f"M{_n(x)} {_n(self._over(column) - 12)}V{_n(y + 6)}"
            labels.append(CombLabel(text, round(x + shift, 1), y, anchor, lead))
        return labels

    # -- the list beside it

    def lines(self) -> list[SourceLine]:
        """Those with a name, all others by kind, and nobody."""
        rest: dict[str, list[CombSource]] = defaultdict(list)
        for each in self.ranked:
            if each.key not in self.slots:
                rest[each.kind].append(each)
        rows = [
            (self.slots[each.key], each.kind, each.name, each.path, [each]) for each in self.named
        ]
        for kind, word in (("partner", "other partner"), ("subscriber", "other subscriber")):
            if those := rest[kind]:
                rows.append(("rest", kind + "s", formats.plural(len(those), word), "", those))
        rows += [("rest", "several", each.name, each.path, [each]) for each in rest["several"]]
        rows += [("none", NOBODY, each.name, each.path, [each]) for each in rest[NOBODY]]
        counted = [
            (row, counts_of(one for each in row[4] for one in self.of_source[each.key]))
            for row in rows
        ]
        most = max((counts.total() for _, counts in counted), default=1)
        return [
            SourceLine(
                slot=slot,
                kind=kind,
                name=name,
                path=path,
                logo=of[0].logo if slot != "rest" else "",
                n=counts.total(),
                counts=counts,
                share=round(100 * counts.total() / most, 1),
            )
            for (slot, kind, name, path, of), counts in counted
        ]
