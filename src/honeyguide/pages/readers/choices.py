"""Where a reader chooses, on their referral page, who may see their name. Nobody is named without
that, and the operator decides first whether names are shown at all.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from honeyguide.kernel.errors import Fault
from honeyguide.languages.language import Language
from honeyguide.pages.readers import errors, hub
from honeyguide.pages.readers.page_route import ReaderRequest, ReaderView
from honeyguide.pages.readers.showing import see_other
from honeyguide.store.tx import Tx
from honeyguide.subscribers import hub_choices


async def show(tx: Tx, request: ReaderRequest) -> ReaderView | Response:
    """Forms on the referral page are shown there again when they are refused."""
    if request.refusal is None:
        return see_other(hub.hub_url(request))
    return hub.hub_view(request, await hub.find_visitor(tx, request))


async def save(tx: Tx, request: ReaderRequest) -> Response:
    """A choice that the operator does not offer now is left as it is."""
    visitor = await hub.find_visitor(tx, request)
    request.check_form(f"choices {visitor.person.id}")
    campaign, chosen = visitor.brand.campaign, visitor.choices
    change = hub.change_of(tx, request, visitor)
    await hub_choices.save(
        change,
        visitor.person.id,
        shows_name=bool(
            request.fields.get("shows_name") if campaign.show_inviter else chosen.shows_name
        ),
        on_leaderboard=bool(
            request.fields.get("on_leaderboard")
            if campaign.show_leaderboard
            else chosen.on_leaderboard
        ),
    )
    await hub.record_use(tx, request, visitor)
    return see_other(f"{hub.hub_url(request)}?saved=1#your-name")


async def say_active(tx: Tx, request: ReaderRequest) -> Response:
    """What a program asks for whose rule wants a sign of life."""
    visitor = await hub.find_visitor(tx, request)
    request.check_form(f"active {visitor.person.id}")
    await hub.record_use(tx, request, visitor)
    return see_other(hub.hub_url(request))


def form_errors(language: Language, fault: Fault, given: Mapping[str, str]) -> dict[str, str]:
    return errors.by_field(language, fault, {})
