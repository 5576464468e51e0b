"""What the integrations page asks when another tool has written to our fields, and the answer."""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.integrations import adoption, integrations
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.integrations import Integration
from honeyguide.kernel.errors import Invalid
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.store.tx import Tx


async def found(tx: Tx, integration: Integration) -> list[tuple[str, str]]:
    """How many values of what another tool wrote, and the field they are in."""
    if integration.adoption != integrations.ASKED:
        return []
    counts = await adoption.count(tx, integration)
    is_lower_case = integrations.platform_of(integration.platform).about.is_lower_case
    names = {
        field: name.lower() if is_lower_case else name
        for field, name in integration.field_names.items()
    }
    reward = names.get(SyncField.LAST_REWARD_ID) or names.get(SyncField.LAST_REWARD, "")
    kinds = (
        (counts.codes, "code", names.get(SyncField.CODE, "")),
        (counts.links, "link", names.get(SyncField.LINK, "")),
        (counts.referrals, "count", names.get(SyncField.REFERRALS, "")),
        (counts.rewards, "reward", reward),
        (counts.coupons, "coupon code", names.get(SyncField.COUPON, "")),
    )
    more = "more than " if counts.contacts >= integrations.MOST_COUNTED else ""
    shown = [
        (f"{more}{number:,} {noun}{'' if number == 1 else 's'}", name)
        for number, noun, name in kinds
        if number
    ]
    return shown or [("values", "")]


async def answer(request: PageRequest, answered: str) -> Response:
    try:
        await request.apply(adoption.answer, answered)
    except Invalid as error:  # in another window, or by another member
        return request.go("/integrations", error.message)
    if answered == integrations.ADOPT:
        message = "We are adopting what is there. Writing begins when that is done."
    else:
        message = "The first sync has begun. We write our own values."
    return request.go("/integrations", message)
