"""The places in a reader's own comb: one cell for each friend, from the inside out."""

import re
from math import hypot

import pytest

from honeyguide.pages.readers import own_comb
from honeyguide.pages.readers.own_comb import MOST_CELLS, MOST_FRIENDS, CombPlace, OwnComb, draw


def cells(path: str) -> list[CombPlace]:
    """The middles of the hexagons in the data of a path."""
    return [CombPlace(float(x) + 23.5, float(y)) for x, y in re.findall(r"M(\S+) ([^l]+)l", path)]


def taken(comb: OwnComb) -> list[CombPlace]:
    """Everybody who is drawn, with the friend on the goal and the newest one."""
    marked = [comb.goal] if comb.goal and comb.is_goal_pending else []
    return [
        *cells(comb.verified),
        *([comb.newest] if comb.newest else []),
        *cells(comb.pending),
        *marked,
    ]


def distance(place: CombPlace) -> float:
    return hypot(*place)


@pytest.mark.parametrize(
    ("friends", "pending", "left", "drawn"),
    [
        (0, 0, None, (0, 0)),
        (0, 0, 3, (0, 0)),
        (9, 1, 1, (9, 1)),
        (10, 0, 15, (10, 0)),
        (36, 0, 4, (36, 0)),
        (48, 0, 2, (36, 0)),
        (30, 20, 5, (24, 12)),
        (2, 90, 1, (2, 34)),
        (-3, 0, 6, (0, 0)),
    ],
)
def test_each_friend_is_a_cell_of_its_own(
    friends: int, pending: int, left: int | None, drawn: tuple[int, int]
) -> None:
    comb = draw(friends, pending, left)
    shown = taken(comb)
    assert (len(cells(comb.verified)), len(shown) - len(cells(comb.verified))) == drawn
    assert comb.more == max(0, friends) + pending - sum(drawn)
    every = [own_comb.MIDDLE, *shown, *cells(comb.room)]
    if comb.goal and not comb.is_goal_pending:
        every.append(comb.goal)
    assert len(set(every)) == len(every) <= MOST_CELLS + 1
    assert len(shown) <= MOST_FRIENDS


def test_cells_touch_but_do_not_overlap() -> None:
    places = cells(draw(36, 0, 20).verified)
    nearest = [
        min(hypot(one.x - other.x, one.y - other.y) for other in places if other != one)
        for one in places
    ]
    assert {round(each) for each in nearest} == {43}


def test_it_fills_from_the_inside() -> None:
    comb = draw(7, 2, 5)
    assert max(map(distance, cells(comb.verified)[:6])) < min(
        map(distance, cells(comb.verified)[6:])
    )
    assert max(map(distance, cells(comb.verified))) <= min(map(distance, cells(comb.room))) + 50


def test_the_friend_who_earns_the_next_reward_is_marked() -> None:
    ahead = draw(9, 0, 3)
    assert ahead.goal == cells(draw(12, 0, None).verified)[11]
    assert not ahead.is_goal_pending
    assert ahead.goal not in cells(ahead.room)
    waiting = draw(9, 1, 1)
    assert waiting.goal == cells(draw(10, 0, None).verified)[9]
    assert waiting.is_goal_pending and waiting.goal not in cells(waiting.pending)
    assert draw(2, 0, 500).goal is None, "too far away for the picture"


def test_the_newest_friend_is_apart_only_in_a_moment_of_joy() -> None:
    comb = draw(10, 0, 2, is_joy=True)
    assert comb.newest == cells(draw(10, 0, 2).verified)[9]
    assert len(cells(comb.verified)) == 9 and comb.burst.count("z") > 6
    calm = draw(10, 0, 2)
    assert (calm.newest, calm.burst) == (None, "")
    assert draw(0, 0, 2, is_joy=True).newest is None, "a reward that adjustments alone earned"


@pytest.mark.parametrize("friends", [0, 1, 6, 7, 18, 19, 36, 400])
@pytest.mark.parametrize("is_joy", [True, False])
def test_nothing_is_cut_off(friends: int, is_joy: bool) -> None:
    comb = draw(friends, 3, 4, is_joy=is_joy)
    x, y, width, height = map(float, comb.view_box.split())
    for place in (own_comb.MIDDLE, *taken(comb), *cells(comb.room)):
        assert x <= place.x - 23.5 and place.x + 23.5 <= x + width
        assert y <= place.y - 20.4 and place.y + 20.4 <= y + height
    for left, top in re.findall(r"M(\S+) ([^l]+)l", comb.burst):
        assert x <= float(left) and float(left) + 12.4 <= x + width
        assert y + 5 <= float(top) <= y + height - 5
    assert comb.width <= 340
