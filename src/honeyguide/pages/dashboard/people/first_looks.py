"""First looks: one card for each partner whose readers the owner has to look at, beside the
newsletter's own readers.
"""

from __future__ import annotations

from typing import NamedTuple

from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.pages.dashboard import undo
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.people import look_drawing
from honeyguide.pages.dashboard.people.look_drawing import Drawing
from honeyguide.partners import partner_names
from honeyguide.partners.partner_names import NamedPartner
from honeyguide.screening import trait_groups
from honeyguide.screening.look_cohorts import Comparison
from honeyguide.screening.shared_traits import TraitGroup
from honeyguide.signups import delayed_actions, delayed_kinds, first_looks
from honeyguide.signups.first_looks import FirstLook
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

PATH = "/review/looks"
REFUSE_PATH = f"{PATH}/refuse"
MOST_CARDS = 5
"""Drawn on one page; each compares thousands of readers."""


class DrawnLook(NamedTuple):
    look: FirstLook
    groups: list[TraitGroup]
    """What some of them share. The answer is about these too."""
    compared: list[tuple[Comparison, Drawing]]


async def show(at: Reading, request: PageRequest) -> PageView:
    asked, done = await first_looks.of_account(at)
    waiting = await delayed_actions.of_subjects(at, [each.id for each in asked])
    groups = await trait_groups.of_parts(at, [each.id for each in asked[:MOST_CARDS]])
    drawn = []
    for look in asked[:MOST_CARDS]:
        compared = await first_looks.compare(at, look)
        drawn.append(
            DrawnLook(look, groups[look.id], [(each, look_drawing.draw(each)) for each in compared])
        )
    names: dict[str, NamedPartner] = await partner_names.of(at, [each.id for each in asked + done])
    return request.view(
        "first_looks.html",
        cards=drawn,
        more=asked[MOST_CARDS:],
        done=done,
        partners=names,
        waiting=waiting,
        money=money.show,
        next_count=first_looks.NEXT,
        later_count=first_looks.LATER,
    )


async def answer(change: Change, request: PageRequest) -> Response:
    look_id = request.text("look")
    await first_looks.check_side(change, look_id)
    if request.text("do") == "later":
        await first_looks.postpone(change, look_id)
        return request.go(PATH, "We will ask you again in a week. Nobody else counts until then.")
    kind, seen = delayed_kinds.APPROVE_READERS, request.text("seen")
    return await undo.delay(change, request, kind, [look_id], PATH, seen=seen)


async def refuse(change: Change, request: PageRequest) -> Response:
    """It takes fees back, so it needs another right."""
    look_id = request.text("look")
    await first_looks.check_side(change, look_id)
    return await undo.delay(change, request, delayed_kinds.REFUSE_READERS, [look_id], PATH)
