"""What a form of ours shows about who sent it: the shape of the request, and whether the link of
the code was followed before. Each is evidence, never a decision.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.screening.signals import Signal, SignalFinding
from honeyguide.store.change import Change
from honeyguide.subscribers import clicks


class Visit(NamedTuple):
    request: SignalFinding | None
    visitors: tuple[str, ...]
    """Hashes of who sent the form, as clicks have them."""
    was_shown_form: bool | None
    """Whether the form was shown to the same visitor. None if it came without an unused token."""
    is_on_link: bool
    """Whether the form is what the link leads to, so that to see it is to follow the link."""


class ClickedLink(NamedTuple):
    """Which clicks belong to a link."""

    target_id: str
    code: str


def lacks_form(visit: Visit | None) -> bool:
    """Whether a program may have sent it that never asked for a form."""
    return visit is not None and visit.was_shown_form is None


async def find_evidence(change: Change, visit: Visit, link: ClickedLink) -> list[SignalFinding]:
    of_form = await _find_about_form(change, visit, link)
    return [each for each in (visit.request, of_form) if each is not None]


async def _find_about_form(change: Change, visit: Visit, link: ClickedLink) -> SignalFinding | None:
    """At most one point, so that a single request is never suspicious."""
    if visit.was_shown_form is None:
        return Signal.NO_FORM.found("no unused token")
    if visit.was_shown_form is False:
        return Signal.NO_CLICK.found("the form was shown to somebody else")
    if visit.is_on_link:
        return None
    has_clicked = await clicks.has_clicked(
        change, link.target_id, link.code, visitors=visit.visitors
    )
    return None if has_clicked else Signal.NO_CLICK.found("not from this browser within a day")
