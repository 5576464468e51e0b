"""Where a reader corrects the postal address of a reward, until it is sent."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from honeyguide.kernel.errors import Fault
from honeyguide.languages import countries
from honeyguide.languages.language import Language, translatable
from honeyguide.pages.readers import errors, hub, postal_address
from honeyguide.pages.readers.page_route import ReaderRequest, ReaderView
from honeyguide.pages.readers.showing import see_other
from honeyguide.rewards import reward_events, shipments
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.store.tx import Tx

SENT = translatable("This reward was sent already, so its address can’t be changed any more.")


async def show(tx: Tx, request: ReaderRequest) -> ReaderView | Response:
    visitor = await hub.find_visitor(tx, request)
    earned = hub.pick(visitor, request.at("earned_id"))
    if earned.state == shipments.TO_SEND:
        return hub.address_form("address.html", request, visitor, earned, _given(earned))
    # It was sent in the meantime: the referral page says so.
    if request.refusal:
        return hub.hub_view(request, visitor)
    return see_other(f"{hub.hub_url(request)}#won-{earned.id}")


def _given(earned: EarnedReward) -> dict[str, str]:
    address = shipments.read_address(earned.shipping)
    assert address is not None, "what is to send has an address"
    values = {field: getattr(address, field) or "" for field in postal_address.FIELDS}
    return values | {
        "country": countries.code_of(address.country),
        "variant": earned.variant or "",
    }


async def save(tx: Tx, request: ReaderRequest) -> Response:
    visitor = await hub.find_visitor(tx, request)
    earned = hub.pick(visitor, request.at("earned_id"))
    request.check_form(f"claim {visitor.person.id}")
    address, variant = postal_address.parse(
        visitor.brand.language, request.fields, hub.variants_of(earned)
    )
    change = hub.change_of(tx, request, visitor)
    await shipments.correct_address(change, earned.id, visitor.person.id, address, variant)
    await reward_events.notify_address_corrected(change, earned.id, earned.name)
    return see_other(f"{hub.hub_url(request)}?corrected={earned.id}#won-{earned.id}")


def form_errors(language: Language, fault: Fault, given: Mapping[str, str]) -> dict[str, str]:
    if fault.code == shipments.ALREADY_SENT:
        return {"": language.gettext(SENT)}
    return errors.by_field(language, fault, postal_address.FIELDS)
