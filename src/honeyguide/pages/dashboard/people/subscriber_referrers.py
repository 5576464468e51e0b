"""Who referred the subscribers that came with an unknown code: the operator says it on a
subscriber's page, for all who came with the same code, or for those selected in the list.
"""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.kernel.errors import Invalid, Missing, Required
from honeyguide.pages import forms
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.dashboard.people import subscribers as listed
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.signups import claimed_codes
from honeyguide.store.reading import reads
from honeyguide.store.tx import Tx
from honeyguide.subscribers import search, subscribers

FORM = {"referrer": Field("Referrer", "Enter the referrer’s code or email address.")}
UNKNOWN_CODES = "/subscribers?referred_by=unknown"


async def change(services: PageServices, request: PageRequest) -> Response:
    """For one subscriber, or with `all` for everybody who came with the same code."""
    subscriber_id, others = request.at("id"), list[str]()
    _check(request)
    person = await services.store.read(
        reads(subscribers.get, request.services.site, request.tenant, request.now_ms), subscriber_id
    )
    if request.text("all") and person.claimed_code is not None:
        most = listed.MOST_AT_ONCE + 1
        others = await services.store.read(
            reads(search.of_unknown_code, request.services.site, request.tenant, request.now_ms),
            person.claimed_code,
            most=most,
        )
    # First the one whose page this is: the form shows what is wrong.
    await services.store.write(_change_one, request, subscriber_id)
    others = [each for each in others if each != subscriber_id]
    done, refusal = await _change_each(services, request, others)
    return request.go(f"/subscribers/{subscriber_id}", _outcome(request, done + 1, refusal))


async def change_selected(services: PageServices, request: PageRequest) -> Response:
    where, ids = listed.back(request, UNKNOWN_CODES), request.several("id")
    if not ids:
        return request.go(where, "Select at least one subscriber first.")
    try:
        _check(request)
    except Invalid as fault:
        return request.go(where, forms.errors_of(fault, FORM)["referrer"])
    done, refusal = await _change_each(services, request, ids)
    return request.go(where, _outcome(request, done, refusal))


def _check(request: PageRequest) -> None:
    if request.text("do") != "forget" and not request.text("referrer"):
        raise Required("referrer")


async def _change_each(
    services: PageServices, request: PageRequest, ids: list[str]
) -> tuple[int, str]:
    """How many were changed, and why the first of the others was not. Each has its own transaction,
    so that one refusal does not stop the rest."""
    done, refusal = 0, ""
    for subscriber_id in dict.fromkeys(ids[: listed.MOST_AT_ONCE]):
        try:
            await services.store.write(_change_one, request, subscriber_id)
            done += 1
        except (Invalid, Missing) as fault:
            refusal = refusal or fault.message_for(FORM["referrer"].label)
    return done, refusal


async def _change_one(tx: Tx, request: PageRequest, subscriber_id: str) -> None:
    if request.text("do") == "forget":
        await claimed_codes.forget(request.change(tx), subscriber_id)
        return
    await claimed_codes.set_referrer(request.change(tx), subscriber_id, request.text("referrer"))


def _outcome(request: PageRequest, done: int, refusal: str) -> str:
    people = formats.plural(done, "subscriber")
    result = f"Referrer set for {people}."
    if request.text("do") == "forget":
        result = f"Code removed from {people}."
    return f"{result if done or not refusal else 'Nothing changed.'} {refusal}".strip()
