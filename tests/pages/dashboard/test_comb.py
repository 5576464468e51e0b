"""The Comb's layout, without a database: how large the hexagons are, who touches whom, what is
nested in what, and what is said."""

import itertools
from datetime import date, timedelta

import pytest

from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.pages.dashboard.home import comb, comb_parts
from honeyguide.pages.dashboard.home.comb_parts import (
    NOBODY,
    CellGroup,
    Comb,
    CombColumn,
    CombSource,
    Joined,
)

ALONE = CombSource(NOBODY, "Not referred", NOBODY, "/subscribers")


def columns(count: int, step: int = 1, before: int | None = None) -> list[CombColumn]:
    first = date(2026, 10, 17)
    return [CombColumn(first + timedelta(days=step * n), before) for n in range(count)]


def person(key: str, name: str = "", parent: str = "") -> CombSource:
    return CombSource(key, name or key.title(), "subscriber", f"/subscribers/{key}", parent)


def draw(
    people: list[Joined], *sources: CombSource, days: int = 30, before: int | None = None
) -> Comb:
    found = {each.key: each for each in (*sources, ALONE)}
    return comb.draw(people, found, columns(days, before=before), ends_today=True)


def flat(groups: list[CellGroup]) -> list[CellGroup]:
    return [one for each in groups for one in (each, *flat(each.inner))]


@pytest.mark.parametrize(
    ("days", "busiest", "people", "across"),
    [
        (30, 0, 1, 1),
        (30, 14, 1, 1),
        (30, 15, 1, 1),
        (30, 27, 1, 1),
        (30, 28, 1, 2),
        (30, 60, 1, 2),
        (30, 84, 1, 3),
        (30, 120, 1, 3),
        (30, 200, 5, 2),
        (30, 2_000, 20, 3),
        (7, 14, 1, 1),
        (7, 50, 1, 4),
        (90, 41, 1, 1),
        (90, 60, 5, 1),
        (53, 1_000_000, 20_000, 2),
    ],
)
def test_hexagons_are_as_large_as_the_busiest_column_allows(
    days: int, busiest: int, people: int, across: int
) -> None:
    scale = comb_parts.fitting(days, lambda each: -(-busiest // each))
    assert (scale.people, scale.across) == (people, across)
    assert comb_parts.SMALLEST_RADIUS <= scale.radius <= comb_parts.LARGEST_RADIUS
    # To a thousandth, because radii are rounded to what a float holds.
    assert round(scale.height(-(-busiest // people)), 3) <= comb_parts.TALLEST


@pytest.mark.parametrize(("days", "step"), [(1, 1), (92, 1), (93, 7), (365, 7), (1_830, 28)])
def test_a_column_is_a_day_a_week_or_four(days: int, step: int) -> None:
    assert comb.days_in_column(days) == step


def test_people_with_the_same_source_touch() -> None:
    people = [Joined(3, source, "v") for source in ("ann", "ben", "ann", NOBODY, "ben", "ann")]
    drawn = draw(people, person("ann"), person("ben"))
    heights = {each.text.split(":")[0]: [cell.y for cell in each.cells] for each in drawn.groups}
    assert list(heights) == ["Ann", "Ben", "Not referred"], "whoever brought most is at the bottom"
    stacked = [*heights["Ann"], *heights["Ben"], *heights["Not referred"]]
    steps = {round(low - high, 1) for low, high in itertools.pairwise(stacked)}
    assert len(stacked) == 6 and steps == {21.3}, "one above the other, without a gap"


def test_neighbors_interlock_and_nobody_lies_on_another() -> None:
    people = [Joined(day, NOBODY, "n") for day in range(30) for _ in range(day % 7 * 3)]
    drawn = draw(people)
    cells = drawn.groups[0].cells
    assert len(cells) == len(people) == len({(each.x, each.y) for each in cells})
    assert all(0 < each.x < 600 and 0 < each.y < drawn.base for each in cells)
    assert drawn.base < drawn.height < 420


def test_a_friends_friends_are_part_of_the_group() -> None:
    people = [
        Joined(1, "mateo", "v", id="selma"),
        Joined(1, "mateo", "p"),
        Joined(5, "selma", "v"),
        Joined(6, "selma", "v"),
    ]
    mateo, selma = person("mateo", "Mateo Torres"), person("selma", "Selma Costa", "mateo")
    (group,) = draw(people, mateo, selma).groups
    assert group.text == (
        "Mateo Torres: 2 joined, 1 verified, 1 pending. One of them, Selma Costa, brought 2 more"
    )
    (inner,) = group.inner
    assert inner.text == "Selma Costa: 2 joined, 2 verified. Came through Mateo Torres"
    assert inner.threads.count("Q") == 2 and not group.threads, "Mateo did not join in this range"
    start = group.cells[0]
    assert inner.threads.startswith(f"M{start.x:g} {start.y:g}Q")


def test_a_large_picture_does_without_the_lines() -> None:
    found = {}
    for count in (comb.MOST_WITH_THREADS, comb.MOST_WITH_THREADS + 1):
        people = [Joined(0, "mateo", "v", id="selma")]
        people += [Joined(n % 30, "selma", "v") for n in range(count - 1)]
        drawn = draw(people, person("mateo"), person("selma", parent="mateo"))
        found[count] = bool(flat(drawn.groups)[1].threads or flat(drawn.groups)[0].threads)
    assert list(found.values()) == [True, False]


def test_a_loop_is_cut_open_and_a_long_chain_goes_on_by_itself() -> None:
    loop = [person("a", parent="c"), person("b", parent="a"), person("c", parent="b")]
    found = comb_parts.parents(loop)
    assert sorted(found.values()) != ["a", "b", "c"] and "" in found.values()
    assert sorted(comb_parts.order(comb_parts.inner(loop, found))) == ["a", "b", "c"]
    assert comb_parts.parents([person("a", parent="a")]) == {"a": ""}
    chain = [person(str(n), parent=str(n - 1) if n else "") for n in range(2_000)]
    for those in (chain, chain[::-1]):
        groups = comb_parts.inner(those, comb_parts.parents(those))
        assert len(comb_parts.order(groups)) == 2_000
        assert 2_000 / (comb_parts.MOST_DEPTH + 1) <= len(groups[""]) < 300
    people = [Joined(n % 30, str(n), "v") for n in range(1_500)]
    assert len(flat(draw(people, *chain).groups)) == 1_500


def test_one_hexagon_for_several_people_keeps_the_sum() -> None:
    people = [Joined(day, "partners", "v", n=807) for day in range(30)]
    drawn = draw(people, CombSource("partners", "Partners", "several", "/x"))
    assert drawn.people == 10
    assert len(drawn.groups[0].cells) == round(30 * 807 / 10)
    assert drawn.hint == "One hexagon is 10 people with the same source and status."
    assert drawn.lines[0].n == 30 * 807


def test_what_waits_for_a_decision_has_a_ring_and_a_label() -> None:
    burst = [
        Joined(26, "crumb", "p", waits=True, id=f"c{n}", joined_ms=n * 2 * MINUTE_MS)
        for n in range(12)
    ]
    two = [Joined(4, "dana", "p", waits=True, id=f"d{n}") for n in range(2)]
    drawn = draw([*burst, *two], person("crumb", "Coupon Crumbs"), person("dana"))
    assert [each.text for each in drawn.labels] == ["Coupon Crumbs: 12 in 22 minutes"]
    assert [each.halo.count("z") for each in drawn.groups] == [12, 2]
    assert drawn.labels[0].anchor == "end" and drawn.labels[0].x <= 600


def test_no_line_to_a_column_goes_through_the_words_of_another_label() -> None:
    people = [
        Joined(day, f"s{day}", "p", waits=True, id=f"{day}.{n}")
        for day in (2, 9, 25)
        for n in range(3)
    ]
    drawn = draw(people, *(person(f"s{day}") for day in (2, 9, 25)))
    left = [each for each in drawn.labels if each.anchor == "start"]
    assert len({each.y for each in drawn.labels}) == 3
    assert [each.x for each in left] == sorted((each.x for each in left), reverse=True)
    assert [each.y for each in left] == sorted((each.y for each in left), reverse=True)
    tops = [float(each.lead.split("V")[1]) for each in drawn.labels]
    assert all(top < drawn.base for top in tops)


def test_the_list_has_six_names_the_others_together_and_nobody() -> None:
    people = [Joined(0, f"p{n}", "v") for n in range(9) for _ in range(10 - n)]
    people += [Joined(1, NOBODY, "n"), Joined(2, "p0", "x")]
    drawn = draw(people, *(person(f"p{n}", f"Person {n}") for n in range(9)))
    assert [(each.slot, each.name, each.n) for each in drawn.lines] == [
        *((f"s{n}", f"Person {n}", 11 if n == 0 else 10 - n) for n in range(6)),
        ("rest", "3 other subscribers", 4 + 3 + 2),
        ("none", "Not referred", 1),
    ]
    assert drawn.lines[0].counts == {"v": 10, "x": 1} and drawn.lines[0].share == 100
    slots = {each.text.split(":")[0]: each.slot for each in drawn.groups}
    assert slots["Person 5"] == "s5" and slots["Person 8"] == "rest"


def test_few_people_have_the_initials_of_who_brought_them() -> None:
    few = draw([Joined(0, "ida", "v"), Joined(1, NOBODY, "n")], person("ida", "Ida Holm"))
    assert [each.initials for each in few.groups] == ["IH", ""]
    assert few.hint.startswith("Initials say who brought them.")
    many = draw([Joined(n % 30, "ida", "v") for n in range(61)], person("ida", "Ida Holm"))
    assert [each.initials for each in many.groups] == [""]


def test_the_keyboard_stops_only_at_sources_of_three_and_more() -> None:
    people = [Joined(0, "two", "v")] * 2 + [Joined(1, "three", "v")] * 3
    found = {
        each.slot: each.is_stop for each in draw(people, person("two"), person("three")).groups
    }
    assert found == {"s0": True, "s1": False}


def test_the_earlier_range_is_on_the_same_scale_and_never_leaves_the_picture() -> None:
    drawn = draw([Joined(0, NOBODY, "n")] * 4, before=4)
    top = min(each.y for each in drawn.groups[0].cells) - 21.3 / 2
    assert abs(float(drawn.ghost.split("H")[0].removeprefix("M0 ")) - top) <= 4
    huge = draw([Joined(0, NOBODY, "n")], before=10_000)
    assert float(huge.ghost.split("H")[0].removeprefix("M0 ")) > 0
    assert draw([Joined(0, NOBODY, "n")]).ghost == ""


@pytest.mark.parametrize(
    ("days", "step", "expected"),
    [
        (30, 1, ["19 Oct", "26 Oct", "2 Nov", "9 Nov", "Today"]),
        (3, 1, ["17 Oct", "18 Oct", "Today"]),
        (1, 1, ["Today"]),
        (53, 7, ["12 Dec", "6 Feb", "3 Apr", "29 May", "24 Jul", "Today"]),
    ],
)
def test_the_axis_has_a_few_dates(days: int, step: int, expected: list[str]) -> None:
    drawn = comb.draw([], {}, columns(days, step), ends_today=True)
    found = [each.text for each in drawn.axis]
    assert len(found) <= comb.MOST_DATES + 1
    assert found == expected
    places = [each.x for each in drawn.axis]
    assert all(late - early >= 40 for early, late in itertools.pairwise(places))


def test_long_and_right_to_left_names_stay_in_their_place() -> None:
    name = "Wolfeschlegelsteinhausenbergerdorff the Younger of Bremen"
    (group,) = draw([Joined(0, "w", "v")], person("w", name)).groups
    assert group.text.startswith("Wolfeschlegelsteinhausenber…: 1 joined")
    assert group.label.startswith(f"{name}: 1 joined")
    (group,) = draw([Joined(0, "l", "v")], person("l", "ليلى")).groups
    assert group.text.startswith("\u2068ليلى\u2069: 1 joined")
