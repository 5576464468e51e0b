"""Where a reader leaves the referral program, or joins it again. They stay subscribed to the
newsletter. The URL of their referral page is the key, as for everything on it.
"""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.pages.readers import hub
from honeyguide.pages.readers.page_route import ReaderRequest, ReaderView
from honeyguide.pages.readers.showing import see_other
from honeyguide.store.tx import Tx
from honeyguide.subscribers import hub_choices


async def show(tx: Tx, request: ReaderRequest) -> ReaderView | Response:
    """Asks once more. A GET changes nothing: mail scanners open every link."""
    visitor = await hub.find_visitor(tx, request)
    if visitor.choices.left_program_ms is not None:
        return see_other(hub.hub_url(request))
    return request.view(
        "leave.html",
        visitor.brand,
        private=True,
        hub=hub.hub_url(request),
        is_subscribed=visitor.person.status != "unsubscribed",
    )


async def leave(tx: Tx, request: ReaderRequest) -> Response:
    """With `?again=1` they join again."""
    visitor = await hub.find_visitor(tx, request)
    change, subscriber_id = hub.change_of(tx, request, visitor), visitor.person.id
    if request.query("again"):
        await hub_choices.join_program_again(change, subscriber_id)
    else:
        await hub_choices.leave_program(change, subscriber_id)
    return see_other(hub.hub_url(request))
