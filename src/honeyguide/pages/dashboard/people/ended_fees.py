"""Fees that wait for the owner, because a member of the team unsubscribed, blocked or erased the
reader before the fee was decided: one card for each partner.
"""

from __future__ import annotations

from itertools import groupby

from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.kernel.errors import Required
from honeyguide.pages.dashboard import undo
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.partners import partner_names, reversal_reasons
from honeyguide.partners.reversal_reasons import ReversalReason
from honeyguide.signups import delayed_actions, delayed_kinds, departures, first_looks
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading

PATH = "/review/ended"
FORM = {
    "reason": Field("Reason", "Choose a reason."),
    "text": Field("Note", "Say why."),
}


async def show(at: Reading, request: PageRequest) -> PageView:
    fees = await departures.ended(at)
    cards = [list(each) for _, each in groupby(fees, key=lambda fee: fee.partner_campaign_id)]
    return request.view(
        "ended_fees.html",
        cards=cards,
        partners=await partner_names.of(at, [each[0].partner_campaign_id for each in cards]),
        waiting=await delayed_actions.of_subjects(at, [each.subscriber_id for each in fees]),
        reasons=[("", "Choose a reason")] + [(each.value, each.label) for each in ReversalReason],
        typed=dict(request.fields),
        entered=set(request.several("id")),
        money=money.show,
    )


async def decide(change: Change, request: PageRequest) -> Response:
    chosen = set(request.several("id"))
    fees = [each for each in await departures.ended(change) if each.subscriber_id in chosen]
    if not fees:
        return request.go(PATH, "Select at least one subscriber first.")
    ids = [each.subscriber_id for each in fees]
    await first_looks.check_sides(change, ids)
    if request.text("do") == "pay":
        return await undo.delay(change, request, delayed_kinds.VERIFY, ids, PATH)
    if not request.text("reason"):
        raise Required("reason")
    why = reversal_reasons.parse(request.text("reason"), request.text("text"))
    note = reversal_reasons.describe(why.reason, why.note)
    return await undo.delay(change, request, delayed_kinds.REJECT, ids, PATH, note=note)
