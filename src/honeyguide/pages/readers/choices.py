"""What a reader chooses on their referral page: who may see their name, to leave the program or to
join it again, and an end to every link to the page.

Nobody is named without their choice, and the operator decides first whether names are shown at all.
Who leaves stays subscribed to the newsletter.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from honeyguide.accounts import attempts
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Fault, TooMany
from honeyguide.languages.language import Language
from honeyguide.pages.readers import errors, hub, requested_emails
from honeyguide.pages.readers.page_route import ReaderRequest, ReaderView
from honeyguide.pages.readers.showing import see_other
from honeyguide.store.tx import Tx
from honeyguide.subscribers import hub_choices, reader_links


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


async def leave_form(tx: Tx, request: ReaderRequest) -> ReaderView | Response:
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


async def new_link_form(tx: Tx, request: ReaderRequest) -> ReaderView:
    """Asks once more. A GET changes nothing: mail scanners open every link."""
    visitor = await hub.find_visitor(tx, request)
    return request.view("new_link.html", visitor.brand, private=True, hub=hub.hub_url(request))


async def send_new_link(tx: Tx, request: ReaderRequest) -> ReaderView:
    """Ends every link. The new one goes to their mailbox: whoever opened the page with a link that
    was not theirs does not get it. If no email can be sent now, their links go on working."""
    visitor = await hub.find_visitor(tx, request)
    change = hub.change_of(tx, request, visitor)
    person = await reader_links.renew(change, visitor.person.id)
    if not await requested_emails.send_hub_link(change, visitor.brand, person, every_ms=0):
        raise TooMany(attempts.TOO_MANY, retry_after_s=DAY_MS // 1000)
    return request.view("new_link.html", visitor.brand, private=True, hub="")
